-- +goose Up

-- Which tenant a transaction belongs to is a claim that the service proves: the
-- tenant's id, a colon, and the HMAC-SHA256 of the id under a key that the role of
-- requests cannot read. Whoever could run SQL of their own in a request's
-- connection could otherwise set another tenant. The service reads the key in the
-- other role, which reads every tenant anyway.
CREATE TABLE tenant_key (
  only_row  boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  key       bytea NOT NULL CHECK (octet_length(key) = 32),
  inner_key bytea NOT NULL CHECK (octet_length(inner_key) = 64), -- the key with the paddings of RFC 2104
  outer_key bytea NOT NULL CHECK (octet_length(outer_key) = 64)
);
GRANT SELECT ON tenant_key TO vitrine_indexer;
-- The service checks by this that the schema is current.
GRANT SELECT ON goose_db_version TO vitrine_app, vitrine_indexer;

-- +goose StatementBegin
DO $$
DECLARE
  k bytea := sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));
  padded bytea := k || decode(repeat('00', 32), 'hex');
  i bytea := padded;
  o bytea := padded;
BEGIN
  FOR n IN 0..63 LOOP
    i := set_byte(i, n, get_byte(padded, n) # 54);
    o := set_byte(o, n, get_byte(padded, n) # 92);
  END LOOP;
  INSERT INTO tenant_key (key, inner_key, outer_key) VALUES (k, i, o);
END $$;
-- +goose StatementEnd

-- The functions below run as their owner. Their tables are named with the schema:
-- an unqualified name would be looked up among temporary tables first, which any
-- role may make.
-- +goose StatementBegin
DO $migration$
BEGIN
  EXECUTE format($define$
    CREATE OR REPLACE FUNCTION current_tenant() RETURNS uuid LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp AS $body$
    DECLARE
      claim text := current_setting('app.tenant', true);
      k record;
    BEGIN
      IF claim IS NULL OR claim = '' THEN
        RETURN NULL;
      END IF;
      SELECT t.inner_key, t.outer_key INTO STRICT k FROM %1$I.tenant_key t;
      IF substr(claim, 38) IS DISTINCT FROM encode(sha256(k.outer_key || sha256(k.inner_key || convert_to(left(claim, 36), 'UTF8'))), 'hex') THEN
        RAISE EXCEPTION 'the tenant of this transaction is not proven' USING ERRCODE = 'insufficient_privilege';
      END IF;
      RETURN left(claim, 36)::uuid;
    END $body$ $define$, current_schema());
  EXECUTE format($define$
    CREATE OR REPLACE FUNCTION find_api_key(hash bytea)
      RETURNS TABLE (key_id text, tenant_id uuid, name text, permissions text[], more_tenants uuid[], expires_at timestamptz, revoked_at timestamptz)
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
      SELECT k.key_id, k.tenant_id, k.name, k.permissions, k.more_tenants, k.expires_at, k.revoked_at
      FROM %1$I.api_keys k WHERE k.key_hash = hash
    $body$ $define$, current_schema());
END $migration$;
-- +goose StatementEnd

-- +goose Down
CREATE OR REPLACE FUNCTION current_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE SECURITY INVOKER
  AS $$ SELECT nullif(current_setting('app.tenant', true), '')::uuid $$;
ALTER FUNCTION current_tenant() RESET search_path;
DROP TABLE tenant_key;
