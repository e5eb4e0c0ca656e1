-- +goose Up

-- Content credentials name a file by the id of its manifest, or by its instance
-- id. Plain columns, for the reason that 0003 gives.
ALTER TABLE lineage
  ADD COLUMN manifest_id text COLLATE "C" GENERATED ALWAYS AS (doc #>> '{c2pa,manifest_id}') STORED,
  ADD COLUMN instance_id text COLLATE "C" GENERATED ALWAYS AS (doc #>> '{c2pa,instance_id}') STORED;
CREATE INDEX lineage_manifest ON lineage (tenant_id, manifest_id) WHERE manifest_id IS NOT NULL;
CREATE INDEX lineage_instance ON lineage (tenant_id, instance_id) WHERE instance_id IS NOT NULL;
ALTER TABLE asset_parents
  ADD COLUMN credential_id text COLLATE "C" GENERATED ALWAYS AS (substring(hash FROM '^c2pa:(.+)$')) STORED,
  DROP CONSTRAINT asset_parents_resolved_by_check,
  ADD CONSTRAINT asset_parents_resolved_by_check CHECK (resolved_by IN ('hash','c2pa','imagetool_job','name'));
CREATE INDEX asset_parents_credential ON asset_parents (tenant_id, credential_id) WHERE credential_id IS NOT NULL;

-- +goose Down
ALTER TABLE asset_parents NO FORCE ROW LEVEL SECURITY;
UPDATE asset_parents SET parent_asset_h = NULL, resolved_by = NULL WHERE resolved_by = 'c2pa';
ALTER TABLE asset_parents FORCE ROW LEVEL SECURITY;
ALTER TABLE asset_parents DROP COLUMN credential_id, DROP CONSTRAINT asset_parents_resolved_by_check,
  ADD CONSTRAINT asset_parents_resolved_by_check CHECK (resolved_by IN ('hash','imagetool_job','name'));
ALTER TABLE lineage DROP COLUMN manifest_id, DROP COLUMN instance_id;
