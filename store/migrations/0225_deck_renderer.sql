-- +goose Up

-- What drew a deck: the renderer of the service, or a browser; and why it was not the one that was asked for.
ALTER TABLE exports
  ADD COLUMN renderer      text NOT NULL DEFAULT '',
  ADD COLUMN renderer_note text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE exports DROP COLUMN renderer, DROP COLUMN renderer_note;
