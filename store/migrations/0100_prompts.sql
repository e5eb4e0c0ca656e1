-- +goose Up

-- Prompts of the library: templates with versions. The hash of a prompt follows from its
-- first text and names it with all its versions.
-- +goose StatementBegin
CREATE FUNCTION prompt_words(name text, description text, category text, target_model text, tags text[]) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN setweight(to_tsvector('pg_catalog.english'::regconfig, name), 'A')
  || setweight(to_tsvector('pg_catalog.english'::regconfig, category || ' ' || target_model || ' ' || array_to_string(tags, ' ')), 'B')
  || setweight(to_tsvector('pg_catalog.english'::regconfig, description), 'C');
-- +goose StatementEnd
CREATE TABLE prompts (
  tenant_id    uuid NOT NULL,
  prompt_h     text COLLATE "C" NOT NULL,
  name         text NOT NULL DEFAULT '',
  description  text NOT NULL DEFAULT '',
  category     text NOT NULL DEFAULT '',
  target_model text NOT NULL DEFAULT '',
  tags         text[] NOT NULL DEFAULT '{}',
  created_at   timestamptz NOT NULL DEFAULT now(),
  created_by   text NOT NULL,
  updated_at   timestamptz NOT NULL DEFAULT now(),
  deleted_at   timestamptz,
  words        tsvector NOT NULL GENERATED ALWAYS AS (prompt_words(name, description, category, target_model, tags)) STORED,
  PRIMARY KEY (tenant_id, prompt_h)
);
SELECT tenant_table('prompts');

-- The versions of a prompt. anchor is a hash that the prompts of all renders of the text
-- have (package prompt); linked_at is when the images of the library were last compared with
-- the version, null when that is still to be done.
CREATE TABLE prompt_versions (
  tenant_id  uuid NOT NULL,
  version_h  text COLLATE "C" NOT NULL,
  prompt_h   text COLLATE "C" NOT NULL,
  number     integer NOT NULL CHECK (number > 0),
  body       text NOT NULL CHECK (body <> ''),
  text_h     text COLLATE "C" NOT NULL, -- the SHA-1 of the text
  message    text NOT NULL DEFAULT '',
  anchor     bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  deleted_at timestamptz,
  linked_at  timestamptz,
  words      tsvector NOT NULL GENERATED ALWAYS AS (setweight(to_tsvector('pg_catalog.english'::regconfig, body), 'D')) STORED,
  PRIMARY KEY (tenant_id, version_h),
  UNIQUE (tenant_id, prompt_h, number),
  FOREIGN KEY (tenant_id, prompt_h) REFERENCES prompts
);
-- A text is there once.
CREATE UNIQUE INDEX prompt_versions_text ON prompt_versions (tenant_id, text_h) WHERE deleted_at IS NULL;
CREATE INDEX prompt_versions_anchor ON prompt_versions (tenant_id, anchor) WHERE deleted_at IS NULL;
CREATE INDEX prompt_versions_unlinked ON prompt_versions (tenant_id) WHERE linked_at IS NULL;
SELECT tenant_table('prompt_versions');

-- Labels point at versions and can move.
CREATE TABLE prompt_labels (
  tenant_id uuid NOT NULL,
  prompt_h  text COLLATE "C" NOT NULL,
  label     text COLLATE "C" NOT NULL,
  version_h text COLLATE "C" NOT NULL,
  moved_at  timestamptz NOT NULL DEFAULT now(),
  moved_by  text NOT NULL,
  PRIMARY KEY (tenant_id, prompt_h, label),
  FOREIGN KEY (tenant_id, prompt_h) REFERENCES prompts,
  FOREIGN KEY (tenant_id, version_h) REFERENCES prompt_versions
);
CREATE INDEX prompt_labels_version ON prompt_labels (tenant_id, version_h);
SELECT tenant_table('prompt_labels');

-- What people and programs think of a version.
CREATE TABLE prompt_evaluations (
  tenant_id      uuid NOT NULL,
  evaluation_id  text COLLATE "C" NOT NULL,
  version_h      text COLLATE "C" NOT NULL,
  scores         jsonb NOT NULL, -- a number per dimension
  evaluator_type text NOT NULL,
  comments       text NOT NULL DEFAULT '',
  created_at     timestamptz NOT NULL DEFAULT now(),
  created_by     text NOT NULL,
  PRIMARY KEY (tenant_id, evaluation_id),
  FOREIGN KEY (tenant_id, version_h) REFERENCES prompt_versions
);
CREATE INDEX prompt_evaluations_version ON prompt_evaluations (tenant_id, version_h);
SELECT tenant_table('prompt_evaluations');

