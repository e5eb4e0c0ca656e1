package pipeline_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"vitrine/library"
)

// TestRun_SaysWhatChangedSinceItsDryRun changes the library between dry runs and runs.
func TestRun_SaysWhatChangedSinceItsDryRun(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(8, 8)), 8)
	e.exec(`UPDATE assets SET rating = 3 WHERE asset_h = ANY($1)`, hashes(e.all[:4]))
	e.exec(`UPDATE assets SET rating = 1 WHERE asset_h = ANY($1)`, hashes(e.all[4:]))
	const text = `search | where rating = 3 | set_tag kept | delete`
	since := func(text string) *library.DryRunChange {
		t.Helper()
		r := e.text(text, false)
		if r.Progress.Changed > 0 {
			defer e.undo(r)
		}
		if r.State != library.RunCompleted {
			t.Fatalf("%s: %s %+v", text, r.State, r.Progress.Error)
		}
		return r.Progress.SinceDryRun
	}
	confirmed := text + ` confirm=true`
	if d := since(confirmed); d != nil {
		t.Errorf("without a dry run: %+v", d)
	}
	dry := e.text(text, true)
	if dry.Progress.SinceDryRun != nil || len(e.set(dry)) != 0 {
		t.Errorf("a dry run says %+v, its last set has %d assets", dry.Progress.SinceDryRun, len(e.set(dry)))
	}
	if d := since(confirmed); d == nil || *d != (library.DryRunChange{RunID: dry.ID}) {
		t.Errorf("nothing changed: %+v", d)
	}
	e.exec(`UPDATE assets SET rating = 3 WHERE asset_h = ANY($1)`, hashes(e.all[4:6]))
	e.exec(`UPDATE assets SET rating = 0 WHERE asset_h = $1`, string(e.all[0]))
	if d := since(confirmed); d == nil || d.RunID != dry.ID || d.Added != 2 || d.Removed != 1 || !strings.Contains(d.Warning, "changed since the dry run") {
		t.Errorf("two assets came and one went: %+v", d)
	}
	if d := since(`search | where rating >= 3 | set_tag kept | delete confirm=true`); d != nil {
		t.Errorf("other stages: %+v", d)
	}
	e.exec(`UPDATE pipeline_runs SET actor = jsonb_set(actor, '{ID}', '"key_other"') WHERE run_id = $1`, dry.ID)
	if d := since(confirmed); d != nil {
		t.Errorf("somebody else's dry run: %+v", d)
	}
	e.exec(`UPDATE pipeline_runs SET actor = jsonb_set(actor, '{ID}', '"key_admin"'), created_at = now() - interval '61 minutes' WHERE run_id = $1`, dry.ID)
	if d := since(confirmed); d != nil {
		t.Errorf("a dry run of more than an hour ago: %+v", d)
	}
}

func hashes(list []library.AssetHash) (texts []string) {
	for _, h := range list {
		texts = append(texts, string(h))
	}
	return texts
}
