-- +goose Up

-- Two roles do the service's work; neither owns a table, so row level security
-- binds both. vitrine_app serves tenants, one at a time. vitrine_indexer reads
-- every tenant, because one relay and one indexer serve them all, and it writes
-- nothing but the index's own bookkeeping.
-- Where this role may not make roles, an administrator has made the two before.
-- +goose StatementBegin
DO $$
DECLARE r text;
BEGIN
  FOREACH r IN ARRAY ARRAY['vitrine_app', 'vitrine_indexer'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = r) THEN
      BEGIN EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', r); EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END;
    END IF;
  END LOOP;
END $$;
-- +goose StatementEnd
-- A schema that an administrator made may be closed to other roles.
-- +goose StatementBegin
DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO vitrine_app, vitrine_indexer', current_schema()); END $$;
-- +goose StatementEnd

-- The tenant of this transaction. Null, hence no row at all, when none was set:
-- a forgotten tenant fails closed.
CREATE FUNCTION current_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT nullif(current_setting('app.tenant', true), '')::uuid $$;

CREATE TABLE tenants (
  tenant_id  uuid PRIMARY KEY,
  name       text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  key_id       text PRIMARY KEY,
  tenant_id    uuid NOT NULL REFERENCES tenants, -- the workspace it was made in: its default tenant
  key_hash     bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
  hint         text NOT NULL,                    -- the last characters, for people to tell keys apart
  name         text NOT NULL,
  permissions  text[] NOT NULL,
  more_tenants uuid[] NOT NULL DEFAULT '{}',
  created_at   timestamptz NOT NULL DEFAULT now(),
  expires_at   timestamptz,
  last_used_at timestamptz,
  revoked_at   timestamptz
);
CREATE INDEX api_keys_tenant ON api_keys (tenant_id, created_at);

CREATE TABLE assets (
  tenant_id    uuid NOT NULL REFERENCES tenants,
  asset_h      text COLLATE "C" NOT NULL CHECK (asset_h ~ '^[0-9a-f]{40}$'),
  sha256       text COLLATE "C" NOT NULL,
  blake3       text COLLATE "C" NOT NULL,
  title        text NOT NULL DEFAULT '',
  description  text NOT NULL DEFAULT '',
  filename     text NOT NULL,
  source_path  text NOT NULL DEFAULT '',
  mime_type    text NOT NULL,
  claimed_type text NOT NULL DEFAULT '',
  size         bigint NOT NULL CHECK (size > 0),
  width        integer NOT NULL DEFAULT 0,
  height       integer NOT NULL DEFAULT 0,
  duration_ms  bigint NOT NULL DEFAULT 0,
  status       text NOT NULL DEFAULT 'Draft'
               CHECK (status IN ('Draft','PendingApproval','Approved','Rejected','Archived')),
  tags         text[] NOT NULL DEFAULT '{}',
  parent_asset_h text COLLATE "C",
  metadata     jsonb,
  created_at   timestamptz NOT NULL,
  stored_at    timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  created_by   text NOT NULL,
  trashed_at   timestamptz,
  doc_version  bigint NOT NULL,
  PRIMARY KEY (tenant_id, asset_h)
);
CREATE INDEX assets_created ON assets (tenant_id, created_at DESC, asset_h);
CREATE INDEX assets_blake3 ON assets (tenant_id, blake3);
CREATE INDEX assets_filename ON assets (tenant_id, lower(filename));

-- The version an asset had when its row went away: should the same bytes come
-- back, their document must be newer than the tombstone in the index.
CREATE TABLE asset_tombstones (
  tenant_id   uuid NOT NULL REFERENCES tenants,
  asset_h     text COLLATE "C" NOT NULL,
  doc_version bigint NOT NULL,
  deleted_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, asset_h)
);

CREATE TABLE lineage (
  tenant_id      uuid NOT NULL,
  asset_h        text COLLATE "C" NOT NULL,
  source         text NOT NULL CHECK (source IN ('extracted','unknown')),
  parser_version integer NOT NULL,
  tool           text NOT NULL DEFAULT '',
  doc            json NOT NULL,  -- library.Lineage without its workflow graphs; json, because it is read whole far more often than asked for a part
  workflow       bytea,          -- the graphs as the file has them: gzip of {"workflow":…,"prompt":…}
  extracted_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, asset_h),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);

