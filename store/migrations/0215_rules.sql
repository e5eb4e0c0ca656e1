-- +goose Up

-- Rules: what is to happen on an event, at a time, or when assets newly match a query.
CREATE TABLE rules (
  tenant_id             uuid NOT NULL REFERENCES tenants,
  rule_id               text COLLATE "C" NOT NULL,
  name                  text NOT NULL,
  description           text NOT NULL DEFAULT '',
  trigger_type          text NOT NULL CHECK (trigger_type IN ('event', 'schedule', 'watch')),
  trigger_config        jsonb NOT NULL,
  rate_limit_config     jsonb NOT NULL,
  pipeline_vars         jsonb NOT NULL DEFAULT '{}',
  pipeline_definition_h text COLLATE "C",
  enabled               boolean NOT NULL,
  disabled_reason       text NOT NULL DEFAULT '', -- why the service paused it
  created_at            timestamptz NOT NULL DEFAULT now(),
  created_by            text NOT NULL,
  updated_at            timestamptz NOT NULL DEFAULT now(),
  deleted_at            timestamptz,
  PRIMARY KEY (tenant_id, rule_id)
);
CREATE UNIQUE INDEX rules_name ON rules (tenant_id, lower(name)) WHERE deleted_at IS NULL;
SELECT tenant_table('rules');

-- How far a rule is. It is not journaled.
CREATE TABLE rule_state (
  tenant_id uuid NOT NULL,
  rule_id   text COLLATE "C" NOT NULL,
  since     timestamptz NOT NULL DEFAULT now(), -- events from before it do not count; by the clock of the database, as theirs
  through   timestamptz NOT NULL,               -- times that were due until then were looked at; by the clock of the scheduler
  next_at   timestamptz,                        -- when it is looked at again; NULL: events bring it
  primed    boolean NOT NULL DEFAULT true,      -- what matches already is known
  failures  int NOT NULL DEFAULT 0,             -- firings in a row that failed
  limited   text NOT NULL DEFAULT '',           -- the entry of the log of a firing above a limit, if that was the last
  PRIMARY KEY (tenant_id, rule_id),
  FOREIGN KEY (tenant_id, rule_id) REFERENCES rules ON DELETE CASCADE
);
CREATE INDEX rule_state_due ON rule_state (next_at) WHERE next_at IS NOT NULL;
SELECT tenant_table('rule_state');

-- Firings: why, and what became of each. source names the cause: one cause fires a rule once.
CREATE TABLE rule_runs (
  tenant_id    uuid NOT NULL,
  rule_run_id  text COLLATE "C" NOT NULL,
  rule_id      text COLLATE "C" NOT NULL,
  source       text COLLATE "C" NOT NULL,
  trigger_type text NOT NULL,
  reason       jsonb NOT NULL,
  state        text NOT NULL CHECK (state IN ('running', 'done', 'failed', 'rate_limited', 'loop_stopped', 'missed')),
  run_id       text COLLATE "C" NOT NULL DEFAULT '',
  times        int NOT NULL DEFAULT 1,
  error        text NOT NULL DEFAULT '',
  fired_at     timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, rule_run_id),
  UNIQUE (tenant_id, rule_id, source),
  FOREIGN KEY (tenant_id, rule_id) REFERENCES rules ON DELETE CASCADE
);
CREATE INDEX rule_runs_log ON rule_runs (tenant_id, rule_id, fired_at DESC);
CREATE INDEX rule_runs_counted ON rule_runs (tenant_id, rule_id, fired_at) WHERE state IN ('running', 'done', 'failed');
CREATE INDEX rule_runs_running ON rule_runs (tenant_id, rule_id) WHERE state = 'running';
CREATE INDEX rule_runs_run ON rule_runs (tenant_id, run_id) WHERE run_id <> '';
CREATE INDEX rule_runs_age ON rule_runs (fired_at);
SELECT tenant_table('rule_runs');
CREATE POLICY expires ON rule_runs FOR DELETE TO vitrine_indexer USING (true);
GRANT DELETE ON rule_runs TO vitrine_indexer;

-- The assets that match the query of a watch, as far as the rule knows.
CREATE TABLE rule_matches (
  tenant_id uuid NOT NULL,
  rule_id   text COLLATE "C" NOT NULL,
  asset_h   text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, rule_id, asset_h),
  FOREIGN KEY (tenant_id, rule_id) REFERENCES rules ON DELETE CASCADE
);
SELECT tenant_table('rule_matches');

-- Which process evaluates schedules, and which watches: one at a time.
CREATE TABLE rule_leaders (
  trigger_type text PRIMARY KEY CHECK (trigger_type IN ('schedule', 'watch')),
  holder       text NOT NULL,
  until        timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON rule_leaders TO vitrine_indexer;

-- +goose Down
DROP TABLE rule_leaders, rule_matches, rule_runs, rule_state, rules;
