-- +goose Up

-- Whose an asset is, by the id of the actor, and who sees it: its owner alone
-- (private) or everybody in the tenant (team, public). Nobody's has no owner.
ALTER TABLE assets
  ADD COLUMN owner      text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN visibility text COLLATE "C" NOT NULL DEFAULT 'team' CHECK (visibility IN ('private', 'team', 'public'));

-- Forced row security would hide the rows from an owner that is no superuser.
ALTER TABLE assets NO FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys NO FORCE ROW LEVEL SECURITY;
UPDATE assets SET owner = created_by WHERE created_by IN (SELECT key_id FROM api_keys);
ALTER TABLE assets FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys FORCE ROW LEVEL SECURITY;

-- Who asks who else's assets are hidden reads these rows alone.
CREATE INDEX assets_private ON assets (tenant_id, asset_h) WHERE visibility = 'private';

-- What a key may do that links in a tenant were made with; null when they are not good
-- any more. It replaces api_key_valid (see 0013).
-- +goose StatementBegin
DO $migration$
BEGIN
  EXECUTE format($define$
    CREATE FUNCTION api_key_permissions(id text, tenant uuid) RETURNS text[]
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
      SELECT k.permissions FROM %1$I.api_keys k WHERE k.key_id = id AND k.revoked_at IS NULL
        AND (k.expires_at IS NULL OR k.expires_at > now()) AND (k.tenant_id = tenant OR tenant = ANY (k.more_tenants))
    $body$ $define$, current_schema());
END $migration$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION api_key_permissions(text, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION api_key_permissions(text, uuid) TO vitrine_app;
DROP FUNCTION api_key_valid(text, uuid);

-- +goose Down
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
DROP FUNCTION api_key_permissions(text, uuid);
DROP INDEX assets_private;
ALTER TABLE assets DROP COLUMN owner, DROP COLUMN visibility;
