-- +goose Up

-- The dominant color of an asset's picture, as #rrggbb. Null: nobody asked for it yet, or there is none.
ALTER TABLE asset_fingerprints ADD COLUMN color text COLLATE "C" CHECK (color ~ '^#[0-9a-f]{6}$');

-- What an enrich stage of a run has jobs do: one row for each job, which is done once it has
-- results.
CREATE TABLE pipeline_enrichments (
  tenant_id  uuid NOT NULL,
  run_id     text COLLATE "C" NOT NULL,
  stage      integer NOT NULL,
  part       integer NOT NULL,
  assets     text[] COLLATE "C" NOT NULL,
  operations text[] NOT NULL,
  results    jsonb,
  PRIMARY KEY (tenant_id, run_id, stage, part),
  FOREIGN KEY (tenant_id, run_id) REFERENCES pipeline_runs ON DELETE CASCADE
);
SELECT tenant_table('pipeline_enrichments');

-- +goose Down
DROP TABLE pipeline_enrichments;
ALTER TABLE asset_fingerprints DROP COLUMN color;
