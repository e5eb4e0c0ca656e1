-- +goose Up

-- Notes on nodes of assets' workflows, on assets as a whole, and on runs of experiments.
-- target_h names what a note is about; node_id is the node as the file has it, empty where
-- it is about no node.
CREATE TABLE annotations (
  tenant_id     uuid NOT NULL,
  asset_h       text COLLATE "C" NOT NULL,
  annotation_id text COLLATE "C" NOT NULL CHECK (annotation_id ~ '^[0-9a-f]{40}$'),
  target_h      text COLLATE "C" NOT NULL CHECK (target_h ~ '^[0-9a-f]{40}$'),
  node_id       text NOT NULL DEFAULT '',
  kind          text NOT NULL DEFAULT 'note' CHECK (kind IN ('note', 'evaluation')),
  content       text NOT NULL CHECK (char_length(content) BETWEEN 1 AND 10000),
  content_type  text NOT NULL DEFAULT 'text' CHECK (content_type IN ('text', 'markdown', 'json')),
  visibility    text NOT NULL DEFAULT 'team' CHECK (visibility IN ('private', 'team', 'public')),
  resolved      boolean NOT NULL DEFAULT false,
  version       integer NOT NULL DEFAULT 1,
  author        text COLLATE "C" NOT NULL,
  updated_by    text COLLATE "C" NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  deleted_at    timestamptz,
  PRIMARY KEY (tenant_id, asset_h, annotation_id),
  UNIQUE (tenant_id, annotation_id),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);
CREATE INDEX annotations_target ON annotations (tenant_id, target_h, created_at);
SELECT tenant_table('annotations');

-- Every state that an annotation ever had. Nobody writes it but the trigger below, which
-- also keeps what an undo makes of an annotation; nothing changes it.
CREATE TABLE annotation_versions (
  tenant_id     uuid NOT NULL,
  annotation_id text COLLATE "C" NOT NULL,
  version       integer NOT NULL,
  content       text NOT NULL,
  content_type  text NOT NULL,
  visibility    text NOT NULL,
  resolved      boolean NOT NULL,
  deleted       boolean NOT NULL,
  author        text COLLATE "C" NOT NULL,
  at            timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, annotation_id, version),
  FOREIGN KEY (tenant_id, annotation_id) REFERENCES annotations (tenant_id, annotation_id) ON DELETE CASCADE
);
SELECT tenant_table('annotation_versions', 'SELECT, INSERT');

-- +goose StatementBegin
CREATE FUNCTION annotations_supersede() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.content, NEW.content_type, NEW.visibility, NEW.resolved, NEW.deleted_at IS NULL)
    IS DISTINCT FROM (OLD.content, OLD.content_type, OLD.visibility, OLD.resolved, OLD.deleted_at IS NULL) THEN
    NEW.version := OLD.version + 1;
  ELSE
    NEW.version := OLD.version;
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER annotations_supersede BEFORE UPDATE ON annotations FOR EACH ROW EXECUTE FUNCTION annotations_supersede();

-- +goose StatementBegin
CREATE FUNCTION annotations_keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.version = OLD.version THEN
    RETURN NULL;
  END IF;
  INSERT INTO annotation_versions (tenant_id, annotation_id, version, content, content_type, visibility, resolved, deleted, author)
  VALUES (NEW.tenant_id, NEW.annotation_id, NEW.version, NEW.content, NEW.content_type, NEW.visibility, NEW.resolved, NEW.deleted_at IS NOT NULL, NEW.updated_by);
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER annotations_keep AFTER INSERT OR UPDATE ON annotations FOR EACH ROW EXECUTE FUNCTION annotations_keep();

-- +goose Down
DROP TABLE annotation_versions, annotations;
DROP FUNCTION annotations_keep(), annotations_supersede();
