-- +goose Up

-- Prompts are in an index of their own. doc_version is the version of a prompt's document:
-- it rises with every change of the prompt, of its versions and of its labels, whoever makes it,
-- and the index is told in the same transaction.
ALTER TABLE prompts ADD COLUMN doc_version bigint NOT NULL DEFAULT 1;

-- +goose StatementBegin
CREATE FUNCTION prompts_doc_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.doc_version := OLD.doc_version + 1;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER prompts_doc_version BEFORE UPDATE ON prompts FOR EACH ROW EXECUTE FUNCTION prompts_doc_version();

-- +goose StatementBegin
CREATE FUNCTION prompts_reindex() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (tenant_id, key, doc_version, reason, index_name) VALUES (NEW.tenant_id, NEW.prompt_h, NEW.doc_version, 'updated', 'prompts');
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER prompts_reindex AFTER INSERT OR UPDATE ON prompts FOR EACH ROW EXECUTE FUNCTION prompts_reindex();

-- prompt_part_reindex is for what a prompt's document shows of other tables.
-- +goose StatementBegin
CREATE FUNCTION prompt_part_reindex() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  part record := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
BEGIN
  UPDATE prompts SET doc_version = doc_version WHERE tenant_id = part.tenant_id AND prompt_h = part.prompt_h;
  RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER prompt_versions_reindex AFTER INSERT OR UPDATE OF body, deleted_at ON prompt_versions FOR EACH ROW EXECUTE FUNCTION prompt_part_reindex();
CREATE TRIGGER prompt_labels_reindex AFTER INSERT OR UPDATE OR DELETE ON prompt_labels FOR EACH ROW EXECUTE FUNCTION prompt_part_reindex();

-- +goose Down
DROP TRIGGER prompt_labels_reindex ON prompt_labels;
DROP TRIGGER prompt_versions_reindex ON prompt_versions;
DROP TRIGGER prompts_reindex ON prompts;
DROP TRIGGER prompts_doc_version ON prompts;
DROP FUNCTION prompt_part_reindex(), prompts_reindex(), prompts_doc_version();
ALTER TABLE prompts DROP COLUMN doc_version;
