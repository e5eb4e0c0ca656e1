package store_test

import (
	"context"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/indexstate"
	"vitrine/store/storetest"
)

// oldLibrary is what the version before the journal wrote: an upload, a change of title
// and tags, a link with a model that was weighed anew, a model version, one that was
// undone, and one that was undone and brought back.
const oldLibrary = `
INSERT INTO tenants (tenant_id, name) VALUES ('00000000-0000-4000-8000-00000000000a', 'old');
INSERT INTO assets (tenant_id, asset_h, sha256, blake3, filename, mime_type, size, title, tags, created_at, created_by, doc_version) VALUES
  ('00000000-0000-4000-8000-00000000000a', repeat('a', 40), repeat('a', 64), '', 'fox.png', 'image/png', 3, 'Fox', '{old,new}', now(), 'key_1', 4),
  ('00000000-0000-4000-8000-00000000000a', repeat('b', 40), repeat('b', 64), '', 'owl.png', 'image/png', 3, '', '{}', now(), 'key_1', 1);
INSERT INTO models (tenant_id, model_hash, type, name, display_name) VALUES ('00000000-0000-4000-8000-00000000000a', repeat('c', 40), 'lora', 'detail', 'detail');
INSERT INTO asset_models (tenant_id, asset_h, sequence, model_hash, name, weight, detection_source) VALUES
  ('00000000-0000-4000-8000-00000000000a', repeat('a', 40), 0, repeat('c', 40), 'detail', 0.7, 'manual_tag');
INSERT INTO operations (tenant_id, operation_id, tool, actor_kind, actor_id, undone_by) VALUES
  ('00000000-0000-4000-8000-00000000000a', '01-store', 'StoreAsset', 'key', 'key_1', NULL),
  ('00000000-0000-4000-8000-00000000000a', '02-title', 'UpdateAsset', 'key', 'key_1', NULL),
  ('00000000-0000-4000-8000-00000000000a', '03-link', 'LinkModelToAsset', 'key', 'key_1', NULL),
  ('00000000-0000-4000-8000-00000000000a', '04-weigh', 'LinkModelToAsset', 'key', 'key_1', NULL),
  ('00000000-0000-4000-8000-00000000000a', '05-version', 'AddModelVersion', 'key', 'key_1', NULL),
  ('00000000-0000-4000-8000-00000000000a', '06-gone', 'AddModelVersion', 'key', 'key_1', '07-undo'),
  ('00000000-0000-4000-8000-00000000000a', '07-undo', 'UndoOperation', 'key', 'key_1', NULL),
  ('00000000-0000-4000-8000-00000000000a', '08-back', 'UndoOperation', 'key', 'key_1', NULL);
INSERT INTO operation_changes (tenant_id, operation_id, asset_h, doc_version, before, after) VALUES
  ('00000000-0000-4000-8000-00000000000a', '01-store', repeat('b', 40), 1, '{"trashed": true}', '{"trashed": false}'),
  ('00000000-0000-4000-8000-00000000000a', '02-title', repeat('a', 40), 2, '{"title": "", "tags": ["old"]}', '{"title": "Fox", "tags": ["old", "new"]}'),
  ('00000000-0000-4000-8000-00000000000a', '03-link', repeat('a', 40), 3,
    jsonb_build_object('link', jsonb_build_object('model_hash', repeat('c', 40), 'detection_source', 'manual_tag', 'linked', false)),
    jsonb_build_object('link', jsonb_build_object('model_hash', repeat('c', 40), 'detection_source', 'manual_tag', 'linked', true))),
  ('00000000-0000-4000-8000-00000000000a', '04-weigh', repeat('a', 40), 4,
    jsonb_build_object('link', jsonb_build_object('model_hash', repeat('c', 40), 'detection_source', 'manual_tag', 'linked', true)),
    jsonb_build_object('link', jsonb_build_object('model_hash', repeat('c', 40), 'detection_source', 'manual_tag', 'linked', true, 'weight', 0.7)));
INSERT INTO model_versions (tenant_id, model_hash, version_id, version_tag, quality_score, training_config, created_by, operation_id, deleted_at, deleted_by) VALUES
  ('00000000-0000-4000-8000-00000000000a', repeat('c', 40), 'v-1', 'v1', 7.50, '{"rate": 1e-4, "steps": [1, 2]}', 'key_1', '05-version', NULL, NULL),
  ('00000000-0000-4000-8000-00000000000a', repeat('c', 40), 'v-2', 'v2', NULL, NULL, 'key_1', '06-gone', now(), '07-undo'),
  ('00000000-0000-4000-8000-00000000000a', repeat('c', 40), 'v-3', 'v3', NULL, NULL, 'key_1', '08-back', NULL, NULL);
INSERT INTO audit (tenant_id, actor_kind, actor_id, action, subject, operation_id, detail) VALUES
  ('00000000-0000-4000-8000-00000000000a', 'key', 'key_1', 'asset.updated', repeat('a', 40), '02-title', '{"title": "Fox"}');
INSERT INTO outbox (tenant_id, asset_h, doc_version, reason) VALUES ('00000000-0000-4000-8000-00000000000a', repeat('a', 40), 4, 'updated');
`

