-- +goose Up

-- There are several indices, each with generations of its own. A document is named by
-- its index, its tenant and its key in there: of an asset, its hash.
ALTER TABLE outbox DROP CONSTRAINT outbox_topic;
ALTER TABLE outbox ADD COLUMN index_name text COLLATE "C" NOT NULL DEFAULT 'assets';
UPDATE outbox SET key = asset_h WHERE topic = 'documents';
ALTER TABLE outbox DROP COLUMN asset_h;
ALTER TABLE outbox ADD CONSTRAINT outbox_topic CHECK (key IS NOT NULL AND CASE topic WHEN 'documents' THEN doc_version IS NOT NULL AND reason IS NOT NULL
  ELSE type IS NOT NULL AND payload IS NOT NULL END);

ALTER TABLE index_failures RENAME COLUMN asset_h TO key;
ALTER TABLE index_failures ADD COLUMN index_name text COLLATE "C" NOT NULL DEFAULT 'assets';
ALTER TABLE index_failures DROP CONSTRAINT index_failures_pkey, ADD PRIMARY KEY (index_name, tenant_id, key);

ALTER TABLE index_generations ADD COLUMN index_name text COLLATE "C" NOT NULL DEFAULT 'assets';
DROP INDEX index_generations_one_live;
DROP INDEX index_generations_one_building;
CREATE UNIQUE INDEX index_generations_one_live ON index_generations (index_name, scope) WHERE state = 'live';
CREATE UNIQUE INDEX index_generations_one_building ON index_generations (index_name, scope) WHERE state = 'building';

-- +goose Down
DELETE FROM index_generations WHERE index_name <> 'assets';
DROP INDEX index_generations_one_live;
DROP INDEX index_generations_one_building;
ALTER TABLE index_generations DROP COLUMN index_name;
CREATE UNIQUE INDEX index_generations_one_live ON index_generations (scope) WHERE state = 'live';
CREATE UNIQUE INDEX index_generations_one_building ON index_generations (scope) WHERE state = 'building';

DELETE FROM index_failures WHERE index_name <> 'assets';
ALTER TABLE index_failures DROP CONSTRAINT index_failures_pkey;
ALTER TABLE index_failures DROP COLUMN index_name;
ALTER TABLE index_failures RENAME COLUMN key TO asset_h;
ALTER TABLE index_failures ADD PRIMARY KEY (tenant_id, asset_h);

DELETE FROM outbox WHERE index_name <> 'assets';
ALTER TABLE outbox DROP CONSTRAINT outbox_topic;
ALTER TABLE outbox ADD COLUMN asset_h text COLLATE "C";
UPDATE outbox SET asset_h = key, key = NULL WHERE topic = 'documents';
ALTER TABLE outbox DROP COLUMN index_name;
ALTER TABLE outbox ADD CONSTRAINT outbox_topic CHECK (CASE topic WHEN 'documents' THEN asset_h IS NOT NULL AND doc_version IS NOT NULL AND reason IS NOT NULL
  ELSE key IS NOT NULL AND type IS NOT NULL AND payload IS NOT NULL END);
