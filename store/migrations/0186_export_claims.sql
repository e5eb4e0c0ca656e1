-- +goose Up

-- Which process works on an export, and until when that holds without being renewed.
ALTER TABLE exports
  ADD COLUMN claim         bigint NOT NULL DEFAULT 0,
  ADD COLUMN claimed_until timestamptz;

-- +goose Down
ALTER TABLE exports DROP COLUMN claim, DROP COLUMN claimed_until;
