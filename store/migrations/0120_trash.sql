-- +goose Up

-- The trash of a tenant, the oldest first: what is listed, and what is purged when its time is over.
CREATE INDEX assets_trash ON assets (tenant_id, trashed_at, asset_h) WHERE trashed_at IS NOT NULL;

-- +goose Down
DROP INDEX assets_trash;
