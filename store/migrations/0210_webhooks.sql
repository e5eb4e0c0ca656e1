-- +goose Up

-- Endpoints that are told of events by signed requests. secret is sealed with a key that the
-- database does not have; while old_secret_until has not passed, requests are signed with the
-- one before as well.
CREATE TABLE webhooks (
  tenant_id        uuid NOT NULL REFERENCES tenants,
  webhook_id       text COLLATE "C" NOT NULL,
  name             text NOT NULL,
  url              text NOT NULL,
  events           text[] NOT NULL,
  description      text NOT NULL DEFAULT '',
  enabled          boolean NOT NULL,
  disabled_reason  text NOT NULL DEFAULT '', -- why the service disabled it; empty: somebody did, or it is enabled
  timeout_ms       int NOT NULL CHECK (timeout_ms BETWEEN 1000 AND 60000),
  secret           bytea NOT NULL,
  old_secret       bytea,
  old_secret_until timestamptz,
  created_at       timestamptz NOT NULL DEFAULT now(),
  created_by       text NOT NULL,
  updated_at       timestamptz NOT NULL DEFAULT now(),
  deleted_at       timestamptz,
  PRIMARY KEY (tenant_id, webhook_id)
);
SELECT tenant_table('webhooks');

-- How an endpoint fares. Whoever delivers writes it, and it is not journaled.
CREATE TABLE webhook_health (
  tenant_id       uuid NOT NULL,
  webhook_id      text COLLATE "C" NOT NULL,
  failures        int NOT NULL DEFAULT 0, -- attempts that failed since the last success
  failing_since   timestamptz,            -- the first of them
  blocked_until   timestamptz,            -- nothing is sent before
  last_success_at timestamptz,
  PRIMARY KEY (tenant_id, webhook_id),
  FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks ON DELETE CASCADE
);
SELECT tenant_table('webhook_health');

-- Deliveries, finished ones too: the queue and its log. source names the event: one event is
-- one delivery to an endpoint, however often its subscriber handles it.
CREATE TABLE webhook_deliveries (
  tenant_id   uuid NOT NULL,
  delivery_id text COLLATE "C" NOT NULL,
  webhook_id  text COLLATE "C" NOT NULL,
  source      text COLLATE "C" NOT NULL,
  event_type  text COLLATE "C" NOT NULL,
  body        text NOT NULL,
  state       text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts    int NOT NULL DEFAULT 0, -- since it was made or replayed
  next_at     timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz,            -- somebody sends it until then
  attempt_log jsonb NOT NULL DEFAULT '[]',
  created_at  timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  PRIMARY KEY (tenant_id, delivery_id),
  UNIQUE (tenant_id, webhook_id, source),
  FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks ON DELETE CASCADE
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (tenant_id, webhook_id, next_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_log ON webhook_deliveries (tenant_id, webhook_id, delivery_id);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);
SELECT tenant_table('webhook_deliveries');

CREATE POLICY delivers ON webhook_deliveries TO vitrine_indexer USING (true) WITH CHECK (true);
CREATE POLICY delivers ON webhook_health TO vitrine_indexer USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_deliveries, webhook_health TO vitrine_indexer;

-- +goose Down
DROP TABLE webhook_deliveries, webhook_health, webhooks;