-- Everything a file carries as metadata, so that a better parser can read the
-- whole library again without the files.
CREATE TABLE lineage_raw (
  tenant_id uuid NOT NULL,
  asset_h   text COLLATE "C" NOT NULL,
  chunks    bytea NOT NULL, -- gzip of the JSON list of chunks
  PRIMARY KEY (tenant_id, asset_h),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);

CREATE TABLE lineage_assertions (
  tenant_id    uuid NOT NULL,
  asset_h      text COLLATE "C" NOT NULL,
  assertion_id text NOT NULL,
  assertion    jsonb NOT NULL,
  actor_id     text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, asset_h, assertion_id),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);

CREATE TABLE models (
  tenant_id     uuid NOT NULL REFERENCES tenants,
  model_hash    text COLLATE "C" NOT NULL CHECK (model_hash ~ '^[0-9a-f]{40}$'),
  type          text NOT NULL,
  name          text NOT NULL, -- as the first file that used it names it
  display_name  text NOT NULL,
  description   text NOT NULL DEFAULT '',
  base_model    text NOT NULL DEFAULT '',
  content_hashes text[] NOT NULL DEFAULT '{}',
  trigger_words text[] NOT NULL DEFAULT '{}',
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, model_hash)
);

CREATE TABLE asset_models (
  tenant_id        uuid NOT NULL,
  asset_h          text COLLATE "C" NOT NULL,
  sequence         integer NOT NULL,
  model_hash       text COLLATE "C" NOT NULL,
  node_id          text NOT NULL DEFAULT '',
  name             text NOT NULL, -- as this file names it
  weight           double precision,
  clip_weight      double precision,
  content_hash     text NOT NULL DEFAULT '',
  detection_source text NOT NULL, -- extracted, manual_tag, …
  PRIMARY KEY (tenant_id, asset_h, detection_source, sequence),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, model_hash) REFERENCES models
);
CREATE INDEX asset_models_model ON asset_models (tenant_id, model_hash);

-- The files an asset was made from, as it names them. parent_asset_h is filled
-- when such a file is, or later becomes, an asset of the tenant.
CREATE TABLE asset_parents (
  tenant_id      uuid NOT NULL,
  asset_h        text COLLATE "C" NOT NULL,
  position       integer NOT NULL,
  kind           text NOT NULL,
  name           text NOT NULL DEFAULT '',
  hash           text NOT NULL DEFAULT '',
  job_id         text NOT NULL DEFAULT '',
  node_id        text NOT NULL DEFAULT '',
  parent_asset_h text COLLATE "C",
  PRIMARY KEY (tenant_id, asset_h, position),
  FOREIGN KEY (tenant_id, asset_h) REFERENCES assets ON DELETE CASCADE
);
CREATE INDEX asset_parents_parent ON asset_parents (tenant_id, parent_asset_h) WHERE parent_asset_h IS NOT NULL;
CREATE INDEX asset_parents_open ON asset_parents (tenant_id, lower(name)) WHERE parent_asset_h IS NULL;

-- One row per write that a person could want back, with what it changed.
CREATE TABLE operations (
  tenant_id    uuid NOT NULL REFERENCES tenants,
  operation_id text COLLATE "C" NOT NULL,
  tool         text NOT NULL,
  actor_kind   text NOT NULL,
  actor_id     text NOT NULL,
  at           timestamptz NOT NULL DEFAULT now(),
  undone_by    text COLLATE "C", -- the operation that undid this one
  PRIMARY KEY (tenant_id, operation_id)
);
CREATE TABLE operation_changes (
  tenant_id    uuid NOT NULL,
  operation_id text COLLATE "C" NOT NULL,
  asset_h      text COLLATE "C" NOT NULL,
  doc_version  bigint NOT NULL, -- the asset's version after the change: what a search waits for
  before       jsonb NOT NULL,  -- the changed fields only
  after        jsonb NOT NULL,
  PRIMARY KEY (tenant_id, operation_id, asset_h),
  FOREIGN KEY (tenant_id, operation_id) REFERENCES operations ON DELETE CASCADE
);

-- Append-only: the service's roles may add and read, never change or delete.
CREATE TABLE audit (
  tenant_id    uuid NOT NULL REFERENCES tenants,
  audit_id     bigint GENERATED ALWAYS AS IDENTITY,
  at           timestamptz NOT NULL DEFAULT now(),
  actor_kind   text NOT NULL,
  actor_id     text NOT NULL,
  action       text NOT NULL,
  subject      text NOT NULL,
  operation_id text,
  detail       jsonb,
  PRIMARY KEY (tenant_id, audit_id)
);
CREATE INDEX audit_subject ON audit (tenant_id, subject, audit_id);

