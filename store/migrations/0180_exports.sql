-- +goose Up

-- Exports: which assets left the library, how, and what became of the zip. The zip itself
-- is among the staged files, under staged_id, until they are swept.
CREATE TABLE exports (
  tenant_id   uuid NOT NULL,
  export_id   text COLLATE "C" NOT NULL,
  actor_kind  text NOT NULL,
  actor_id    text COLLATE "C" NOT NULL,
  request     bytea NOT NULL,               -- SHA-256 of what was asked for; the same request is the same export
  spec        jsonb NOT NULL,
  asset_hs    text[] COLLATE "C" NOT NULL,
  state       text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'completed', 'failed')),
  done        integer NOT NULL DEFAULT 0,   -- assets that were looked at
  files       integer NOT NULL DEFAULT 0,   -- assets that are in the zip
  failed      jsonb NOT NULL DEFAULT '[]',
  reserved    bigint NOT NULL CHECK (reserved >= 0), -- sizes of the originals, which count until the zip's is known
  bytes       bigint CHECK (bytes >= 0),
  sha256      text NOT NULL DEFAULT '',
  staged_id   text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  PRIMARY KEY (tenant_id, export_id)
);
CREATE INDEX exports_recent ON exports (tenant_id, created_at);
SELECT tenant_table('exports');

-- +goose Down
DROP TABLE exports;