func TestJournal_ALibraryOfTheVersionBeforeKeepsItsUndoAndAudit(t *testing.T) {
	t.Parallel()
	url := testenv.Database(t, "before-the-journal", func(ctx context.Context, url string) error { return store.MigrateTo(ctx, url, 20) })
	ctx := t.Context()
	if _, err := storetest.Owner(t, url).Exec(ctx, oldLibrary); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Migrate(ctx, store.Config{URL: url}); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	actor := library.Actor{Kind: library.ActorKey, ID: "key_1", Tenant: "00000000-0000-4000-8000-00000000000a"}
	if v, err := s.Operations.Versions(ctx, actor.Tenant, indexstate.AssetIndex, "04-weigh"); err != nil || len(v) != 1 || v[0].Version != 4 {
		t.Errorf("an index token of before waits for %+v %v", v, err)
	}
	for _, step := range []struct{ operation, sql string }{
		{"04-weigh", `SELECT count(*) = 1 FROM asset_models WHERE weight IS NULL`},
		{"03-link", `SELECT count(*) = 0 FROM asset_models`},
		{"02-title", `SELECT title = '' AND tags = '{old}' FROM assets WHERE asset_h = repeat('a', 40)`},
		{"01-store", `SELECT trashed_at IS NOT NULL FROM assets WHERE asset_h = repeat('b', 40)`},
		{"05-version", `SELECT deleted_at IS NOT NULL FROM model_versions WHERE version_id = 'v-1'`},
		{"07-undo", `SELECT deleted_at IS NULL FROM model_versions WHERE version_id = 'v-2'`},
		{"08-back", `SELECT deleted_at IS NOT NULL FROM model_versions WHERE version_id = 'v-3'`},
	} {
		undone, err := s.Operations.Undo(ctx, actor, step.operation, anyone)
		if err != nil || undone.Counts[library.OutcomeReverted] != 1 || len(undone.Outcomes) != 1 {
			t.Errorf("undoing %s gave %+v %v", step.operation, undone, err)
			continue
		}
		var good bool
		if err := storetest.Owner(t, url).QueryRow(ctx, step.sql).Scan(&good); err != nil || !good {
			t.Errorf("undoing %s left something else than before: %v", step.operation, err)
		}
	}
	list, err := s.Operations.List(ctx, actor, store.OperationFilter{Key: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", Tool: "UpdateAsset"}, "", 10)
	if err != nil || len(list) != 1 || list[0].Changes["asset"] != 1 || list[0].UndoneBy == "" || list[0].Permission != library.PermWrite {
		t.Errorf("listed by the audit trail of before: %+v %v", list, err)
	}
	if n, err := s.Outbox.Claim(ctx, 10, func([]store.OutboxRow) error { return nil }); err != nil || n < 1 {
		t.Errorf("%d rows of the outbox, %v", n, err)
	}
	var undoes string
	if err := storetest.Owner(t, url).QueryRow(ctx, `SELECT undoes FROM operations WHERE operation_id = '07-undo'`).Scan(&undoes); err != nil || undoes != "06-gone" {
		t.Errorf("the old undo undoes %q %v", undoes, err)
	}
}

func TestJournal_MigrationGoesBackAndForth(t *testing.T) {
	t.Parallel()
	url := testenv.Database(t, "before-the-journal", func(ctx context.Context, url string) error { return store.MigrateTo(ctx, url, 20) })
	if _, err := storetest.Owner(t, url).Exec(t.Context(), oldLibrary); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(context.Context, string) error{
		func(ctx context.Context, url string) error { return store.MigrateTo(ctx, url, 40) },
		func(ctx context.Context, url string) error { return store.MigrateDownTo(ctx, url, 20) },
		func(ctx context.Context, url string) error { return store.MigrateTo(ctx, url, 40) },
		func(ctx context.Context, url string) error { return store.MigrateDownTo(ctx, url, 0) },
	} {
		if err := step(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	var tables int
	if err := storetest.Owner(t, url).QueryRow(t.Context(), `SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'goose%'`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables are left, %v", tables, err)
	}
}

// TestAudit_ALibraryOfTheVersionBeforeKeepsItsTrail migrates an audit trail that has no
// months, back, and again.
func TestAudit_ALibraryOfTheVersionBeforeKeepsItsTrail(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	url := testenv.Database(t, "before-the-months", func(ctx context.Context, url string) error { return store.MigrateTo(ctx, url, 70) })
	db := storetest.Owner(t, url)
	if _, err := db.Exec(ctx, `INSERT INTO tenants (tenant_id, name) VALUES ('00000000-0000-4000-8000-00000000000a', 'old')`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, `INSERT INTO audit (tenant_id, actor_kind, actor_id, action, subject, at)
		SELECT '00000000-0000-4000-8000-00000000000a', 'key', 'key_1', 'old', 'x' || i, now() - make_interval(months => i) FROM generate_series(0, 9) i`); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(context.Context, string) error{
		func(ctx context.Context, url string) error { return store.MigrateTo(ctx, url, 71) },
		func(ctx context.Context, url string) error { return store.MigrateDownTo(ctx, url, 70) },
		func(ctx context.Context, url string) error {
			_, err := store.Migrate(ctx, store.Config{URL: url})
			return err
		},
	} {
		if err := step(ctx, url); err != nil {
			t.Fatal(err)
		}
		var n, last int
		if err := db.QueryRow(ctx, `SELECT count(*), max(audit_id) FROM audit WHERE action = 'old'`).Scan(&n, &last); err != nil || n != 10 || last != 10 {
			t.Fatalf("%d rows up to number %d, %v", n, last, err)
		}
	}
	s, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	actor := library.Actor{Kind: library.ActorKey, ID: "key_1", Tenant: "00000000-0000-4000-8000-00000000000a"}
	if _, err := s.Assets.Add(ctx, actor, file("new")); err != nil {
		t.Fatal(err)
	}
	var first int
	if err := db.QueryRow(ctx, `SELECT min(audit_id) FROM audit WHERE action <> 'old'`).Scan(&first); err != nil || first != 11 {
		t.Errorf("the next row has number %d, %v", first, err)
	}
	if got, err := s.Expire(ctx, store.Retention{AuditMonths: 2}); err != nil || got.AuditRows != 7 {
		t.Errorf("deleted of ten months, keeping two and this one: %+v, %v", got, err)
	}
}
