-- +goose Up

-- Decks: exports that are a PDF of a collection rather than a zip.
ALTER TABLE exports
  ADD COLUMN deck        jsonb,                      -- the collection's slides as they were when it was asked for; NULL: a zip
  ADD COLUMN pages       integer NOT NULL DEFAULT 0,
  ADD COLUMN duration_ms bigint  NOT NULL DEFAULT 0; -- how long writing took

-- +goose Down
ALTER TABLE exports DROP COLUMN deck, DROP COLUMN pages, DROP COLUMN duration_ms;
