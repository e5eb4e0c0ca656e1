-- +goose Up

-- The audit trail by month, so that what a library need not keep any longer goes without
-- deleting rows one by one. Rows from before are one partition, up to the end of the month
-- in which this migration runs. What has no month yet goes to audit_default. Rows are read
-- and written through audit alone, whose policies keep tenants apart; nobody but the owner
-- has any right on a partition.
-- +goose StatementBegin
DO $$
DECLARE last bigint;
BEGIN
  ALTER TABLE audit NO FORCE ROW LEVEL SECURITY;
  SELECT coalesce(max(audit_id), 0) INTO last FROM audit;
  ALTER TABLE audit RENAME TO audit_history;
  ALTER TABLE audit_history ALTER COLUMN audit_id DROP IDENTITY;
  ALTER TABLE audit_history DROP CONSTRAINT audit_pkey, ADD PRIMARY KEY (tenant_id, audit_id, at);
  ALTER INDEX audit_subject RENAME TO audit_history_subject;
  DROP POLICY tenant ON audit_history;
  DROP POLICY every_tenant ON audit_history;
  REVOKE ALL ON audit_history FROM vitrine_app, vitrine_indexer;
  CREATE SEQUENCE audit_audit_id_seq;
  PERFORM setval('audit_audit_id_seq', last + 1, false);
END $$;
-- +goose StatementEnd
CREATE TABLE audit (
  tenant_id    uuid NOT NULL REFERENCES tenants,
  audit_id     bigint NOT NULL DEFAULT nextval('audit_audit_id_seq'),
  at           timestamptz NOT NULL DEFAULT now(),
  actor_kind   text NOT NULL,
  actor_id     text NOT NULL,
  action       text NOT NULL,
  subject      text NOT NULL,
  operation_id text,
  detail       jsonb,
  PRIMARY KEY (tenant_id, audit_id, at)
) PARTITION BY RANGE (at);
ALTER SEQUENCE audit_audit_id_seq OWNED BY audit.audit_id;
GRANT USAGE ON SEQUENCE audit_audit_id_seq TO vitrine_app;
CREATE INDEX audit_subject ON audit (tenant_id, subject, audit_id);
SELECT tenant_table('audit', 'SELECT, INSERT');
CREATE TABLE audit_default PARTITION OF audit DEFAULT;
ALTER TABLE audit_default ENABLE ROW LEVEL SECURITY;

-- audit_partitions makes the partitions of this month and of some that follow, unless they
-- are there, and returns how many it made. A month that rows of audit_default belong to
-- stays there.
-- audit_expire removes what is older: whole partitions, whose names it returns, and at most
-- a number of rows of the partitions that hold several months.
-- +goose StatementBegin
DO $migration$
BEGIN
  EXECUTE format($define$
    CREATE FUNCTION audit_partitions(ahead int) RETURNS int
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = %1$I, pg_temp SET lock_timeout = '5s' AS $body$
      DECLARE
        this timestamp := date_trunc('month', now() AT TIME ZONE 'UTC');
        first timestamp;
        name text;
        made int := 0;
      BEGIN
        FOR i IN 0..ahead LOOP
          first := this + make_interval(months => i);
          name := 'audit_' || to_char(first, 'YYYY_MM');
          CONTINUE WHEN to_regclass(quote_ident(name)) IS NOT NULL;
          BEGIN
            EXECUTE format('CREATE TABLE %%I (LIKE audit INCLUDING DEFAULTS)', name);
            EXECUTE format('ALTER TABLE %%I ENABLE ROW LEVEL SECURITY', name);
            EXECUTE format('ALTER TABLE audit ATTACH PARTITION %%I FOR VALUES FROM (%%L) TO (%%L)',
              name, first AT TIME ZONE 'UTC', (first + interval '1 month') AT TIME ZONE 'UTC');
            made := made + 1;
          EXCEPTION WHEN invalid_object_definition OR check_violation OR duplicate_table THEN
            NULL; -- audit_history holds the month, audit_default has rows of it, or another process was first
          END;
        END LOOP;
        RETURN made;
      END $body$ $define$, current_schema());
  EXECUTE format($define$
    CREATE FUNCTION audit_expire(before timestamptz, most int, OUT partitions text[], OUT deleted bigint)
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = %1$I, pg_temp SET lock_timeout = '5s' AS $body$
      DECLARE
        part record;
        n bigint;
      BEGIN
        partitions := '{}';
        deleted := 0;
        FOR part IN SELECT c.relname::text AS name, substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''([^'']+)''\)')::timestamptz AS until
          FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'audit'::regclass ORDER BY 1
        LOOP
          IF part.until <= before THEN
            EXECUTE format('DROP TABLE %%I', part.name);
            partitions := partitions || part.name;
          ELSIF part.name IN ('audit_default', 'audit_history') THEN
            EXECUTE format('DELETE FROM %%I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %%I WHERE at < $1 LIMIT $2))', part.name, part.name) USING before, most;
            GET DIAGNOSTICS n = ROW_COUNT;
            deleted := deleted + n;
          END IF;
        END LOOP;
      END $body$ $define$, current_schema());
END $migration$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION audit_partitions(int), audit_expire(timestamptz, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_partitions(int), audit_expire(timestamptz, int) TO vitrine_indexer;

-- +goose StatementBegin
DO $$
BEGIN
  IF EXISTS (SELECT FROM audit_history) THEN
    EXECUTE format('ALTER TABLE audit ATTACH PARTITION audit_history FOR VALUES FROM (MINVALUE) TO (%L)',
      (date_trunc('month', greatest(now(), (SELECT max(at) FROM audit_history)) AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC');
  ELSE
    DROP TABLE audit_history;
  END IF;
END $$;
-- +goose StatementEnd
SELECT audit_partitions(2);

-- +goose Down
-- +goose StatementBegin
DO $$
BEGIN
  DROP FUNCTION audit_expire(timestamptz, int);
  DROP FUNCTION audit_partitions(int);
  ALTER TABLE audit NO FORCE ROW LEVEL SECURITY;
  CREATE TABLE audit_whole (
    tenant_id    uuid NOT NULL REFERENCES tenants,
    audit_id     bigint GENERATED ALWAYS AS IDENTITY,
    at           timestamptz NOT NULL DEFAULT now(),
    actor_kind   text NOT NULL,
    actor_id     text NOT NULL,
    action       text NOT NULL,
    subject      text NOT NULL,
    operation_id text,
    detail       jsonb
  );
  INSERT INTO audit_whole OVERRIDING SYSTEM VALUE
    SELECT tenant_id, audit_id, at, actor_kind, actor_id, action, subject, operation_id, detail FROM audit;
  PERFORM setval(pg_get_serial_sequence('audit_whole', 'audit_id'), coalesce((SELECT max(audit_id) FROM audit_whole), 0) + 1, false);
  DROP TABLE audit;
  ALTER TABLE audit_whole RENAME TO audit;
  ALTER SEQUENCE audit_whole_audit_id_seq RENAME TO audit_audit_id_seq;
  ALTER TABLE audit ADD CONSTRAINT audit_pkey PRIMARY KEY (tenant_id, audit_id);
  CREATE INDEX audit_subject ON audit (tenant_id, subject, audit_id);
  PERFORM tenant_table('audit', 'SELECT, INSERT');
END $$;
-- +goose StatementEnd
