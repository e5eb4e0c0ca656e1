-- +goose Up

-- What a tenant may use. Null: the default of library.DefaultLimits; -1: no limit.
CREATE TABLE tenant_limits (
  tenant_id           uuid PRIMARY KEY REFERENCES tenants,
  storage_bytes       bigint CHECK (storage_bytes >= -1),
  export_assets       bigint CHECK (export_assets >= -1),
  egress_bytes_hourly bigint CHECK (egress_bytes_hourly >= -1),
  run_seconds         bigint CHECK (run_seconds >= -1),
  searches_per_minute bigint CHECK (searches_per_minute >= -1),
  storage_used        bigint, -- the sizes of all assets, trash included; kept only while storage is limited
  updated_at          timestamptz NOT NULL DEFAULT now(),
  CHECK ((storage_used IS NOT NULL) = (coalesce(storage_bytes, -1) >= 0))
);
ALTER TABLE tenant_limits ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant_limits FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tenant_limits TO vitrine_app
  USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY every_tenant ON tenant_limits FOR SELECT TO vitrine_indexer USING (true);
GRANT SELECT, INSERT, UPDATE ON tenant_limits TO vitrine_app;
GRANT SELECT ON tenant_limits TO vitrine_indexer;

-- Counts a tenant's bytes, and ends a transaction that would go beyond its limit.
-- It runs at the commit, so that the row of a limited tenant is locked for a moment
-- only. Whoever sets a limit holds the advisory lock alone while it adds up what is
-- there: no asset comes or goes uncounted meanwhile.
-- +goose StatementBegin
CREATE FUNCTION count_storage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  whose uuid := coalesce(NEW.tenant_id, OLD.tenant_id);
  more bigint := coalesce(NEW.size, 0) - coalesce(OLD.size, 0);
  now_limit bigint;
  now_used bigint;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('storage ' || whose::text, 0));
  UPDATE tenant_limits SET storage_used = storage_used + more
    WHERE tenant_id = whose AND storage_used IS NOT NULL
    RETURNING storage_bytes, storage_used INTO now_limit, now_used;
  IF FOUND AND more > 0 AND now_used > now_limit THEN
    RAISE EXCEPTION 'the tenant stores all it may' USING ERRCODE = 'VTQ01', DETAIL = now_limit::text;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE CONSTRAINT TRIGGER count_storage AFTER INSERT OR DELETE OR UPDATE OF size ON assets
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_storage();

-- +goose Down
DROP TRIGGER count_storage ON assets;
DROP FUNCTION count_storage();
DROP TABLE tenant_limits;
