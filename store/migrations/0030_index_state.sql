-- +goose Up

-- What the indexer remembers of the database, of Kafka and of its own work: one row.
CREATE TABLE index_state (
  only_row       boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- An epoch is a time in which the database only went forward. An index carries the
  -- epoch that it was made in; one of another epoch may know what never happened.
  epoch          uuid NOT NULL DEFAULT gen_random_uuid(),
  epoch_began    timestamptz NOT NULL DEFAULT now(),
  epoch_reason   text NOT NULL DEFAULT '',
  place          text NOT NULL DEFAULT '', -- the server, timeline, database and table that the epoch goes on in; empty: not known yet
  -- Why and since when the whole index has to be compared with the database.
  compare_reason text,
  compare_since  timestamptz,
  compared_at    timestamptz,              -- when a comparison of the whole index ended last
  stream         jsonb,                    -- what was last seen of Kafka's topic of changes
  work           jsonb                     -- what is being done to the whole index, and how far it is
);
INSERT INTO index_state DEFAULT VALUES;
GRANT SELECT, UPDATE ON index_state TO vitrine_indexer;

-- +goose Down
DROP TABLE index_state;
