-- +goose Up

-- The page of a smart collection shows what its search found when it was published: a list of
-- assets like that of a share link.
ALTER TABLE publications DROP CONSTRAINT publications_check;
ALTER TABLE publications ADD CONSTRAINT publications_holds CHECK (collection_h IS NOT NULL OR asset_hs IS NOT NULL);

-- +goose Down
DELETE FROM publications WHERE collection_h IS NOT NULL AND asset_hs IS NOT NULL;
ALTER TABLE publications DROP CONSTRAINT publications_holds;
ALTER TABLE publications ADD CONSTRAINT publications_check CHECK ((collection_h IS NULL) <> (asset_hs IS NULL));
