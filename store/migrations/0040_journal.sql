-- +goose Up

-- What an operation was and needed. An undo is an operation that names the one it
-- undid; both need the same permission.
ALTER TABLE operations
  ADD COLUMN permission text NOT NULL DEFAULT 'write',
  ADD COLUMN request_id text NOT NULL DEFAULT '',
  ADD COLUMN undoes     text COLLATE "C",
  ADD COLUMN summary    jsonb NOT NULL DEFAULT '{}'; -- changes per noun
CREATE INDEX operations_actor ON operations (tenant_id, actor_id, operation_id);

-- What operations changed, whatever its kind: only the fields that changed. before
-- is null where the operation created the thing, after where it deleted it.
CREATE TABLE journal (
  tenant_id    uuid NOT NULL,
  operation_id text COLLATE "C" NOT NULL,
  position     bigint NOT NULL, -- the order of the changes within the operation
  noun         text COLLATE "C" NOT NULL,
  key          text COLLATE "C" NOT NULL,
  before       jsonb,
  after        jsonb,
  PRIMARY KEY (tenant_id, operation_id, position),
  FOREIGN KEY (tenant_id, operation_id) REFERENCES operations ON DELETE CASCADE
);

-- The documents that an operation changed and the version that each had after it:
-- what a search waits for.
CREATE TABLE operation_documents (
  tenant_id    uuid NOT NULL,
  operation_id text COLLATE "C" NOT NULL,
  index_name   text COLLATE "C" NOT NULL,
  key          text COLLATE "C" NOT NULL,
  version      bigint NOT NULL,
  PRIMARY KEY (tenant_id, operation_id, index_name, key),
  FOREIGN KEY (tenant_id, operation_id) REFERENCES operations ON DELETE CASCADE
);

-- Forced row security would hide the rows from an owner that is no superuser.
ALTER TABLE operations NO FORCE ROW LEVEL SECURITY;
ALTER TABLE operation_changes NO FORCE ROW LEVEL SECURITY;
ALTER TABLE model_versions NO FORCE ROW LEVEL SECURITY;

