-- +goose Up

-- A large tenant has an index of its own, with generations of its own. Empty: the
-- index that all other tenants share.
ALTER TABLE index_generations ADD COLUMN scope text COLLATE "C" NOT NULL DEFAULT '';
-- The tenant's documents are in its own index alone: the shared one is no longer
-- written for it.
ALTER TABLE index_generations ADD COLUMN alone boolean NOT NULL DEFAULT false;
DROP INDEX index_generations_one_live;
DROP INDEX index_generations_one_building;
CREATE UNIQUE INDEX index_generations_one_live ON index_generations (scope) WHERE state = 'live';
CREATE UNIQUE INDEX index_generations_one_building ON index_generations (scope) WHERE state = 'building';

-- +goose Down
DELETE FROM index_generations WHERE scope <> '';
DROP INDEX index_generations_one_live;
DROP INDEX index_generations_one_building;
ALTER TABLE index_generations DROP COLUMN scope, DROP COLUMN alone;
CREATE UNIQUE INDEX index_generations_one_live ON index_generations (state) WHERE state = 'live';
CREATE UNIQUE INDEX index_generations_one_building ON index_generations (state) WHERE state = 'building';
