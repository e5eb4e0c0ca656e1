-- +goose Up

-- A saved pipeline. What it does (stages, vars) and what it is called are versioned: the
-- trigger below keeps each state as a version, whoever makes it, an undo included.
CREATE TABLE pipelines (
  tenant_id             uuid NOT NULL REFERENCES tenants,
  pipeline_definition_h text COLLATE "C" NOT NULL CHECK (pipeline_definition_h ~ '^[0-9a-f]{40}$'),
  version               integer NOT NULL DEFAULT 1,
  name                  text NOT NULL,
  slug                  text COLLATE "C" NOT NULL,
  description           text NOT NULL DEFAULT '',
  stages                jsonb NOT NULL,
  vars                  jsonb NOT NULL DEFAULT '{}',
  tags                  text[] NOT NULL DEFAULT '{}',
  default_dry_run       boolean NOT NULL DEFAULT false,
  default_timeout_ms    integer NOT NULL DEFAULT 30000,
  template              boolean NOT NULL DEFAULT false,
  created_at            timestamptz NOT NULL DEFAULT now(),
  created_by            text NOT NULL,
  updated_at            timestamptz NOT NULL DEFAULT now(),
  updated_by            text NOT NULL,
  deleted_at            timestamptz,
  PRIMARY KEY (tenant_id, pipeline_definition_h)
);
CREATE UNIQUE INDEX pipelines_slug ON pipelines (tenant_id, slug) WHERE deleted_at IS NULL;
SELECT tenant_table('pipelines');

CREATE TABLE pipeline_versions (
  tenant_id             uuid NOT NULL,
  pipeline_definition_h text COLLATE "C" NOT NULL,
  version               integer NOT NULL,
  name                  text NOT NULL,
  description           text NOT NULL,
  stages                jsonb NOT NULL,
  vars                  jsonb NOT NULL,
  tags                  text[] NOT NULL,
  default_dry_run       boolean NOT NULL,
  default_timeout_ms    integer NOT NULL,
  created_at            timestamptz NOT NULL DEFAULT now(),
  created_by            text NOT NULL,
  PRIMARY KEY (tenant_id, pipeline_definition_h, version),
  FOREIGN KEY (tenant_id, pipeline_definition_h) REFERENCES pipelines ON DELETE CASCADE
);
SELECT tenant_table('pipeline_versions', 'SELECT, INSERT');

-- +goose StatementBegin
CREATE FUNCTION pipelines_next_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.name, NEW.description, NEW.stages, NEW.vars, NEW.tags, NEW.default_dry_run, NEW.default_timeout_ms)
    IS DISTINCT FROM (OLD.name, OLD.description, OLD.stages, OLD.vars, OLD.tags, OLD.default_dry_run, OLD.default_timeout_ms) THEN
    NEW.version := OLD.version + 1;
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER pipelines_next_version BEFORE UPDATE ON pipelines FOR EACH ROW EXECUTE FUNCTION pipelines_next_version();

-- +goose StatementBegin
CREATE FUNCTION pipelines_keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' OR NEW.version <> OLD.version THEN
    INSERT INTO pipeline_versions (tenant_id, pipeline_definition_h, version, name, description, stages, vars, tags, default_dry_run, default_timeout_ms, created_by)
      VALUES (NEW.tenant_id, NEW.pipeline_definition_h, NEW.version, NEW.name, NEW.description, NEW.stages, NEW.vars, NEW.tags, NEW.default_dry_run, NEW.default_timeout_ms, NEW.updated_by);
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER pipelines_keep_version AFTER INSERT OR UPDATE ON pipelines FOR EACH ROW EXECUTE FUNCTION pipelines_keep_version();

-- One run of stages. Whoever works on it has claimed it: claim counts the claims, and only
-- the last one may write. A claim that was not renewed until claimed_until is void.
CREATE TABLE pipeline_runs (
  tenant_id             uuid NOT NULL REFERENCES tenants,
  run_id                text COLLATE "C" NOT NULL,
  pipeline_definition_h text COLLATE "C",
  version               integer NOT NULL DEFAULT 0,
  name                  text NOT NULL DEFAULT '',
  stages                jsonb NOT NULL,
  dry_run               boolean NOT NULL,
  state                 text NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'failed', 'timed_out', 'cancelled')),
  tool                  text NOT NULL,
  trigger_type          text NOT NULL DEFAULT 'manual',
  rule_id               text NOT NULL DEFAULT '',
  causation_depth       integer NOT NULL DEFAULT 0,
  operation_id          text COLLATE "C" NOT NULL,
  request_id            text NOT NULL DEFAULT '',
  actor                 jsonb NOT NULL,
  claim                 bigint NOT NULL DEFAULT 0,
  claimed_until         timestamptz,
  cancel_requested      boolean NOT NULL DEFAULT false,
  created_at            timestamptz NOT NULL DEFAULT now(),
  started_at            timestamptz,
  finished_at           timestamptz,
  deadline_at           timestamptz NOT NULL,
  progress              jsonb NOT NULL,
  PRIMARY KEY (tenant_id, run_id)
);
CREATE INDEX pipeline_runs_pipeline ON pipeline_runs (tenant_id, pipeline_definition_h, run_id DESC);
CREATE INDEX pipeline_runs_rule ON pipeline_runs (tenant_id, rule_id, run_id DESC) WHERE rule_id <> '';
CREATE INDEX pipeline_runs_operation ON pipeline_runs (tenant_id, operation_id);
CREATE INDEX pipeline_runs_open ON pipeline_runs (claimed_until) WHERE state IN ('queued', 'running');
CREATE INDEX pipeline_runs_ended ON pipeline_runs (finished_at) WHERE finished_at IS NOT NULL;
SELECT tenant_table('pipeline_runs');

-- The sets of assets that the stages of a run pass on, in parts, in order. That of the last
-- stage stays as long as the run does, with the versions that the assets had.
CREATE TABLE pipeline_sets (
  tenant_id uuid NOT NULL,
  run_id    text COLLATE "C" NOT NULL,
  stage     integer NOT NULL,
  part      integer NOT NULL,
  assets    text[] COLLATE "C" NOT NULL,
  versions  bigint[],
  PRIMARY KEY (tenant_id, run_id, stage, part),
  FOREIGN KEY (tenant_id, run_id) REFERENCES pipeline_runs ON DELETE CASCADE
);
SELECT tenant_table('pipeline_sets');

-- What a dry run has changed of assets so far, for the stages behind. Goes when the run ends.
CREATE TABLE pipeline_simulated (
  tenant_id uuid NOT NULL,
  run_id    text COLLATE "C" NOT NULL,
  asset_h   text COLLATE "C" NOT NULL,
  state     jsonb NOT NULL,
  PRIMARY KEY (tenant_id, run_id, asset_h),
  FOREIGN KEY (tenant_id, run_id) REFERENCES pipeline_runs ON DELETE CASCADE
);
SELECT tenant_table('pipeline_simulated');

-- +goose Down
DROP TABLE pipeline_simulated, pipeline_sets, pipeline_runs, pipeline_versions, pipelines;
DROP FUNCTION pipelines_keep_version(), pipelines_next_version();
