package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/service/servicetest"
)

// TestPipelines_AKilledRunGoesOnWithEachEffectOnce kills the service with no warning again and again
// during one run whose stages have several parts: with a part written and not committed, and with it
// committed while the process does not know it. The run then reports what one that nobody interrupts
// does, has changed each asset once, and is taken back as a whole.
func TestPipelines_AKilledRunGoesOnWithEachEffectOnce(t *testing.T) {
	t.Parallel()
	const assets = 2100 // three parts
	k := newKilledWith(t, servicetest.Config(t), library.PermRead, library.PermSearch, library.PermWrite, library.PermAdmin)
	p := serve(t, k.cfg, "", "api")
	c, err := k.api.CreateCollection(t.Context(), client.CreateCollectionInput{Name: "Source"})
	if err != nil {
		t.Fatal(err)
	}
	k.insertMembers(c.CollectionH, assets)
	stages := []map[string]any{
		{"type": "collection", "config": map[string]any{"path": "source"}},
		{"type": "sort", "config": map[string]any{"by": "filename"}},
		{"type": "compute", "config": map[string]any{"field": "metadata.runs", "expression": "coalesce(metadata.runs, 0) + 1"}},
		{"type": "add_to_collection", "config": map[string]any{"path": "picked.once", "create_if_missing": true}},
		{"type": "notify", "config": map[string]any{"event_type": "pipeline.notified", "confirm": true}},
		{"type": "delete", "config": map[string]any{"confirm": true}},
		{"type": "count", "config": map[string]any{}},
	}
	whole := k.run(stages)
	k.checkRun(whole, assets, 1)
	k.undo(whole.OperationID, assets)
	p.stop()

	// Every second process dies behind three parts of the run, the others before their fourth is committed.
	var within []int // the stages that were interrupted between their parts
	for n, point := range []string{"runs.part_written:10", "runs.part_committed:3", "runs.part_written:4", "runs.part_committed:3", "runs.part_written:4"} {
		p := serve(t, k.cfg, point, "api", "work")
		if n == 0 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if out, err := k.api.ExecutePipeline(ctx, client.ExecutePipelineInput{Stages: stages, TimeoutMS: 60_000}); err == nil {
				t.Fatalf("the run was not interrupted: %+v", out)
			}
			cancel()
		}
		name, _, _ := strings.Cut(point, ":")
		p.awaitDeath(name)
		if left := k.count(`SELECT count(*) FROM pipeline_runs WHERE state = 'running' AND claimed_until > now()`); left != 1 {
			t.Fatalf("after kill %d %d runs are claimed", n+1, left)
		}
		if k.count(`SELECT (progress ->> 'chunk')::int FROM pipeline_runs WHERE state = 'running'`) > 0 {
			within = append(within, k.count(`SELECT (progress ->> 'stage')::int FROM pipeline_runs WHERE state = 'running'`))
		}
		// Others wait until the claim of a killed process has run out.
		k.exec(`UPDATE pipeline_runs SET claimed_until = now() - interval '1 second', created_at = created_at - interval '1 minute' WHERE state = 'running'`)
	}
	if !slices.Equal(within, []int{2, 3, 5}) {
		t.Errorf("the stages %v were interrupted between their parts, want those that change assets", within)
	}
	p = serve(t, k.cfg, "", "api", "work")
	defer p.stop()
	got := k.awaitRun(t)
	k.checkRun(got, assets, 2)
	sameStages(t, got.Stages, whole.Stages)
	k.undo(got.OperationID, assets)
}

// awaitRun waits until the newest run has ended, and returns it.
func (k killed) awaitRun(t *testing.T) (got client.PipelineTrace) {
	t.Helper()
	servicetest.Eventually(t, "the run ends", func() error {
		out, err := k.api.GetPipelineRun(t.Context(), client.GetPipelineRunInput{Limit: 1})
		if err == nil {
			if got = out.Runs[0]; got.State == "queued" || got.State == "running" {
				err = fmt.Errorf("it is %s", got.State)
			}
		}
		return err
	})
	return got
}

