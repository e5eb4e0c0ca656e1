-- +goose Up

-- An asset whose file lies where its owner keeps it: the library has no bytes of its own.
ALTER TABLE assets ADD COLUMN in_place boolean NOT NULL DEFAULT false;

-- Where files lie that are referenced in place. A row without until is where a file is now,
-- as far as the last look at it showed; the others are where assets were before. The rows
-- stay when their asset is purged, so that a scan need not read the file again.
CREATE TABLE originals (
  original_id bigint GENERATED ALWAYS AS IDENTITY,
  tenant_id   uuid NOT NULL REFERENCES tenants,
  asset_h     text COLLATE "C" NOT NULL,
  root        text COLLATE "C" NOT NULL CHECK (length(root) BETWEEN 1 AND 100), -- the name of a root that the operator allows
  path        bytea NOT NULL CHECK (length(path) BETWEEN 1 AND 2000),           -- below the root, with slashes; file names need not be text
  size        bigint NOT NULL CHECK (size > 0),
  modified    bigint NOT NULL,            -- nanoseconds since 1970, as the three below are what the file system says
  changed     bigint NOT NULL DEFAULT 0,  -- the time of the last change of the inode; 0 where the system has none
  inode       bigint NOT NULL DEFAULT 0,
  device      bigint NOT NULL DEFAULT 0,
  state       text NOT NULL DEFAULT 'intact' CHECK (state IN ('intact', 'changed', 'missing')),
  state_at    timestamptz NOT NULL DEFAULT now(),
  import_id   text,
  seen_at     timestamptz NOT NULL DEFAULT now(), -- when it was imported from here
  until       timestamptz,                        -- when it was found to be elsewhere, or something else to be here
  PRIMARY KEY (tenant_id, original_id)
);
CREATE UNIQUE INDEX originals_here ON originals (tenant_id, root, path) WHERE until IS NULL;
CREATE INDEX originals_asset ON originals (tenant_id, asset_h);
SELECT tenant_table('originals');
GRANT USAGE ON SEQUENCE originals_original_id_seq TO vitrine_app;

-- Bytes of files that are referenced in place are not stored, so they count towards no limit.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION count_storage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  whose uuid := coalesce(NEW.tenant_id, OLD.tenant_id);
  more bigint := CASE WHEN NEW.in_place THEN 0 ELSE coalesce(NEW.size, 0) END - CASE WHEN OLD.in_place THEN 0 ELSE coalesce(OLD.size, 0) END;
  now_limit bigint;
  now_used bigint;
BEGIN
  IF more = 0 THEN
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('storage ' || whose::text, 0));
  UPDATE tenant_limits SET storage_used = storage_used + more
    WHERE tenant_id = whose AND storage_used IS NOT NULL
    RETURNING storage_bytes, storage_used INTO now_limit, now_used;
  IF FOUND AND more > 0 AND now_used > now_limit THEN
    RAISE EXCEPTION 'the tenant stores all it may' USING ERRCODE = 'VTQ01', DETAIL = now_limit::text;
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
DROP TRIGGER count_storage ON assets;
CREATE CONSTRAINT TRIGGER count_storage AFTER INSERT OR DELETE OR UPDATE OF size, in_place ON assets
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_storage();

-- Imports of folders that the service reads itself. One process at a time holds a run.
CREATE TABLE imports (
  tenant_id   uuid NOT NULL REFERENCES tenants,
  import_id   text COLLATE "C" NOT NULL,
  root        text COLLATE "C" NOT NULL,
  folder      bytea NOT NULL,              -- below the root; empty: all of it
  state       text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'watching', 'completed', 'failed', 'cancelled')),
  options     jsonb NOT NULL DEFAULT '{}',
  counts      jsonb NOT NULL DEFAULT '{}',
  preset      text NOT NULL DEFAULT '',    -- what the folder looks like
  warnings    text[] NOT NULL DEFAULT '{}',
  error       text NOT NULL DEFAULT '',
  actor_kind  text NOT NULL,
  actor_id    text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  started_at  timestamptz,
  updated_at  timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  cancel      boolean NOT NULL DEFAULT false,
  holder      text NOT NULL DEFAULT '',
  held_until  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, import_id)
);
CREATE INDEX imports_open ON imports (held_until) WHERE state IN ('queued', 'running', 'watching');
SELECT tenant_table('imports');

-- What became of the files of an import, but for those that were stored or had not changed.
CREATE TABLE import_files (
  tenant_id uuid NOT NULL,
  import_id text COLLATE "C" NOT NULL,
  path      bytea NOT NULL,
  result    text NOT NULL CHECK (result IN ('failed', 'skipped', 'paired', 'moved', 'already_stored', 'trashed', 'purged', 'missing', 'changed', 'restored')),
  reason    text NOT NULL DEFAULT '',
  asset_h   text COLLATE "C" NOT NULL DEFAULT '',
  at        timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, import_id, path),
  FOREIGN KEY (tenant_id, import_id) REFERENCES imports ON DELETE CASCADE
);
SELECT tenant_table('import_files');

-- +goose Down
DROP TABLE import_files;
DROP TABLE imports;
DROP TABLE originals;
DROP TRIGGER count_storage ON assets;
CREATE CONSTRAINT TRIGGER count_storage AFTER INSERT OR DELETE OR UPDATE OF size ON assets
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_storage();
ALTER TABLE assets DROP COLUMN in_place;
