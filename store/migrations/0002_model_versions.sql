-- +goose Up

-- The versions of a model that people keep notes on. A version is taken away by
-- undoing the operation that added it; its row stays, so that the undo can be
-- undone. A tag is unique among the versions that are there.
CREATE TABLE model_versions (
  tenant_id       uuid NOT NULL,
  model_hash      text COLLATE "C" NOT NULL,
  version_id      text COLLATE "C" NOT NULL,
  version_tag     text NOT NULL,
  version_notes   text NOT NULL DEFAULT '',
  training_steps  bigint CHECK (training_steps >= 0),
  training_epochs bigint CHECK (training_epochs >= 0),
  training_config jsonb,
  quality_score   double precision CHECK (quality_score BETWEEN 0 AND 10),
  is_recommended  boolean NOT NULL DEFAULT false,
  trained_at      timestamptz,
  created_at      timestamptz NOT NULL DEFAULT now(),
  created_by      text NOT NULL,
  operation_id    text COLLATE "C" NOT NULL, -- the operation that added it, or brought it back
  deleted_at      timestamptz,
  deleted_by      text COLLATE "C",          -- the operation that took it away
  PRIMARY KEY (tenant_id, version_id),
  FOREIGN KEY (tenant_id, model_hash) REFERENCES models ON DELETE CASCADE,
  CHECK ((deleted_at IS NULL) = (deleted_by IS NULL))
);
CREATE UNIQUE INDEX model_versions_tag ON model_versions (tenant_id, model_hash, version_tag) WHERE deleted_at IS NULL;
CREATE INDEX model_versions_model ON model_versions (tenant_id, model_hash);
CREATE INDEX model_versions_operation ON model_versions (tenant_id, operation_id);
CREATE INDEX model_versions_deleted_by ON model_versions (tenant_id, deleted_by) WHERE deleted_by IS NOT NULL;

ALTER TABLE model_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE model_versions FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON model_versions TO vitrine_app
  USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY every_tenant ON model_versions FOR SELECT TO vitrine_indexer USING (true);
GRANT SELECT, INSERT, UPDATE ON model_versions TO vitrine_app;
GRANT SELECT ON model_versions TO vitrine_indexer;

-- Why a file tells less of its making than it could (the extraction report), for
-- the report over the whole library. The reason is a column of its own, because
-- row level security lets an index serve conditions on plain columns only.
ALTER TABLE lineage
  ADD COLUMN report jsonb,
  ADD COLUMN reason text COLLATE "C" GENERATED ALWAYS AS (report ->> 'reason') STORED;
CREATE INDEX lineage_reason ON lineage (tenant_id, reason, asset_h);

-- +goose Down
DROP INDEX lineage_reason;
ALTER TABLE lineage DROP COLUMN reason, DROP COLUMN report;
DROP TABLE model_versions;
