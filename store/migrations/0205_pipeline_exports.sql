-- +goose Up

-- The run of a pipeline whose stage began an export. Runs expire before or after their exports.
ALTER TABLE exports ADD COLUMN run_id text COLLATE "C";

-- +goose Down
ALTER TABLE exports DROP COLUMN run_id;
