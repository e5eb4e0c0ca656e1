package pipeline_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vitrine/library"
	"vitrine/pipeline"
	"vitrine/store"
)

// TestRun_AStageThatCannotChangeAnAssetFailsOrLeavesItOut runs every stage that may be unable to change one of
// three assets, in dry run and run, with and without on_error: skip.
func TestRun_AStageThatCannotChangeAnAssetFailsOrLeavesItOut(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for i, owner := range []string{"key_studio", "key_studio", "key_other"} {
		e.all = append(e.all, library.AssetHash(fmt.Sprintf("%040x", i+1)))
		metadata, tags := `{}`, []string{"fox"}
		if i == 2 { // which nothing more fits into
			metadata, tags = fmt.Sprintf(`{"log":%q}`, strings.Repeat("x", 64<<10-20)), nil
			for n := range library.MaxTags {
				tags = append(tags, fmt.Sprint("tag-", n))
			}
		}
		e.exec(`INSERT INTO assets (tenant_id, asset_h, sha256, blake3, title, filename, mime_type, size, width, height, status, tags, metadata, rating, favorite, owner, visibility, created_at, created_by, doc_version)
			VALUES ($1, $2, '', '', $3, 'a.png', 'image/png', 1, $4, 10, 'Draft', $5, $6, 0, false, $7, 'team', now(), 'test', 1)`,
			string(e.admin.Tenant), string(e.all[i]), []string{"Old fox", "Fox", "A long title"}[i], []int{1, 5, 6}[i], tags, metadata, owner)
	}
	studio := e.admin // who may run pipelines and does not administer
	studio.ID, studio.Permissions = "key_studio", slices.DeleteFunc(slices.Clone(library.Permissions), func(p library.Permission) bool { return p == library.PermAdmin })
	before := e.dump()
	for text, actor := range map[string]library.Actor{
		`set_tag new`: e.admin, `set_field metadata.new value`: e.admin, `compute rating width`: e.admin, `regex_replace title "[a-z]" ` + strings.Repeat("y", 80): e.admin,
		`approve note="seen by all"`: e.admin, `set_owner key_new`: studio, `set_visibility public`: studio,
		`tee action={"type":"set_tag","tags":["new"]} confirm=true`: e.admin,
	} {
		for _, dry := range []bool{true, false} {
			if dry && strings.HasPrefix(text, "tee") {
				continue
			}
			admin := e.admin
			e.admin = actor
			whole := `search | set_field description before | ` + text + ` on_error=%s | count`
			failed := e.text(fmt.Sprintf(whole, "fail"), dry)
			s := failed.Progress.Stages
			if failed.State != library.RunFailed || failed.Progress.Error == nil || failed.Progress.Error.Code != pipeline.CodeStageFailed || *failed.Progress.Error.Stage != 2 ||
				s[2].State != library.StageFailed || len(s[2].Effects) != 0 || s[3].State != library.StageSkipped || failed.Progress.Changed != 3 {
				t.Errorf("%s (dry run: %v) with an asset that it cannot change: %s, %d changes, %+v", text, dry, failed.State, failed.Progress.Changed, s[2])
			}
			if !dry {
				e.undo(failed)
			}
			skipped := e.text(fmt.Sprintf(whole, "skip"), dry)
			s = skipped.Progress.Stages
			if skipped.State != library.RunCompleted || skipped.Progress.Failed != 1 || skipped.Progress.Changed != 5 || len(s[2].Warnings) != 1 || s[2].Output != 3 {
				t.Errorf("%s on_error=skip (dry run: %v): %s, %d failed, %d changes, %+v", text, dry, skipped.State, skipped.Progress.Failed, skipped.Progress.Changed, s[2])
			}
			if e.admin = admin; !dry {
				e.undo(skipped)
			}
			if after := e.dump(); after != before {
				t.Fatalf("%s (dry run: %v) left the library as\n%.500s\nit was\n%.500s", text, dry, after, before)
			}
		}
	}
	e.admin = studio
	r := e.text(`search | set_field description before | tee action={"type":"set_tag","tags":["new"],"on_error":"skip"} confirm=true`, false)
	if r.State != library.RunCompleted || r.Progress.Failed != 1 {
		t.Errorf("on_error of the action of a tee stage: %s, %d failed", r.State, r.Progress.Failed)
	}
}

