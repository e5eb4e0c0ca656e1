-- +goose Up

-- Lineage is looked up by what files call their parents. Row level security lets
-- an index serve a condition only when the condition is on a plain column, so
-- the forms that are compared are columns of their own, derived by the database
-- and thus true for every row however it was written.
ALTER TABLE assets ADD COLUMN filename_fold text COLLATE "C" GENERATED ALWAYS AS (lower(filename)) STORED;
DROP INDEX assets_filename;
CREATE INDEX assets_filename ON assets (tenant_id, filename_fold);
CREATE INDEX assets_parent ON assets (tenant_id, parent_asset_h) WHERE parent_asset_h IS NOT NULL;

ALTER TABLE lineage
  ADD COLUMN job_id        text COLLATE "C" GENERATED ALWAYS AS (lower(doc #>> '{image_tool,job_id}')) STORED,
  ADD COLUMN workflow_hash text COLLATE "C" GENERATED ALWAYS AS (doc #>> '{workflow,hash}') STORED,
  ADD COLUMN seed          text COLLATE "C" GENERATED ALWAYS AS (doc #>> '{parameters,seed}') STORED;
CREATE INDEX lineage_job ON lineage (tenant_id, job_id) WHERE job_id IS NOT NULL;
CREATE INDEX lineage_workflow ON lineage (tenant_id, workflow_hash, seed) WHERE workflow_hash IS NOT NULL;

-- content_hash: the SHA-1 or BLAKE3 that identifies the parent's bytes, given as
-- such or standing in for its name, as ComfyUI does with its own inputs.
-- name_fold: the name, where it says anything; beside a job it is only a place in
-- the job's grid. resolved_by: why parent_asset_h is believed to be the parent.
-- Forced row security would hide the rows from an owner that is no superuser.
ALTER TABLE asset_parents NO FORCE ROW LEVEL SECURITY;
UPDATE asset_parents SET job_id = lower(job_id) WHERE job_id <> lower(job_id);
ALTER TABLE asset_parents
  ADD COLUMN content_hash text COLLATE "C" GENERATED ALWAYS AS (lower(coalesce(
    substring(hash FROM '^(?:sha1:|blake3:)?([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$'),
    substring(name FROM '^(?:blake3:)?([0-9a-fA-F]{40}|[0-9a-fA-F]{64})(?:\.[0-9A-Za-z]{1,5})?$')))) STORED,
  ADD COLUMN name_fold text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN job_id = '' THEN nullif(lower(name), '') END) STORED,
  ADD COLUMN resolved_by text CHECK (resolved_by IN ('hash','imagetool_job','name'));
UPDATE asset_parents SET resolved_by = CASE WHEN content_hash IS NULL THEN 'name' ELSE 'hash' END WHERE parent_asset_h IS NOT NULL;
ALTER TABLE asset_parents FORCE ROW LEVEL SECURITY;
DROP INDEX asset_parents_open;
CREATE INDEX asset_parents_name ON asset_parents (tenant_id, name_fold) WHERE name_fold IS NOT NULL;
CREATE INDEX asset_parents_hash ON asset_parents (tenant_id, content_hash) WHERE content_hash IS NOT NULL;
CREATE INDEX asset_parents_job ON asset_parents (tenant_id, job_id) WHERE job_id <> '';

-- +goose Down
ALTER TABLE asset_parents DROP COLUMN content_hash, DROP COLUMN name_fold, DROP COLUMN resolved_by;
DROP INDEX asset_parents_job;
CREATE INDEX asset_parents_open ON asset_parents (tenant_id, lower(name)) WHERE parent_asset_h IS NULL;
ALTER TABLE lineage DROP COLUMN job_id, DROP COLUMN workflow_hash, DROP COLUMN seed;
DROP INDEX assets_parent;
ALTER TABLE assets DROP COLUMN filename_fold;
CREATE INDEX assets_filename ON assets (tenant_id, lower(filename));