INSERT INTO journal (tenant_id, operation_id, position, noun, key, before, after)
SELECT tenant_id, operation_id, row_number() OVER (PARTITION BY tenant_id, operation_id ORDER BY asset_h, noun, key), noun, key, before, after
FROM (
  SELECT tenant_id, operation_id, asset_h, 'asset' AS noun, asset_h AS key, before - 'link' AS before, after - 'link' AS after
    FROM operation_changes WHERE after - 'link' <> '{}'
  UNION ALL
  SELECT tenant_id, operation_id, asset_h, 'model_link', asset_h || '/' || (after #>> '{link,model_hash}') || '/' || (after #>> '{link,detection_source}'),
      CASE WHEN (before #>> '{link,linked}')::boolean THEN jsonb_build_object('weight', before #> '{link,weight}') END,
      CASE WHEN (after #>> '{link,linked}')::boolean THEN jsonb_build_object('weight', after #> '{link,weight}') END
    FROM operation_changes WHERE after ? 'link'
  UNION ALL
  -- A version that an undo brought back or deleted was not created by it.
  SELECT v.tenant_id, v.operation_id, '', 'model_version', v.version_id,
      CASE WHEN o.tool = 'UndoOperation' THEN jsonb_build_object('deleted_at', o.at) END,
      CASE WHEN o.tool = 'UndoOperation' THEN jsonb_build_object('deleted_at', NULL)
        ELSE to_jsonb(v) - '{tenant_id,version_id,operation_id,deleted_by}'::text[] || '{"deleted_at": null}' END
    FROM model_versions v JOIN operations o USING (tenant_id, operation_id)
  UNION ALL
  SELECT v.tenant_id, v.deleted_by, '', 'model_version', v.version_id, jsonb_build_object('deleted_at', NULL), jsonb_build_object('deleted_at', v.deleted_at)
    FROM model_versions v JOIN operations o ON o.tenant_id = v.tenant_id AND o.operation_id = v.deleted_by
) AS changes;

INSERT INTO operation_documents (tenant_id, operation_id, index_name, key, version)
SELECT tenant_id, operation_id, 'assets', asset_h, doc_version FROM operation_changes;

UPDATE operations o SET summary = s.counts
FROM (SELECT tenant_id, operation_id, jsonb_object_agg(noun, n) AS counts
      FROM (SELECT tenant_id, operation_id, noun, count(*) AS n FROM journal GROUP BY 1, 2, 3) AS c GROUP BY 1, 2) AS s
WHERE o.tenant_id = s.tenant_id AND o.operation_id = s.operation_id;
UPDATE operations o SET undoes = u.operation_id FROM operations u WHERE u.tenant_id = o.tenant_id AND u.undone_by = o.operation_id;

ALTER TABLE operations FORCE ROW LEVEL SECURITY;
ALTER TABLE model_versions FORCE ROW LEVEL SECURITY;
DROP TABLE operation_changes;
DROP INDEX model_versions_operation, model_versions_deleted_by;
ALTER TABLE model_versions DROP COLUMN operation_id, DROP COLUMN deleted_by;

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
  FOREACH t IN ARRAY ARRAY['journal','operation_documents'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
    EXECUTE format('CREATE POLICY tenant ON %I TO vitrine_app
      USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()))', t);
    EXECUTE format('CREATE POLICY every_tenant ON %I FOR SELECT TO vitrine_indexer USING (true)', t);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON %I TO vitrine_app', t);
    EXECUTE format('GRANT SELECT ON %I TO vitrine_indexer', t);
  END LOOP;
END $$;
-- +goose StatementEnd
GRANT UPDATE ON operation_documents TO vitrine_app;

-- An outbox row is either a document that the index must look at again (topic
-- "documents") or an event for subscribers (topic "events").
ALTER TABLE outbox
  ADD COLUMN topic   text COLLATE "C" NOT NULL DEFAULT 'documents',
  ADD COLUMN key     text COLLATE "C",
  ADD COLUMN type    text COLLATE "C",
  ADD COLUMN payload jsonb,
  ALTER COLUMN asset_h DROP NOT NULL,
  ALTER COLUMN doc_version DROP NOT NULL,
  ALTER COLUMN reason DROP NOT NULL,
  ADD CONSTRAINT outbox_topic CHECK (CASE topic WHEN 'documents' THEN asset_h IS NOT NULL AND doc_version IS NOT NULL AND reason IS NOT NULL
    ELSE key IS NOT NULL AND type IS NOT NULL AND payload IS NOT NULL END);
CREATE INDEX outbox_topic ON outbox (topic, seq) WHERE topic <> 'documents';

-- +goose Down
DELETE FROM outbox WHERE topic <> 'documents';
DROP INDEX outbox_topic;
ALTER TABLE outbox DROP CONSTRAINT outbox_topic, DROP COLUMN topic, DROP COLUMN key, DROP COLUMN type, DROP COLUMN payload,
  ALTER COLUMN asset_h SET NOT NULL, ALTER COLUMN doc_version SET NOT NULL, ALTER COLUMN reason SET NOT NULL;
ALTER TABLE model_versions
  ADD COLUMN operation_id text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN deleted_by   text COLLATE "C";
CREATE INDEX model_versions_operation ON model_versions (tenant_id, operation_id);
CREATE INDEX model_versions_deleted_by ON model_versions (tenant_id, deleted_by) WHERE deleted_by IS NOT NULL;
CREATE TABLE operation_changes (
  tenant_id    uuid NOT NULL,
  operation_id text COLLATE "C" NOT NULL,
  asset_h      text COLLATE "C" NOT NULL,
  doc_version  bigint NOT NULL,
  before       jsonb NOT NULL,
  after        jsonb NOT NULL,
  PRIMARY KEY (tenant_id, operation_id, asset_h),
  FOREIGN KEY (tenant_id, operation_id) REFERENCES operations ON DELETE CASCADE
);
ALTER TABLE operation_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE operation_changes FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON operation_changes TO vitrine_app
  USING (tenant_id = (SELECT current_tenant())) WITH CHECK (tenant_id = (SELECT current_tenant()));
CREATE POLICY every_tenant ON operation_changes FOR SELECT TO vitrine_indexer USING (true);
GRANT SELECT, INSERT ON operation_changes TO vitrine_app;
GRANT SELECT ON operation_changes TO vitrine_indexer;
DROP TABLE operation_documents, journal;
DROP INDEX operations_actor;
ALTER TABLE operations DROP COLUMN permission, DROP COLUMN request_id, DROP COLUMN undoes, DROP COLUMN summary;
