-- +goose Up

-- Files that are not what was stored, as the checks of files found them. A row goes
-- with its asset, and when the same bytes are stored again.
CREATE TABLE damaged_files (
  tenant_id uuid NOT NULL,
  asset_h   text COLLATE "C" NOT NULL,
  problem   text NOT NULL CHECK (problem IN ('missing', 'size', 'hash', 'unreadable')),
  found_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, asset_h),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);
ALTER TABLE damaged_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE damaged_files FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON damaged_files TO vitrine_app
  USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY every_tenant ON damaged_files TO vitrine_indexer USING (true) WITH CHECK (true);
GRANT SELECT, DELETE ON damaged_files TO vitrine_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON damaged_files TO vitrine_indexer;

-- How far the background check of files is. One process at a time holds it.
CREATE TABLE scrub (
  one        boolean PRIMARY KEY DEFAULT true CHECK (one),
  at_tenant  text COLLATE "C" NOT NULL DEFAULT '', -- the last file that was checked
  at_asset   text COLLATE "C" NOT NULL DEFAULT '',
  began_at   timestamptz NOT NULL DEFAULT now(),
  ended_at   timestamptz,                          -- null while a pass is under way
  holder     text NOT NULL DEFAULT '',
  held_until timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT, UPDATE ON scrub TO vitrine_indexer;

-- +goose Down
DROP TABLE scrub;
DROP TABLE damaged_files;
