-- +goose Up

-- The backups that this database was restored from. Until indexed_at is set, the
-- index may know of what came after the backup, and the indexer compares all of it.
CREATE TABLE restores (
  restore_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  backup_id   text NOT NULL,
  backup_at   timestamptz NOT NULL,
  restored_at timestamptz NOT NULL DEFAULT now(),
  indexed_at  timestamptz
);
GRANT SELECT, UPDATE ON restores TO vitrine_indexer;

-- +goose Down
DROP TABLE restores;
