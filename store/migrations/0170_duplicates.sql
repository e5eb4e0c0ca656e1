-- +goose Up

-- Whether another asset looks alike, as far as everybody knows who sees the asset: what
-- is:duplicate finds. It follows from the hashes, so whatever is false here is corrected by a check.
ALTER TABLE asset_fingerprints ADD COLUMN duplicate boolean NOT NULL DEFAULT false;

-- Pairs of assets that look alike and that somebody said are no duplicates.
CREATE TABLE unlinked_duplicates (
  tenant_id  uuid NOT NULL,
  asset_a    text COLLATE "C" NOT NULL,
  asset_b    text COLLATE "C" NOT NULL CHECK (asset_a < asset_b),
  created_by text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, asset_a, asset_b),
  FOREIGN KEY (tenant_id, asset_a) REFERENCES assets ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, asset_b) REFERENCES assets ON DELETE CASCADE
);
CREATE INDEX unlinked_duplicates_b ON unlinked_duplicates (tenant_id, asset_b);
SELECT tenant_table('unlinked_duplicates');

-- Perceptual hashes of which something changed: assets near them may have become
-- duplicates, or may be none any more. The asset itself may be gone.
CREATE TABLE duplicate_checks (
  tenant_id uuid NOT NULL,
  check_id  uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY,
  asset_h   text COLLATE "C" NOT NULL,
  phash     bigint NOT NULL
);
CREATE INDEX duplicate_checks_tenant ON duplicate_checks (tenant_id);
SELECT tenant_table('duplicate_checks');
INSERT INTO duplicate_checks (tenant_id, asset_h, phash) SELECT tenant_id, asset_h, phash FROM asset_fingerprints WHERE phash IS NOT NULL;

-- +goose StatementBegin
CREATE FUNCTION fingerprint_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' AND OLD.phash IS NOT NULL THEN
    INSERT INTO duplicate_checks (tenant_id, asset_h, phash) VALUES (OLD.tenant_id, OLD.asset_h, OLD.phash);
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.phash IS NOT NULL THEN
    INSERT INTO duplicate_checks (tenant_id, asset_h, phash) VALUES (NEW.tenant_id, NEW.asset_h, NEW.phash);
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION duplicate_asset_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO duplicate_checks (tenant_id, asset_h, phash)
    SELECT tenant_id, asset_h, phash FROM asset_fingerprints WHERE tenant_id = NEW.tenant_id AND asset_h = NEW.asset_h AND phash IS NOT NULL;
  RETURN NULL;
END $$;

CREATE FUNCTION unlinked_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE pair unlinked_duplicates;
BEGIN
  IF TG_OP = 'DELETE' THEN pair := OLD; ELSE pair := NEW; END IF;
  INSERT INTO duplicate_checks (tenant_id, asset_h, phash)
    SELECT tenant_id, asset_h, phash FROM asset_fingerprints WHERE tenant_id = pair.tenant_id AND asset_h IN (pair.asset_a, pair.asset_b) AND phash IS NOT NULL;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER fingerprint_changed AFTER INSERT OR DELETE ON asset_fingerprints FOR EACH ROW EXECUTE FUNCTION fingerprint_changed();
CREATE TRIGGER fingerprint_replaced AFTER UPDATE ON asset_fingerprints FOR EACH ROW WHEN (OLD.phash IS DISTINCT FROM NEW.phash) EXECUTE FUNCTION fingerprint_changed();
CREATE TRIGGER duplicate_asset_changed AFTER UPDATE ON assets FOR EACH ROW
  WHEN ((OLD.trashed_at IS NULL) <> (NEW.trashed_at IS NULL) OR OLD.visibility <> NEW.visibility OR OLD.owner IS DISTINCT FROM NEW.owner)
  EXECUTE FUNCTION duplicate_asset_changed();
CREATE TRIGGER unlinked_changed AFTER INSERT OR DELETE ON unlinked_duplicates FOR EACH ROW EXECUTE FUNCTION unlinked_changed();

-- +goose Down
DROP TRIGGER duplicate_asset_changed ON assets;
DROP TRIGGER fingerprint_changed ON asset_fingerprints;
DROP TRIGGER fingerprint_replaced ON asset_fingerprints;
DROP TABLE duplicate_checks, unlinked_duplicates;
DROP FUNCTION fingerprint_changed(), duplicate_asset_changed(), unlinked_changed();
ALTER TABLE asset_fingerprints DROP COLUMN duplicate;