-- What the index must look at again. Rows are claimed with SKIP LOCKED and
-- deleted once Kafka has them; seq orders them for people, not for correctness.
-- Writers wake the relay after they committed: a NOTIFY inside the transaction
-- would make all commits of the database wait for each other.
CREATE TABLE outbox (
  seq         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id   uuid NOT NULL,
  asset_h     text COLLATE "C" NOT NULL,
  doc_version bigint NOT NULL,
  reason      text NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Documents the index refused, kept until they are settled.
CREATE TABLE index_failures (
  tenant_id   uuid NOT NULL,
  asset_h     text COLLATE "C" NOT NULL,
  doc_version bigint NOT NULL,
  reason      text NOT NULL,
  stripped    boolean NOT NULL, -- true: the asset is searchable, but without the refused parts
  at          timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, asset_h)
);

-- Which index generation serves reads and which is being built.
CREATE TABLE index_generations (
  name       text PRIMARY KEY,
  state      text NOT NULL CHECK (state IN ('building','live','retired')),
  created_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX index_generations_one_live ON index_generations (state) WHERE state = 'live';
CREATE UNIQUE INDEX index_generations_one_building ON index_generations (state) WHERE state = 'building';

-- Replies to requests that carried an Idempotency-Key, for 24 hours.
CREATE TABLE idempotency (
  tenant_id    uuid NOT NULL REFERENCES tenants,
  actor_id     text NOT NULL,
  key          text NOT NULL,
  request_hash bytea NOT NULL,
  response     jsonb, -- null while the first request is still running
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, actor_id, key)
);

-- The second wall: every table with a tenant_id shows and takes only rows of
-- the transaction's tenant. The first wall is the predicate in each statement.
-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['tenants','api_keys','assets','asset_tombstones','lineage','lineage_raw',
      'lineage_assertions','models','asset_models','asset_parents','operations','operation_changes',
      'audit','outbox','index_failures','idempotency']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON %I TO vitrine_app
      USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', t);
    EXECUTE format('CREATE POLICY every_tenant ON %I FOR SELECT TO vitrine_indexer USING (true)', t);
    EXECUTE format('GRANT SELECT, INSERT ON %I TO vitrine_app', t);
    EXECUTE format('GRANT SELECT ON %I TO vitrine_indexer', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['tenants','api_keys','assets','asset_tombstones','lineage','lineage_raw','models',
      'asset_models','asset_parents','operations','idempotency']
  LOOP
    EXECUTE format('GRANT UPDATE, DELETE ON %I TO vitrine_app', t);
  END LOOP;
  FOREACH t IN ARRAY ARRAY['outbox','index_failures']
  LOOP
    EXECUTE format('CREATE POLICY every_tenant_write ON %I TO vitrine_indexer USING (true) WITH CHECK (true)', t);
    EXECUTE format('GRANT INSERT, UPDATE, DELETE ON %I TO vitrine_indexer', t);
  END LOOP;
END $$;
-- +goose StatementEnd
REVOKE SELECT ON api_keys, idempotency FROM vitrine_indexer;
GRANT SELECT, INSERT, UPDATE, DELETE ON index_generations TO vitrine_indexer;
GRANT SELECT ON index_generations TO vitrine_app;

-- A request arrives with a key and no tenant yet. This one function may look
-- across tenants, and only by the hash of a whole key.
-- +goose StatementBegin
CREATE FUNCTION find_api_key(hash bytea)
  RETURNS TABLE (key_id text, tenant_id uuid, name text, permissions text[], more_tenants uuid[], expires_at timestamptz, revoked_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT k.key_id, k.tenant_id, k.name, k.permissions, k.more_tenants, k.expires_at, k.revoked_at
  FROM api_keys k WHERE k.key_hash = hash
$$;
-- +goose StatementEnd
-- Under FORCE, an owner that is no superuser would see no key either.
CREATE POLICY lookup ON api_keys FOR SELECT TO CURRENT_USER USING (true);
REVOKE ALL ON FUNCTION find_api_key(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_api_key(bytea) TO vitrine_app;

-- +goose Down
DROP TABLE idempotency, index_generations, index_failures, outbox, audit, operation_changes, operations, asset_parents,
  asset_models, models, lineage_assertions, lineage_raw, lineage, asset_tombstones, assets, api_keys, tenants;
DROP FUNCTION find_api_key(bytea), current_tenant();
