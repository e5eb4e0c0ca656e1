-- +goose Up

-- tenant_table keeps the rows of a table with a tenant_id apart by tenant: vitrine_app
-- gets the given rights on the rows of the transaction's tenant, vitrine_indexer reads
-- the rows of every tenant. Migrations call it for each table that they make:
--   SELECT tenant_table('prompts');
--   SELECT tenant_table('votes', 'SELECT, INSERT');
-- +goose StatementBegin
CREATE FUNCTION tenant_table(name regclass, rights text DEFAULT 'SELECT, INSERT, UPDATE, DELETE') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = name AND attname = 'tenant_id' AND attnotnull AND atttypid = 'uuid'::regtype) THEN
    RAISE EXCEPTION 'table % has no column tenant_id uuid NOT NULL', name;
  END IF;
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', name);
  EXECUTE format('CREATE POLICY tenant ON %s TO vitrine_app
    USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', name);
  EXECUTE format('CREATE POLICY every_tenant ON %s FOR SELECT TO vitrine_indexer USING (true)', name);
  EXECUTE format('GRANT %s ON %s TO vitrine_app', rights, name);
  EXECUTE format('GRANT SELECT ON %s TO vitrine_indexer', name);
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION tenant_table(regclass, text) FROM PUBLIC;

-- +goose Down
DROP FUNCTION tenant_table(regclass, text);
