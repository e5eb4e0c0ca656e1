-- +goose Up

-- An experiment is a collection with a question. Its runs are memberships: an asset is a run
-- as long as it is in the collection.
CREATE TABLE experiments (
  tenant_id            uuid NOT NULL,
  collection_h         text COLLATE "C" NOT NULL,
  hypothesis           text NOT NULL DEFAULT '',
  independent_variable text NOT NULL DEFAULT '',
  control_variable     text NOT NULL DEFAULT '',
  model_name           text NOT NULL DEFAULT '',
  workflow_name        text NOT NULL DEFAULT '',
  resolution           text NOT NULL DEFAULT '',
  domain_context       jsonb NOT NULL DEFAULT '{}',
  created_at           timestamptz NOT NULL DEFAULT now(),
  created_by           text NOT NULL,
  PRIMARY KEY (tenant_id, collection_h),
  FOREIGN KEY (tenant_id, collection_h) REFERENCES collections ON DELETE CASCADE
);
SELECT tenant_table('experiments');

-- What was said of a run when it was registered. What its file says stands in lineage and
-- wins. run_h follows from the collection and the asset.
CREATE TABLE experiment_runs (
  tenant_id     uuid NOT NULL,
  asset_h       text COLLATE "C" NOT NULL,
  collection_h  text COLLATE "C" NOT NULL,
  run_h         text COLLATE "C" NOT NULL CHECK (run_h ~ '^[0-9a-f]{40}$'),
  condition_id  text NOT NULL DEFAULT '',
  variant_label text NOT NULL DEFAULT '',
  seed          numeric(20, 0),
  prompt_text   text,
  model_name    text,
  run_params    jsonb NOT NULL DEFAULT '{}',
  outcome_tags  text[] NOT NULL DEFAULT '{}',
  created_at    timestamptz NOT NULL DEFAULT now(),
  created_by    text NOT NULL,
  PRIMARY KEY (tenant_id, asset_h, collection_h),
  UNIQUE (tenant_id, run_h),
  FOREIGN KEY (tenant_id, collection_h) REFERENCES collections ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);
CREATE INDEX experiment_runs_collection ON experiment_runs (tenant_id, collection_h);
SELECT tenant_table('experiment_runs');

-- What one evaluator says of one run: 1 to 5 per dimension, and flags.
CREATE TABLE run_scores (
  tenant_id      uuid NOT NULL,
  asset_h        text COLLATE "C" NOT NULL,
  collection_h   text COLLATE "C" NOT NULL,
  evaluator      text COLLATE "C" NOT NULL,
  evaluator_type text NOT NULL CHECK (evaluator_type IN ('human', 'vlm_assisted', 'embedding_similarity')),
  scores         jsonb NOT NULL,
  flags          jsonb NOT NULL DEFAULT '{}',
  comments       text NOT NULL DEFAULT '',
  annotation_id  text COLLATE "C" NOT NULL,
  scored_by      text NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, asset_h, collection_h, evaluator),
  FOREIGN KEY (tenant_id, collection_h) REFERENCES collections ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);
CREATE INDEX run_scores_collection ON run_scores (tenant_id, collection_h);
SELECT tenant_table('run_scores');

-- What one evaluator says of two runs, the smaller run_h first: per dimension the better one,
-- or tie.
CREATE TABLE run_comparisons (
  tenant_id      uuid NOT NULL,
  collection_h   text COLLATE "C" NOT NULL,
  item_a         text COLLATE "C" NOT NULL,
  item_b         text COLLATE "C" NOT NULL,
  evaluator      text COLLATE "C" NOT NULL,
  evaluator_type text NOT NULL CHECK (evaluator_type IN ('human', 'vlm_assisted', 'embedding_similarity')),
  winners        jsonb NOT NULL,
  notes          text NOT NULL DEFAULT '',
  compared_by    text NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now(),
  updated_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, collection_h, item_a, item_b, evaluator),
  FOREIGN KEY (tenant_id, collection_h) REFERENCES collections ON DELETE CASCADE,
  CHECK (item_a < item_b)
);
SELECT tenant_table('run_comparisons');

-- +goose Down
DROP TABLE run_comparisons, run_scores, experiment_runs, experiments;
