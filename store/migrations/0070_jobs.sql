-- +goose Up

-- Background jobs: the tables of River (riverqueue/river), as version 8 of its own
-- migrations leaves them, and a tenant for every job. A job is inserted by vitrine_app in
-- the transaction that it belongs to, for the tenant of that transaction, and run by
-- vitrine_indexer. River's triggers and listeners are not used: see jobDriver in jobs.go.
CREATE TYPE river_job_state AS ENUM ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled');

CREATE FUNCTION river_job_state_in_bitmask(bitmask bit(8), state river_job_state) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE state
    WHEN 'available' THEN get_bit(bitmask, 7)
    WHEN 'cancelled' THEN get_bit(bitmask, 6)
    WHEN 'completed' THEN get_bit(bitmask, 5)
    WHEN 'discarded' THEN get_bit(bitmask, 4)
    WHEN 'pending'   THEN get_bit(bitmask, 3)
    WHEN 'retryable' THEN get_bit(bitmask, 2)
    WHEN 'running'   THEN get_bit(bitmask, 1)
    WHEN 'scheduled' THEN get_bit(bitmask, 0)
    ELSE 0
  END = 1
$$;

CREATE TABLE river_job (
  id            bigserial PRIMARY KEY,
  state         river_job_state NOT NULL DEFAULT 'available',
  attempt       smallint NOT NULL DEFAULT 0,
  max_attempts  smallint NOT NULL DEFAULT 25 CONSTRAINT max_attempts_is_positive CHECK (max_attempts > 0),
  attempted_at  timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now(),
  finalized_at  timestamptz,
  scheduled_at  timestamptz NOT NULL DEFAULT now(),
  priority      smallint NOT NULL DEFAULT 1 CONSTRAINT priority_in_range CHECK (priority BETWEEN 1 AND 4),
  args          jsonb NOT NULL,
  attempted_by  text[],
  errors        jsonb[],
  kind          text NOT NULL CONSTRAINT kind_length CHECK (char_length(kind) > 0 AND char_length(kind) < 128),
  metadata      jsonb NOT NULL DEFAULT '{}',
  queue         text NOT NULL DEFAULT 'default' CONSTRAINT queue_length CHECK (char_length(queue) > 0 AND char_length(queue) < 128),
  tags          varchar(255)[] NOT NULL DEFAULT '{}',
  unique_key    bytea,
  unique_states bit(8),
  -- Ours: whose job it is, out of its arguments. A job without a tenant is refused.
  tenant_id     uuid NOT NULL GENERATED ALWAYS AS ((args ->> 'tenant_id')::uuid) STORED,
  CONSTRAINT finalized_or_finalized_at_null CHECK ((finalized_at IS NOT NULL) = (state IN ('cancelled', 'completed', 'discarded')))
);
CREATE INDEX river_job_kind ON river_job (kind);
CREATE INDEX river_job_state_and_finalized_at_index ON river_job (state, finalized_at) WHERE finalized_at IS NOT NULL;
CREATE INDEX river_job_prioritized_fetching_index ON river_job (state, queue, priority, scheduled_at, id);
CREATE INDEX river_job_args_index ON river_job USING gin (args);
CREATE INDEX river_job_metadata_index ON river_job USING gin (metadata);
CREATE UNIQUE INDEX river_job_unique_idx ON river_job (unique_key)
  WHERE unique_key IS NOT NULL AND unique_states IS NOT NULL AND river_job_state_in_bitmask(unique_states, state);

CREATE UNLOGGED TABLE river_leader (
  elected_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  leader_id  text NOT NULL CONSTRAINT leader_id_length CHECK (char_length(leader_id) > 0 AND char_length(leader_id) < 128),
  name       text PRIMARY KEY DEFAULT 'default' CONSTRAINT name_length CHECK (name = 'default')
);

CREATE TABLE river_queue (
  name       text PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now(),
  metadata   jsonb NOT NULL DEFAULT '{}',
  paused_at  timestamptz,
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE river_notification (
  id         bigserial PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now(),
  payload    text NOT NULL,
  topic      text NOT NULL CONSTRAINT topic_length CHECK (length(topic) > 0 AND length(topic) < 128)
);
CREATE INDEX river_notification_created_at_idx ON river_notification (created_at);
CREATE INDEX river_notification_topic_id_idx ON river_notification (topic, id);

-- Inserting a job that must be the only one of its kind updates the kind of the one that
-- is there, to the same.
SELECT tenant_table('river_job', 'SELECT, INSERT');
GRANT UPDATE (kind) ON river_job TO vitrine_app;
GRANT USAGE ON SEQUENCE river_job_id_seq TO vitrine_app, vitrine_indexer;
CREATE POLICY runs_jobs ON river_job TO vitrine_indexer USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON river_job, river_leader, river_queue, river_notification TO vitrine_indexer;
GRANT USAGE ON SEQUENCE river_notification_id_seq TO vitrine_indexer;

-- Files that no preview can be made of, because they cannot be decoded. A row goes with
-- its asset, and when the same bytes are stored again in place of damaged ones.
CREATE TABLE preview_failures (
  tenant_id uuid NOT NULL,
  asset_h   text COLLATE "C" NOT NULL,
  reason    text NOT NULL,
  found_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, asset_h),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);
SELECT tenant_table('preview_failures');

-- +goose Down
DROP TABLE preview_failures;
DROP TABLE river_notification, river_queue, river_leader, river_job;
DROP FUNCTION river_job_state_in_bitmask(bit(8), river_job_state);
DROP TYPE river_job_state;
