-- +goose Up

-- Pages that need no key: collections that are published, and links by which some assets
-- are shared. A row stays when its page is taken away, so that publishing a collection again
-- gives the same addresses.
CREATE TABLE publications (
  tenant_id      uuid NOT NULL,
  publication_id text COLLATE "C" NOT NULL,  -- of a published collection its collection_h
  collection_h   text COLLATE "C",           -- null: a share link
  asset_hs       text[] COLLATE "C",         -- of a share link; null: a published collection
  segment        text COLLATE "C" NOT NULL CHECK (segment ~ '^[a-z2-7]{16}$'), -- of the tenant, not to be guessed
  slug           text COLLATE "C" NOT NULL CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length(slug) <= 80),
  secret         text NOT NULL,              -- what the addresses of pictures are made with
  title          text NOT NULL DEFAULT '',
  spec           jsonb NOT NULL,
  hide_prompts   boolean NOT NULL DEFAULT true,
  allow_download boolean NOT NULL DEFAULT false,
  indexed        boolean NOT NULL DEFAULT false, -- search engines may list it
  password_hash  text NOT NULL DEFAULT '',   -- argon2id; empty: none
  expires_at     timestamptz,
  published_at   timestamptz NOT NULL DEFAULT now(),
  published_by   text COLLATE "C" NOT NULL,
  unpublished_at timestamptz,
  PRIMARY KEY (tenant_id, publication_id),
  UNIQUE (segment, slug),
  CHECK ((collection_h IS NULL) <> (asset_hs IS NULL)),
  CHECK (collection_h IS NULL OR collection_h = publication_id),
  FOREIGN KEY (tenant_id, collection_h) REFERENCES collections (tenant_id, collection_h) ON DELETE CASCADE
);
CREATE INDEX publications_of_assets ON publications USING gin (asset_hs) WHERE asset_hs IS NOT NULL;
SELECT tenant_table('publications');

-- Whose a published page is. It is asked for without a credential, by an address that
-- cannot be guessed. The function runs as its owner; its table is named with the schema
-- (see 0007).
-- +goose StatementBegin
DO $migration$
BEGIN
  EXECUTE format($define$
    CREATE FUNCTION find_publication(seg text, name text) RETURNS TABLE (tenant uuid, publication text)
      LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $body$
      SELECT p.tenant_id, p.publication_id FROM %1$I.publications p WHERE p.segment = seg AND p.slug = name AND p.unpublished_at IS NULL
    $body$ $define$, current_schema());
END $migration$;
-- +goose StatementEnd
CREATE POLICY lookup ON publications FOR SELECT TO CURRENT_USER USING (true);
REVOKE ALL ON FUNCTION find_publication(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_publication(text, text) TO vitrine_app;

-- +goose Down
DROP FUNCTION find_publication(text, text);
DROP TABLE publications;
