-- +goose Up

-- Uploads that come in parts (tus). What is received here is staged durably; the parts are
-- staged files of their own until the last one has come, which makes one staged file of them.
CREATE TABLE uploads (
  tenant_id  uuid NOT NULL,
  upload_id  uuid NOT NULL,
  owner      text COLLATE "C" NOT NULL, -- who began it, the only one that may go on
  filename   text NOT NULL,
  metadata   text NOT NULL,             -- Upload-Metadata, as it was sent
  length     bigint NOT NULL CHECK (length > 0),
  received   bigint NOT NULL DEFAULT 0 CHECK (received BETWEEN 0 AND length),
  parts      text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, upload_id)
);
CREATE INDEX uploads_expiry ON uploads (expires_at);
SELECT tenant_table('uploads');

-- +goose Down
DROP TABLE uploads;
