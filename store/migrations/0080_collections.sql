-- +goose Up

CREATE EXTENSION IF NOT EXISTS ltree;

-- A tree of collections, at most five levels deep. parent_h and name say where a
-- collection is; path follows from them by the triggers below, for a collection that
-- is moved and for all below it. The path of a deleted collection is where it last was.
-- Searches for a subtree compare path as a text: row level security keeps the indexes
-- of ltree's operators from being used. tree checks what a path is.
CREATE TABLE collections (
  tenant_id       uuid NOT NULL REFERENCES tenants,
  collection_h    text COLLATE "C" NOT NULL CHECK (collection_h ~ '^[0-9a-f]{40}$'),
  parent_h        text COLLATE "C",
  name            text COLLATE "C" NOT NULL CHECK (name ~ '^[a-z0-9]{1,100}$'),
  path            text COLLATE "C" NOT NULL,
  tree            ltree GENERATED ALWAYS AS (text2ltree(path)) STORED,
  display_name    text NOT NULL DEFAULT '',
  description     text NOT NULL DEFAULT '',
  icon            text NOT NULL DEFAULT '',
  color           text NOT NULL DEFAULT '',
  branch_type     text NOT NULL DEFAULT '' CHECK (branch_type IN ('', 'branch', 'snapshot', 'template_instance')),
  source_h        text COLLATE "C",   -- what it is a branch of
  snapshot_label  text,
  saved_search_id text COLLATE "C",   -- a smart collection: it holds what this search finds
  frozen          boolean NOT NULL DEFAULT false, -- its items cannot be changed
  created_at      timestamptz NOT NULL DEFAULT now(),
  created_by      text NOT NULL,
  updated_at      timestamptz NOT NULL DEFAULT now(),
  deleted_at      timestamptz,
  PRIMARY KEY (tenant_id, collection_h),
  FOREIGN KEY (tenant_id, parent_h) REFERENCES collections,
  CONSTRAINT collections_depth CHECK (nlevel(tree) <= 5),
  CONSTRAINT collections_branch CHECK ((branch_type = '') = (source_h IS NULL) AND (snapshot_label IS NULL OR branch_type = 'snapshot'))
);
-- Siblings have different names.
CREATE UNIQUE INDEX collections_path ON collections (tenant_id, path) WHERE deleted_at IS NULL;
CREATE INDEX collections_parent ON collections (tenant_id, parent_h);
CREATE UNIQUE INDEX collections_snapshot_label ON collections (tenant_id, source_h, snapshot_label) WHERE snapshot_label IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX collections_saved_search ON collections (tenant_id, saved_search_id) WHERE saved_search_id IS NOT NULL;
SELECT tenant_table('collections');

-- The assets and text cards of a collection, in one order: by rank. A rank is a number
-- in base 36: twelve digits and a fraction, so there is always one between two others.
CREATE TABLE collection_items (
  tenant_id    uuid NOT NULL,
  collection_h text COLLATE "C" NOT NULL,
  item_id      text COLLATE "C" NOT NULL, -- the asset's hash, or the card's id
  asset_h      text COLLATE "C",
  card         jsonb,
  rank         text COLLATE "C" NOT NULL CHECK (rank ~ '^[0-9a-z]{12}([0-9a-z]*[1-9a-z])?$'),
  role         text NOT NULL DEFAULT '' CHECK (role IN ('', 'KeyVisual', 'SupportingElement', 'ReferenceMaterial', 'BackgroundAsset', 'Logo', 'Variation', 'Other')),
  added_at     timestamptz NOT NULL DEFAULT now(),
  added_by     text NOT NULL,
  PRIMARY KEY (tenant_id, collection_h, item_id),
  FOREIGN KEY (tenant_id, collection_h) REFERENCES collections ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE,
  CHECK (CASE WHEN card IS NULL THEN asset_h = item_id AND asset_h IS NOT NULL ELSE asset_h IS NULL AND role = '' END)
);
CREATE INDEX collection_items_rank ON collection_items (tenant_id, collection_h, rank, item_id) INCLUDE (asset_h);
CREATE INDEX collection_items_asset ON collection_items (tenant_id, asset_h);
SELECT tenant_table('collection_items');

-- What collections do not show: the trash, and what is private, which some see.
CREATE INDEX assets_hidden ON assets (tenant_id, asset_h) WHERE trashed_at IS NOT NULL OR visibility = 'private';

