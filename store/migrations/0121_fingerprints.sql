-- +goose Up

-- How the picture of an asset looks, in 64 bits. Null: the file has no picture that can be
-- told by them. An asset without a row has not been looked at yet.
CREATE TABLE asset_fingerprints (
  tenant_id uuid NOT NULL,
  asset_h   text COLLATE "C" NOT NULL,
  phash     bigint,
  made_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, asset_h),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);
SELECT tenant_table('asset_fingerprints');

-- +goose Down
DROP TABLE asset_fingerprints;
