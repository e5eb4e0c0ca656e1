-- +goose Up

-- The log of events: what subscribers outside of a write are told, kept for a time.
-- The relay moves events here from the outbox, one relay at a time, so positions are
-- given in the order of commits and without gaps: who has seen a position has seen
-- every smaller one.
CREATE TABLE events (
  position  bigint PRIMARY KEY,
  shard     smallint NOT NULL, -- of the tenant and the key: events of one key are in one shard, in order
  previous  bigint NOT NULL,   -- the position before this one in the same shard
  tenant_id uuid NOT NULL,
  type      text COLLATE "C" NOT NULL,
  key       text COLLATE "C" NOT NULL,
  payload   jsonb NOT NULL,
  at        timestamptz NOT NULL
);
CREATE INDEX events_shard ON events (shard, position);
CREATE INDEX events_tenant ON events (tenant_id, position);

-- The last event of each shard that has had one; events that are deleted included.
CREATE TABLE event_shards (
  shard    smallint PRIMARY KEY,
  position bigint NOT NULL
);

-- How far the log is published to Kafka. A row of its own: whoever publishes holds it.
CREATE TABLE event_publishing (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  position bigint NOT NULL DEFAULT 0
);

-- How far each subscriber has handled each shard.
CREATE TABLE subscriber_positions (
  subscriber text COLLATE "C" NOT NULL,
  shard      smallint NOT NULL,
  position   bigint NOT NULL,
  PRIMARY KEY (subscriber, shard)
);

-- Events that a subscriber failed to handle, until they are replayed.
CREATE TABLE dead_letters (
  subscriber text COLLATE "C" NOT NULL,
  position   bigint NOT NULL,
  tenant_id  uuid NOT NULL,
  type       text COLLATE "C" NOT NULL,
  key        text COLLATE "C" NOT NULL,
  payload    jsonb NOT NULL,
  event_at   timestamptz NOT NULL,
  reason     text NOT NULL,
  at         timestamptz NOT NULL DEFAULT now(),
  replay     boolean NOT NULL DEFAULT false, -- the subscriber is to try it again
  PRIMARY KEY (subscriber, position)
);

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['events','dead_letters'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON %I TO vitrine_app
      USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', t);
    EXECUTE format('CREATE POLICY every_tenant ON %I TO vitrine_indexer USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT SELECT ON %I TO vitrine_app', t);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO vitrine_indexer', t);
  END LOOP;
END $$;
-- +goose StatementEnd
GRANT SELECT, INSERT, UPDATE ON event_shards, event_publishing TO vitrine_indexer;
GRANT SELECT, INSERT, UPDATE, DELETE ON subscriber_positions TO vitrine_indexer;

-- +goose Down
DROP TABLE dead_letters, subscriber_positions, event_publishing, event_shards, events;
