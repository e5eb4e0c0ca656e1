package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/pipeline"
	"vitrine/service/servicetest"
	"vitrine/store/storetest"
)

// keyCase runs a stage with one key of its configuration, in dry run and run.
type keyCase struct {
	key    string // below the stage's config, such as filters.tags
	text   string // the pipeline; one that does not begin with a select stage is given the assets a to e
	want   string // the names of the assets behind it, in order
	result string // the rows of the last result as JSON; empty: there is none
	probe  string // a pipeline that afterwards ends with the assets
	holds  string // with these names
	either bool   // the key may be left out with the same effect: what it does shows elsewhere
}

// keysLab is a library of five assets, and the engine of a product on real servers.
type keysLab struct {
	*servicetest.Env
	t      *testing.T
	db     *pgx.Conn
	actor  library.Actor
	hashes map[string]string // by name
}

func newKeysLab(t *testing.T) *keysLab {
	t.Helper()
	e := servicetest.Shared(t)
	l := &keysLab{Env: e, t: t, db: storetest.Owner(t, e.Cfg.PostgresURL), hashes: map[string]string{},
		actor: library.Actor{Kind: library.ActorKey, ID: "key_keys", Tenant: e.Tenant, Permissions: library.Permissions}}
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		file := picture(2000+i, "") // d and e say nothing of how they were made
		if i < 3 {
			file = withText(file, "parameters", fmt.Sprintf("%s\nSteps: %d, Sampler: Euler a, CFG scale: 7, Seed: %d, Size: 48x32, Model: keys", []string{"a fox", "A  FOX", "a castle"}[i], 10+10*i, []uint64{1<<64 - 1, 7, 7}[i]))
		}
		stored := e.StoreFile("", name+".png", "image/png", file, []string{"odd", "even"}[i%2], "wip-"+name)
		l.hashes[name] = string(stored.Asset.AssetH)
		e.Call(http.MethodPatch, "/api/v1/assets/"+l.hashes[name], map[string]any{"title": "Tower " + name, "rating": i + 1, "status": []string{"Draft", "Approved"}[i%2], "asset_metadata": map[string]any{"score": 5 - i, "old": true}}, nil)
	}
	for _, c := range []client.CreateCollectionInput{{Name: "shelf"}, {Name: "top", ParentPath: "shelf"}, {Name: "box"}} {
		if _, err := e.Client("").CreateCollection(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	l.run(`ids `+l.hashes["c"]+` `+l.hashes["a"]+` | add_to_collection shelf`, false)
	l.run(`ids `+l.hashes["b"]+` | add_to_collection shelf role=KeyVisual`, false)
	l.run(`ids `+l.hashes["e"]+` | add_to_collection shelf.top`, false)
	l.fingerprint()
	servicetest.Eventually(t, "the index has everything", func() error {
		if !e.Pipelines.AwaitIndex(t.Context(), e.Tenant) {
			return fmt.Errorf("it has not")
		}
		return nil
	})
	return l
}

// fingerprint makes perceptual hashes far from each other, but for those of c and d, which differ in three bits.
func (l *keysLab) fingerprint() {
	l.t.Helper()
	servicetest.Eventually(l.t, "there are perceptual hashes", func() error {
		tag, err := l.db.Exec(l.t.Context(), `UPDATE asset_fingerprints SET phash = v.phash FROM (VALUES ($2, 255), ($3, 65280), ($4, 16711680), ($5, 16711687), ($6, 4278190080)) v(asset_h, phash)
			WHERE tenant_id = $1 AND asset_fingerprints.asset_h = v.asset_h`, string(l.Tenant), l.hashes["a"], l.hashes["b"], l.hashes["c"], l.hashes["d"], l.hashes["e"])
		if err == nil && tag.RowsAffected() != 5 {
			err = fmt.Errorf("of %d pictures", tag.RowsAffected())
		}
		return err
	})
}

// pipeline returns the text of a pipeline with the hashes of the assets that it names as $a to $e.
func (l *keysLab) pipeline(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	if k := pipeline.LookupKind(first); k == nil || k.Category != pipeline.Select {
		text = "ids $a $b $c $d $e | " + text
	}
	for name, hash := range l.hashes {
		text = strings.ReplaceAll(text, "$"+name, hash)
	}
	return text
}

func (l *keysLab) stages(text string) []library.PipelineStage {
	l.t.Helper()
	stages, err := pipeline.ParseText(l.pipeline(text))
	if err != nil {
		l.t.Fatalf("%s: %v", text, err)
	}
	return stages
}

// start runs stages and returns the run, or the error of a pipeline that is refused.
func (l *keysLab) start(stages []library.PipelineStage, dry bool) (library.PipelineRun, error) {
	l.t.Helper()
	r, err := l.Pipelines.Start(l.t.Context(), l.actor, pipeline.Request{Stages: stages, DryRun: dry, Tool: "ExecutePipeline"})
	if err == nil {
		r, err = l.Pipelines.Await(l.t.Context(), l.actor, r.ID, time.Minute)
	}
	return r, err
}

func (l *keysLab) run(text string, dry bool) library.PipelineRun {
	l.t.Helper()
	r, err := l.start(l.stages(text), dry)
	if err != nil || r.State != library.RunCompleted {
		l.t.Fatalf("%s: %s %+v, %v", text, r.State, r.Progress.Error, err)
	}
	return r
}

// names returns the names of the assets of a run's last set, in order.
func (l *keysLab) names(r library.PipelineRun) string {
	l.t.Helper()
	var list []string
	for _, h := range setOf(l.t, l.Env, l.actor, r) {
		for name, hash := range l.hashes {
			if hash == string(h) {
				list = append(list, name)
			}
		}
	}
	return strings.Join(list, " ")
}

// dump returns what stages may change of the library.
func (l *keysLab) dump() (out string) {
	l.t.Helper()
	if err := l.db.QueryRow(l.t.Context(), `SELECT coalesce(string_agg(row::text, E'\n' ORDER BY row::text), '') FROM (
			SELECT ROW(asset_h, title, description, status, tags, rating, favorite, coalesce(metadata, '{}'), owner, visibility, trashed_at IS NOT NULL) AS row FROM assets WHERE tenant_id = $1
			UNION ALL SELECT ROW(i.asset_h, c.path, i.role) FROM collection_items i JOIN collections c USING (tenant_id, collection_h) WHERE c.deleted_at IS NULL AND tenant_id = $1) x`, string(l.Tenant)).Scan(&out); err != nil {
		l.t.Fatal(err)
	}
	return out
}

// outcome is what a run did, as far as it can be compared with another's.
func (l *keysLab) outcome(r library.PipelineRun) string {
	l.t.Helper()
	var out []string
	for _, s := range r.Progress.Stages {
		out = append(out, fmt.Sprint(s.Type, s.Input, s.Output, s.Effects, rowsOf(s.Result)))
	}
	return strings.Join(out, "\n") + "\n" + l.names(r)
}

func rowsOf(r *library.StageResult) string {
	if r == nil {
		return ""
	}
	raw, _ := json.Marshal(r.Rows)
	return string(raw)
}

// TestPipelines_EveryKeyOfEveryStageDoesWhatItSays runs each type of stage with each key of its schema, in
// dry run and run; leaves the key out, which must make a difference; and undoes the run.
func TestPipelines_EveryKeyOfEveryStageDoesWhatItSays(t *testing.T) {
	t.Parallel()
	l := newKeysLab(t)
	before := l.dump()
	for _, k := range pipeline.Kinds() {
		rows := map[string]bool{}
		for _, c := range keyCases[k.Type] {
			l.checkCase(k, c, !rows[c.key])
			rows[c.key] = true
			if after := l.dump(); after != before {
				t.Fatalf("%s: after the undo the library is\n%s\nand was\n%s", c.text, after, before)
			}
		}
		for _, key := range configKeys(k.Shape.Schema, "") {
			if !rows[key] {
				t.Errorf("the key %s of the stage %s has no case", key, k.Type)
			}
			delete(rows, key)
		}
		for key := range rows {
			t.Errorf("the stage %s has no key %s", k.Type, key)
		}
	}
}

// checkCase runs one case; the first one of its key is run without the key too.
func (l *keysLab) checkCase(k *pipeline.Kind, c keyCase, first bool) {
	l.t.Helper()
	stages := l.stages(c.text)
	at := slices.IndexFunc(stages, func(s library.PipelineStage) bool { return s.Type == k.Type })
	if at < 0 || valueAt(stages[at].Config, c.key) == nil {
		l.t.Fatalf("%s has no stage %s with the key %s", c.text, k.Type, c.key)
	}
	if again, err := pipeline.ParseText(pipeline.Text(stages)); err != nil || pipeline.Text(again) != pipeline.Text(stages) {
		l.t.Errorf("%s: the text form is %s: %v", c.text, pipeline.Text(stages), err)
	}
	dry, real := l.run(c.text, true), l.run(c.text, false)
	l.compare(c, dry, real)
	if c.probe != "" {
		if got := l.names(l.run(c.probe, true)); got != c.holds {
			l.t.Errorf("%s: afterwards %s ends with %q, want %q", c.text, c.probe, got, c.holds)
		}
	}
	if real.Progress.Changed > 0 {
		if _, err := l.Client("").UndoOperation(l.t.Context(), client.UndoOperationInput{OperationID: real.OperationID}); err != nil {
			l.t.Fatalf("%s: %v", c.text, err)
		}
	}
	if first {
		l.leaveOut(c, stages, at, dry)
	}
}

// compare checks a run and its dry run.
func (l *keysLab) compare(c keyCase, dry, real library.PipelineRun) {
	l.t.Helper()
	for _, r := range []library.PipelineRun{dry, real} {
		last := r.Progress.Stages[len(r.Progress.Stages)-1]
		if got := l.names(r); got != c.want {
			l.t.Errorf("%s (dry run: %v): the assets behind it are %q, want %q", c.text, r.DryRun, got, c.want)
		}
		if c.result != "" && rowsOf(last.Result) != c.result {
			l.t.Errorf("%s (dry run: %v): the result is %s, want %s", c.text, r.DryRun, rowsOf(last.Result), c.result)
		}
	}
	enriches := slices.ContainsFunc(real.Progress.Stages, func(s library.StageTrace) bool { return s.Type == "enrich" })
	if a, b := l.outcome(dry), l.outcome(real); a != b && !outputs(real) && !enriches {
		l.t.Errorf("%s: the dry run did\n%s\nand the run\n%s", c.text, a, b)
	}
}

// outputs reports whether a run has a stage that dry runs skip.
func outputs(r library.PipelineRun) bool {
	return slices.ContainsFunc(r.Progress.Stages, func(s library.StageTrace) bool { return s.Category == string(pipeline.Output) })
}

// leaveOut runs a case without its key: it is required, or makes a difference.
func (l *keysLab) leaveOut(c keyCase, stages []library.PipelineStage, at int, with library.PipelineRun) {
	l.t.Helper()
	without := slices.Clone(stages)
	without[at].Config = withValue(without[at].Config, c.key, nil)
	field := fmt.Sprintf("stages[%d].config", at)
	if c.key == "confirm" && !c.either {
		_, err := l.start(without, false)
		if e := library.AsError(err); err == nil || e.Code != pipeline.CodeConfirm || e.Fields[0].Field != field+".confirm" {
			l.t.Errorf("%s without confirm: %v", c.text, err)
		}
		return
	}
	if strings.HasPrefix(c.probe, "where ") && !outputs(with) { // what a dry run makes of assets shows in its later stages
		behind := l.stages(c.probe)[1:]
		with, _ = l.start(slices.Concat(stages, behind), true)
		if got := l.names(with); got != c.holds {
			l.t.Errorf("%s | %s: the dry run ends with %q, want %q", c.text, c.probe, got, c.holds)
		}
		without = slices.Concat(without, behind)
	}
	r, err := l.start(without, true)
	if err != nil {
		e := library.AsError(err)
		if len(e.Fields) == 0 || !strings.HasPrefix(e.Fields[0].Field, field) {
			l.t.Errorf("%s without %s: %v", c.text, c.key, err)
		}
		return
	}
	if same := r.State == with.State && l.outcome(r) == l.outcome(with); same != c.either {
		l.t.Errorf("%s: without %s the outcome is the same: %v", c.text, c.key, same)
	}
}

// TestPipelines_EveryKeyRefusesWhatItDoesNotTake sends, for each key of each type of stage, values of another
// type and beyond its bounds, and a key that there is not, in dry run and run.
func TestPipelines_EveryKeyRefusesWhatItDoesNotTake(t *testing.T) {
	t.Parallel()
	l := &keysLab{Env: servicetest.Shared(t), t: t, hashes: map[string]string{}}
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		l.hashes[name] = strings.Repeat(fmt.Sprint(i), 40)
	}
	l.actor = library.Actor{Kind: library.ActorKey, ID: "key_keys", Tenant: l.Tenant, Permissions: library.Permissions}
	sent := 0
	for _, k := range pipeline.Kinds() {
		for _, c := range keyCases[k.Type] {
			stages := l.stages(c.text)
			at := slices.IndexFunc(stages, func(s library.PipelineStage) bool { return s.Type == k.Type })
			wrong := wrongValues(schemaAt(k.Shape.Schema, c.key))
			head, _, nested := strings.Cut(c.key, ".")
			for _, v := range wrong {
				l.refused(stages, at, c.key, v, head)
			}
			if !nested {
				l.refused(stages, at, "no_such_key", 1, "no_such_key")
			}
			sent += len(wrong)
		}
	}
	if t.Logf("%d values were refused", sent); sent < 150 {
		t.Errorf("only %d values were tried", sent)
	}
}

// refused sends stages with a value that a key does not take.
func (l *keysLab) refused(stages []library.PipelineStage, at int, key string, v any, named string) {
	l.t.Helper()
	wrong := slices.Clone(stages)
	wrong[at].Config = withValue(wrong[at].Config, key, v)
	for _, dry := range []bool{true, false} {
		_, err := l.Pipelines.Start(l.t.Context(), l.actor, pipeline.Request{Stages: wrong, DryRun: dry})
		e := library.AsError(err)
		if err == nil || e.Code != library.CodeValidationFailed || len(e.Fields) == 0 || !strings.HasPrefix(e.Fields[0].Field, fmt.Sprintf("stages[%d].config.%s", at, named)) || e.Fields[0].Message == "" {
			raw, _ := json.Marshal(v)
			l.t.Errorf("%s with %s = %.80s (dry run: %v): %+v", wrong[at].Type, key, raw, dry, err)
		}
	}
}