// sameStages compares the stages of a run that was interrupted with those of one that nobody interrupted.
func sameStages(t *testing.T, got, whole []client.StageTrace) {
	t.Helper()
	for i, s := range got {
		w := whole[i]
		if s.State != w.State || s.InputCount != w.InputCount || s.OutputCount != w.OutputCount || fmt.Sprint(s.Effects) != fmt.Sprint(w.Effects) {
			t.Errorf("stage %d: %s, %d → %d, %v; it is %s, %d → %d, %v where nobody interrupts", i, s.State, s.InputCount, s.OutputCount, s.Effects, w.State, w.InputCount, w.OutputCount, w.Effects)
		}
	}
}

// insertMembers writes rows of assets, of which there are no files, into a collection.
func (k killed) insertMembers(collection string, n int) {
	k.t.Helper()
	for _, table := range []string{"assets", "collection_items"} {
		k.exec(`ALTER TABLE ` + table + ` NO FORCE ROW LEVEL SECURITY`)
	}
	k.exec(fmt.Sprintf(`INSERT INTO assets (tenant_id, asset_h, sha256, blake3, filename, mime_type, size, created_at, created_by, doc_version)
		SELECT tenant_id, lpad(to_hex(n), 40, '0'), lpad(to_hex(n), 64, '0'), lpad(to_hex(n), 64, '0'), 'file-' || n || '.png', 'image/png', 1, now(), 'test', 1
		FROM collections, generate_series(1, %d) n WHERE collection_h = '%s'`, n, collection))
	k.exec(fmt.Sprintf(`INSERT INTO collection_items (tenant_id, collection_h, item_id, asset_h, rank, added_by)
		SELECT tenant_id, '%s', asset_h, asset_h, right(asset_h, 12), 'test' FROM assets`, collection))
	for _, table := range []string{"assets", "collection_items"} {
		k.exec(`ALTER TABLE ` + table + ` FORCE ROW LEVEL SECURITY`)
	}
}

// run runs a pipeline to its end.
func (k killed) run(stages []map[string]any) client.PipelineTrace {
	k.t.Helper()
	out, err := k.api.ExecutePipeline(k.t.Context(), client.ExecutePipelineInput{Stages: stages, TimeoutMS: 60_000})
	if err != nil || out.State != "completed" {
		k.t.Fatalf("the run: %+v, %v", out, err)
	}
	return out
}

// checkRun checks what the run has done to each of the assets, and that so many runs have told of
// their beginning, their stage and their end once each.
func (k killed) checkRun(run client.PipelineTrace, assets, runs int) {
	k.t.Helper()
	if run.State != "completed" || run.ChangedCount < int64(3*assets) {
		k.t.Errorf("the run: %s, %d changes, %+v", run.State, run.ChangedCount, run.Error)
	}
	for what, want := range map[string]int{
		`assets WHERE metadata ->> 'runs' = '1' AND trashed_at IS NOT NULL`:                                                         assets,
		`collection_items i JOIN collections c USING (tenant_id, collection_h) WHERE c.path = 'picked.once' AND deleted_at IS NULL`: assets,
	} {
		if n := k.count(`SELECT count(*) FROM ` + what); n != want {
			k.t.Errorf("%d of %s, want %d", n, what, want)
		}
	}
	for _, kind := range []string{"pipeline.started", "pipeline.notified", "pipeline.completed"} {
		if n := k.count(fmt.Sprintf(`SELECT (SELECT count(*) FROM outbox WHERE topic = 'events' AND type = '%[1]s') + (SELECT count(*) FROM events WHERE type = '%[1]s')`, kind)); n != runs {
			k.t.Errorf("%d runs emitted %s %d times", runs, kind, n)
		}
	}
}

// undo takes a run back and checks that nothing of it is left.
func (k killed) undo(operation string, assets int) {
	k.t.Helper()
	if _, err := k.api.UndoOperation(k.t.Context(), client.UndoOperationInput{OperationID: operation}); err != nil {
		k.t.Fatal(err)
	}
	clean := k.count(`SELECT count(*) FROM assets WHERE NOT coalesce(metadata, '{}') ? 'runs' AND trashed_at IS NULL`)
	picked := k.count(`SELECT count(*) FROM collections WHERE path LIKE 'picked%' AND deleted_at IS NULL`)
	if clean != assets || picked != 0 {
		k.t.Errorf("after the undo %d of %d assets are as they were, and %d collections are left", clean, assets, picked)
	}
}