-- Assets whose extracted prompt is a render of a version. The rows follow from both.
CREATE TABLE prompt_links (
  tenant_id uuid NOT NULL,
  asset_h   text COLLATE "C" NOT NULL,
  version_h text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, asset_h, version_h),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, version_h) REFERENCES prompt_versions
);
CREATE INDEX prompt_links_version ON prompt_links (tenant_id, version_h, asset_h);
SELECT tenant_table('prompt_links');

-- The prompt of a file as a column, so that a new version can be compared with all files.
ALTER TABLE lineage ADD COLUMN positive text GENERATED ALWAYS AS (doc ->> 'positive') STORED;

-- prompt_versions_change is run for versions that come, go or come back. It waits for the
-- uploads that began before, which do not know of the change, and makes those wait that
-- begin later; and it has the images compared with the version.
-- +goose StatementBegin
CREATE FUNCTION prompt_versions_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND NEW.deleted_at IS NOT DISTINCT FROM OLD.deleted_at THEN
    RETURN NEW;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('prompts' || NEW.tenant_id, 0));
  NEW.linked_at := NULL;
  IF NEW.deleted_at IS NULL THEN
    PERFORM FROM prompts WHERE tenant_id = NEW.tenant_id AND prompt_h = NEW.prompt_h AND deleted_at IS NULL;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the prompt was deleted' USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'prompt_versions_prompt';
    END IF;
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER prompt_versions_change BEFORE INSERT OR UPDATE OF deleted_at ON prompt_versions
  FOR EACH ROW EXECUTE FUNCTION prompt_versions_change();

-- prompt_versions_kept refuses to delete a version that a label points at, and the first one,
-- which names the prompt, while there are others.
-- +goose StatementBegin
CREATE FUNCTION prompt_versions_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM changed x JOIN prompt_labels l ON l.tenant_id = x.tenant_id AND l.version_h = x.version_h WHERE x.deleted_at IS NOT NULL) THEN
    RAISE EXCEPTION 'the version is still referenced by a label' USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'prompt_versions_labels';
  END IF;
  IF EXISTS (SELECT FROM changed x JOIN prompt_versions v ON v.tenant_id = x.tenant_id AND v.prompt_h = x.prompt_h
      WHERE x.number = 1 AND x.deleted_at IS NOT NULL AND v.deleted_at IS NULL) THEN
    RAISE EXCEPTION 'the first version is still referenced by later ones' USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'prompt_versions_first';
  END IF;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER prompt_versions_kept AFTER UPDATE ON prompt_versions REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION prompt_versions_kept();

-- prompts_kept refuses to delete a prompt that still has versions.
-- +goose StatementBegin
CREATE FUNCTION prompts_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL
      AND EXISTS (SELECT FROM prompt_versions WHERE tenant_id = NEW.tenant_id AND prompt_h = NEW.prompt_h AND deleted_at IS NULL) THEN
    RAISE EXCEPTION 'the prompt is still referenced by its versions' USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'prompts_versions';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER prompts_kept BEFORE UPDATE OF deleted_at ON prompts FOR EACH ROW EXECUTE FUNCTION prompts_kept();

-- prompt_labels_live refuses a label on a version that was deleted.
-- +goose StatementBegin
CREATE FUNCTION prompt_labels_live() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM prompt_versions WHERE tenant_id = NEW.tenant_id AND version_h = NEW.version_h AND prompt_h = NEW.prompt_h AND deleted_at IS NULL FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the version was deleted' USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'prompt_labels_version';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER prompt_labels_live BEFORE INSERT OR UPDATE ON prompt_labels FOR EACH ROW EXECUTE FUNCTION prompt_labels_live();

-- +goose Down
ALTER TABLE lineage DROP COLUMN positive;
DROP TABLE prompt_links, prompt_evaluations, prompt_labels, prompt_versions, prompts;
DROP FUNCTION prompt_labels_live(), prompts_kept(), prompt_versions_kept(), prompt_versions_change(), prompt_words(text, text, text, text, text[]);
