-- +goose Up

-- Whether a document is in the index without the parts that were refused; as the code,
-- the log and the metrics call it.
ALTER TABLE index_failures RENAME COLUMN stripped TO partial;

-- +goose Down
ALTER TABLE index_failures RENAME COLUMN partial TO stripped;
