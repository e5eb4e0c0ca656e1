-- +goose Up

-- Whether links that a key made are still good. They are served without a credential,
-- so the tenant is theirs and the key may be at home in another one. The function runs
-- as its owner; its table is named with the schema (see 0007).
-- +goose StatementBegin
DO $migration$
BEGIN
  EXECUTE format($define$
    CREATE FUNCTION api_key_valid(id text, tenant uuid) RETURNS boolean
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
      SELECT EXISTS (SELECT FROM %1$I.api_keys k WHERE k.key_id = id AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > now()) AND (k.tenant_id = tenant OR tenant = ANY (k.more_tenants)))
    $body$ $define$, current_schema());
END $migration$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION api_key_valid(text, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION api_key_valid(text, uuid) TO vitrine_app;

-- +goose Down
DROP FUNCTION api_key_valid(text, uuid);
