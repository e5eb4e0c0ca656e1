-- +goose Up

-- analyze_grown_tables analyzes the library's tables that have doubled since they were analyzed last, and returns how
-- many. Autovacuum does so once a minute: too late for a first import, whose statements were planned for empty tables.
-- +goose StatementBegin
DO $$
BEGIN
  EXECUTE format($define$
    CREATE FUNCTION analyze_grown_tables() RETURNS int
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
      DECLARE
        grown regclass;
        analyzed int := 0;
      BEGIN
        FOR grown IN
          SELECT s.relid FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid JOIN pg_roles r ON r.oid = c.relowner
          WHERE s.schemaname = %1$L AND c.relkind = 'r' AND r.rolname = current_user AND s.n_mod_since_analyze > 200 + greatest(c.reltuples, 0)
        LOOP
          EXECUTE format('ANALYZE (SKIP_LOCKED) %%s', grown);
          analyzed := analyzed + 1;
        END LOOP;
        RETURN analyzed;
      END $body$ $define$, current_schema());
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION analyze_grown_tables() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION analyze_grown_tables() TO vitrine_indexer;

-- +goose Down
DROP FUNCTION analyze_grown_tables();
