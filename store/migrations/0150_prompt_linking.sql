-- +goose Up

-- How far the library was compared with a version whose linked_at is null: the last asset.
-- link_round rises whenever that begins anew, so whoever compares with what the version was
-- before notices.
ALTER TABLE prompt_versions
  ADD COLUMN linked_after text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN link_round bigint NOT NULL DEFAULT 0;

-- +goose StatementBegin
CREATE FUNCTION prompt_versions_link_anew() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.linked_at IS NULL AND (OLD.linked_at IS NOT NULL OR NEW.deleted_at IS DISTINCT FROM OLD.deleted_at) THEN
    NEW.linked_after := '';
    NEW.link_round := OLD.link_round + 1;
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
-- It runs after prompt_versions_change, which sets linked_at: triggers run by their names.
CREATE TRIGGER prompt_versions_link_anew BEFORE UPDATE ON prompt_versions
  FOR EACH ROW EXECUTE FUNCTION prompt_versions_link_anew();

-- +goose Down
DROP TRIGGER prompt_versions_link_anew ON prompt_versions;
DROP FUNCTION prompt_versions_link_anew();
ALTER TABLE prompt_versions DROP COLUMN linked_after, DROP COLUMN link_round;