-- Collections whose members the index has yet to look at again, because a path above
-- them changed; after_item is the last item that was seen to.
CREATE TABLE collection_reindex (
  tenant_id    uuid NOT NULL,
  collection_h text COLLATE "C" NOT NULL,
  after_item   text COLLATE "C" NOT NULL DEFAULT '',
  queued_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, collection_h),
  FOREIGN KEY (tenant_id, collection_h) REFERENCES collections ON DELETE CASCADE
);
SELECT tenant_table('collection_reindex');

-- collections_place finds the path of a collection that is made, moved, renamed or
-- brought back. One such change of a tenant at a time, so that two of them cannot make
-- a cycle together.
-- +goose StatementBegin
CREATE FUNCTION collections_place() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE above text COLLATE "C";
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.frozen AND NOT NEW.frozen THEN
    RAISE EXCEPTION 'a snapshot stays frozen' USING ERRCODE = 'check_violation', CONSTRAINT = 'collections_frozen';
  END IF;
  IF NEW.deleted_at IS NOT NULL AND TG_OP = 'UPDATE' THEN
    RETURN NEW;
  END IF;
  IF TG_OP = 'UPDATE' AND NEW.name = OLD.name AND NEW.parent_h IS NOT DISTINCT FROM OLD.parent_h AND OLD.deleted_at IS NULL THEN
    RETURN NEW;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('collections' || NEW.tenant_id, 0));
  NEW.path := NEW.name;
  IF NEW.parent_h IS NOT NULL THEN
    SELECT path INTO above FROM collections WHERE tenant_id = NEW.tenant_id AND collection_h = NEW.parent_h AND deleted_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the parent collection does not exist' USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'collections_parent';
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.deleted_at IS NULL AND starts_with(above || '.', OLD.path || '.') THEN
      RAISE EXCEPTION 'a collection cannot be below itself' USING ERRCODE = 'check_violation', CONSTRAINT = 'collections_cycle';
    END IF;
    NEW.path := above || '.' || NEW.name;
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER collections_place BEFORE INSERT OR UPDATE OF parent_h, name, deleted_at, frozen ON collections
  FOR EACH ROW EXECUTE FUNCTION collections_place();

-- collections_subtree lets all below a collection follow it, and keeps one from being
-- deleted while there is something below it.
-- +goose StatementBegin
CREATE FUNCTION collections_subtree() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.deleted_at IS NOT NULL THEN
    IF OLD.deleted_at IS NULL AND EXISTS (SELECT FROM collections WHERE tenant_id = NEW.tenant_id AND parent_h = NEW.collection_h AND deleted_at IS NULL) THEN
      RAISE EXCEPTION 'the collection is still referenced by one below it' USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'collections_children';
    END IF;
  ELSIF OLD.deleted_at IS NULL AND NEW.path <> OLD.path THEN
    UPDATE collections SET path = NEW.path || substr(path, length(OLD.path) + 1)
    WHERE tenant_id = NEW.tenant_id AND path > OLD.path || '.' AND path < OLD.path || '/' AND deleted_at IS NULL;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER collections_subtree AFTER UPDATE OF parent_h, name, deleted_at ON collections
  FOR EACH ROW EXECUTE FUNCTION collections_subtree();

-- collection_items_frozen refuses changes of the items of a snapshot, and items in a
-- smart collection. What was deleted with its asset, or with the collection, may go.
-- +goose StatementBegin
CREATE FUNCTION collection_items_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE refused text;
BEGIN
  SELECT CASE WHEN c.frozen THEN 'collection_items_frozen' ELSE 'collection_items_smart' END INTO refused
  FROM changed x JOIN collections c ON c.tenant_id = x.tenant_id AND c.collection_h = x.collection_h
  WHERE (c.frozen OR c.saved_search_id IS NOT NULL)
    AND (TG_OP <> 'DELETE' OR x.asset_h IS NULL OR EXISTS (SELECT FROM assets a WHERE a.tenant_id = x.tenant_id AND a.asset_h = x.asset_h))
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'the items of this collection cannot be changed' USING ERRCODE = 'check_violation', CONSTRAINT = refused;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER collection_items_insert AFTER INSERT ON collection_items REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION collection_items_frozen();
CREATE TRIGGER collection_items_update AFTER UPDATE ON collection_items REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION collection_items_frozen();
CREATE TRIGGER collection_items_delete AFTER DELETE ON collection_items REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION collection_items_frozen();

-- +goose Down
DROP INDEX assets_hidden;
DROP TABLE collection_reindex, collection_items, collections;
DROP FUNCTION collection_items_frozen(), collections_subtree(), collections_place();