// TestRun_BeyondItsTimeKeepsAndListsWhatIsCommitted has the time of a run end while its third stage runs, between
// two of its parts.
func TestRun_BeyondItsTimeKeepsAndListsWhatIsCommitted(t *testing.T) {
	t.Parallel()
	for state, stop := range map[library.RunState]string{
		library.RunTimedOut:  `NEW.deadline_at := now() - interval '1 second'; NEW.claim := NEW.claim + 1; NEW.claimed_until := now() - interval '1 second';`,
		library.RunCancelled: `NEW.cancel_requested := true;`,
	} {
		e := newEnv(t)
		for i := range 2500 {
			e.all = append(e.all, library.AssetHash(fmt.Sprintf("%040x", i+1)))
		}
		e.exec(`INSERT INTO assets (tenant_id, asset_h, sha256, blake3, title, filename, mime_type, size, width, height, status, tags, rating, favorite, created_at, created_by, doc_version)
			SELECT $1, h, '', '', '', 'a.png', 'image/png', 1, 1, 1, 'Draft', '{}', 0, false, now(), 'test', 1 FROM unnest($2::text[]) h`, string(e.admin.Tenant), hashes(e.all))
		// Behind the second part of the third stage the run is cancelled, or lost to who claims it when its time is over.
		e.exec(`CREATE FUNCTION stop_run() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF (NEW.progress->>'stage')::int = 2 AND (NEW.progress->>'chunk')::int = 2 AND (OLD.progress->>'chunk')::int = 1 THEN ` + stop + ` END IF; RETURN NEW; END $$`)
		e.exec(`CREATE TRIGGER stop_run BEFORE UPDATE ON pipeline_runs FOR EACH ROW EXECUTE FUNCTION stop_run()`)
		before := e.dump()
		stages, err := pipeline.ParseText(`search | set_tag first | set_field rating 4 | set_tag last`)
		if err != nil {
			t.Fatal(err)
		}
		r := e.stopped(stages)
		s := r.Progress.Stages
		if r.State != state || s[1].State != library.StageOK || s[1].Effects[0].Count != 2500 || s[2].Effects[0].Count != 2000 || s[2].Done != 2000 || s[3].State != library.StageSkipped || len(s[3].Effects) != 0 ||
			r.Progress.Changed != 4500 || r.Progress.Error == nil || *r.Progress.Error.Stage != 2 {
			t.Errorf("%s: %s, %d changes, %+v\n%+v", state, r.State, r.Progress.Changed, r.Progress.Error, s)
		}
		var rated int
		if err := e.db.QueryRow(t.Context(), `SELECT count(*) FROM assets WHERE rating = 4`).Scan(&rated); err != nil || rated != 2000 {
			t.Errorf("%s: %d assets are rated: %v", state, rated, err)
		}
		if e.undo(r); e.dump() != before {
			t.Errorf("%s: the undo left something", state)
		}
	}
}

// stopped starts stages and works on them until they end, whoever stops them.
func (e *env) stopped(stages []library.PipelineStage) library.PipelineRun {
	e.t.Helper()
	r, err := e.engine.Start(e.t.Context(), e.admin, pipeline.Request{Stages: stages, Tool: "ExecutePipeline"})
	if err == nil {
		err = e.engine.Work(e.t.Context(), e.admin.Tenant, r.ID)
	}
	if errors.Is(err, store.ErrClaimed) {
		err = e.engine.Work(e.t.Context(), e.admin.Tenant, r.ID)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	return e.get(r.ID)
}
