-- +goose Up

-- What people think of an asset: 0 (not rated) to 5, and whether it is a favorite.
ALTER TABLE assets
  ADD COLUMN rating   smallint NOT NULL DEFAULT 0 CHECK (rating BETWEEN 0 AND 5),
  ADD COLUMN favorite boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE assets DROP COLUMN rating, DROP COLUMN favorite;
