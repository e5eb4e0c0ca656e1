-- +goose Up

-- Which index the generation was when it was made or last compared with the library.
-- An index of the same name and another uuid was put there by somebody else, such as
-- by restoring a snapshot. Empty: not known yet.
ALTER TABLE index_generations ADD COLUMN uuid text COLLATE "C" NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE index_generations DROP COLUMN uuid;
