-- +goose Up

-- Which blob folder holds the library's files: the id in its mark. A folder with
-- another id, or none, is the wrong one or a volume that is not mounted.
CREATE TABLE blob_store (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  store_id    text COLLATE "C" NOT NULL CHECK (store_id <> ''),
  previous    text COLLATE "C" NOT NULL DEFAULT '',
  recorded_at timestamptz NOT NULL DEFAULT now(),
  recorded_by text NOT NULL
);
GRANT SELECT ON blob_store TO vitrine_app;
GRANT SELECT, INSERT, UPDATE ON blob_store TO vitrine_indexer;

-- +goose Down
DROP TABLE blob_store;
