-- +goose Up

-- The version of what the answer to a write shows, for the ETag of a repeated request.
ALTER TABLE idempotency ADD COLUMN version text NOT NULL DEFAULT '';

-- What is said of an experiment has a version, which every change raises, an undo too.
ALTER TABLE experiments ADD COLUMN version bigint NOT NULL DEFAULT 1;
-- +goose StatementBegin
CREATE FUNCTION experiments_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.version := OLD.version + 1;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER experiments_version BEFORE UPDATE ON experiments FOR EACH ROW EXECUTE FUNCTION experiments_version();

-- +goose Down
DROP TRIGGER experiments_version ON experiments;
DROP FUNCTION experiments_version();
ALTER TABLE experiments DROP COLUMN version;
ALTER TABLE idempotency DROP COLUMN version;
