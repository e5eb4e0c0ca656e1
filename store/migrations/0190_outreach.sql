-- +goose Up

-- A prospect is nothing but its rows; this table holds what else there is of it: who it was
-- found to be the same person as, and the version of its document. prospect_h is random, so that
-- it says nothing of anybody once the rows are erased.
CREATE TABLE prospects (
  tenant_id   uuid NOT NULL REFERENCES tenants,
  prospect_h  text COLLATE "C" NOT NULL CHECK (prospect_h ~ '^[0-9a-f]{40}$'),
  merged_into text COLLATE "C", -- the older record of the same person, which is never merged itself
  doc_version bigint NOT NULL DEFAULT 1,
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at  timestamptz NOT NULL DEFAULT now(),
  deleted_at  timestamptz, -- merged, erased, or every profile of it was taken back
  PRIMARY KEY (tenant_id, prospect_h),
  CHECK (merged_into <> prospect_h),
  CHECK (merged_into IS NULL OR deleted_at IS NOT NULL)
);
CREATE INDEX prospects_merged ON prospects (tenant_id, merged_into) WHERE merged_into IS NOT NULL;
SELECT tenant_table('prospects', 'SELECT, INSERT, UPDATE');

-- What was recorded of prospects. Rows are added, never changed: to take one back, another
-- row says so.
CREATE TABLE prospect_rows (
  tenant_id     uuid NOT NULL,
  row_id        bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  prospect_h    text COLLATE "C" NOT NULL,
  kind          text NOT NULL CHECK (kind IN ('profile', 'research', 'deal', 'owner', 'touch', 'reply', 'suppression', 'contact', 'retraction', 'restoration')),
  at            timestamptz NOT NULL,
  recorded_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  recorded_by   text NOT NULL,
  record_source text NOT NULL,
  external_id   text COLLATE "C",
  data          jsonb NOT NULL,
  PRIMARY KEY (tenant_id, row_id),
  FOREIGN KEY (tenant_id, prospect_h) REFERENCES prospects
);
CREATE INDEX prospect_rows_of ON prospect_rows (tenant_id, prospect_h, row_id);
CREATE INDEX prospect_rows_external ON prospect_rows (tenant_id, kind, external_id) WHERE external_id IS NOT NULL;
SELECT tenant_table('prospect_rows', 'SELECT, INSERT');

-- Nobody changes a row, the owner of the table included; erase_prospect alone removes some.
-- +goose StatementBegin
CREATE FUNCTION prospect_rows_are_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('vitrine.erasing', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'rows of prospects are only ever added' USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- +goose StatementEnd
CREATE TRIGGER prospect_rows_are_final BEFORE UPDATE OR DELETE ON prospect_rows FOR EACH ROW EXECUTE FUNCTION prospect_rows_are_final();
CREATE TRIGGER prospect_rows_stay BEFORE TRUNCATE ON prospect_rows FOR EACH STATEMENT EXECUTE FUNCTION prospect_rows_are_final();

-- The normalized keys of live profiles, by the record that they were registered under.
CREATE TABLE prospect_keys (
  tenant_id  uuid NOT NULL,
  kind       text COLLATE "C" NOT NULL,
  value      text COLLATE "C" NOT NULL,
  prospect_h text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant_id, kind, value, prospect_h),
  FOREIGN KEY (tenant_id, prospect_h) REFERENCES prospects
);
CREATE INDEX prospect_keys_of ON prospect_keys (tenant_id, prospect_h);
SELECT tenant_table('prospect_keys', 'SELECT, INSERT, DELETE');

-- What stays of somebody whose data was erased: salted hashes of the keys, so that the same
-- person is not written to again.
CREATE TABLE prospect_marks (
  tenant_id  uuid NOT NULL REFERENCES tenants,
  mark       text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, mark)
);
SELECT tenant_table('prospect_marks', 'SELECT');

-- What the marks of a tenant are salted with; made at the first erasure.
CREATE TABLE prospect_salts (
  tenant_id uuid PRIMARY KEY REFERENCES tenants,
  salt      text NOT NULL DEFAULT gen_random_uuid()::text || gen_random_uuid()::text
);
SELECT tenant_table('prospect_salts', 'SELECT');

-- Whether a tenant has outreach at all.
ALTER TABLE tenant_limits ADD COLUMN outreach boolean NOT NULL DEFAULT true;

-- erase_prospect removes all that is known of one person of the transaction's tenant: the rows
-- of all its records, the keys, and kept responses that name it. The journal, the audit trail
-- and events never had any values. Marks of the personal keys stay. It returns the records, whose
-- documents the caller has removed.
-- +goose StatementBegin
DO $migration$
BEGIN
  EXECUTE format($define$
    CREATE FUNCTION erase_prospect(person text, OUT records text[], OUT erased bigint)
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = %1$I, pg_temp AS $body$
      DECLARE
        whose uuid := current_tenant();
        salted text;
        record_h text;
      BEGIN
        SELECT array_agg(p.prospect_h) INTO records FROM prospects p WHERE p.tenant_id = whose AND person IN (p.prospect_h, p.merged_into);
        INSERT INTO prospect_salts (tenant_id) VALUES (whose) ON CONFLICT DO NOTHING;
        SELECT s.salt INTO salted FROM prospect_salts s WHERE s.tenant_id = whose;
        INSERT INTO prospect_marks (tenant_id, mark)
          SELECT DISTINCT whose, encode(sha256(convert_to(salted || ' ' || k.kind || ' ' || k.value, 'UTF8')), 'hex')
          FROM prospect_keys k WHERE k.tenant_id = whose AND k.prospect_h = ANY (records)
            AND (k.kind IN ('email', 'profile_url', 'handle') OR k.kind = 'linkedin_url' AND k.value LIKE 'linkedin.com/in/%%')
          ON CONFLICT DO NOTHING;
        DELETE FROM prospect_keys k WHERE k.tenant_id = whose AND k.prospect_h = ANY (records);
        PERFORM set_config('vitrine.erasing', 'on', true);
        DELETE FROM prospect_rows r WHERE r.tenant_id = whose AND r.prospect_h = ANY (records);
        GET DIAGNOSTICS erased = ROW_COUNT;
        PERFORM set_config('vitrine.erasing', 'off', true);
        FOREACH record_h IN ARRAY coalesce(records, '{}') LOOP
          DELETE FROM idempotency i WHERE i.tenant_id = whose AND i.response::text LIKE '%%' || record_h || '%%';
        END LOOP;
      END $body$ $define$, current_schema());
END $migration$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION erase_prospect(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_prospect(text) TO vitrine_app;
-- Under FORCE, an owner that is no superuser would see no row.
CREATE POLICY erase ON prospects TO CURRENT_USER USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY erase ON prospect_rows TO CURRENT_USER USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY erase ON prospect_keys TO CURRENT_USER USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY erase ON prospect_marks TO CURRENT_USER USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY erase ON prospect_salts TO CURRENT_USER USING (tenant_id = (SELECT current_tenant()));
CREATE POLICY erase_prospect ON idempotency TO CURRENT_USER USING (tenant_id = (SELECT current_tenant()));

-- +goose Down
DROP POLICY erase_prospect ON idempotency;
DROP FUNCTION erase_prospect(text);
ALTER TABLE tenant_limits DROP COLUMN outreach;
DROP TABLE prospect_salts, prospect_marks, prospect_keys, prospect_rows, prospects;
DROP FUNCTION prospect_rows_are_final();
