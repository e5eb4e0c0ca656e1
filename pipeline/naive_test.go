package pipeline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/pipeline"
)

// naiveAsset is an asset as the naive evaluator sees it: read by statements of its own.
type naiveAsset struct {
	hash, title, status, project string
	tags                         []string
	rating, steps                int // 0: none
	favorite                     bool
	day                          int
	collections                  map[string]bool
	gone                         bool
}

func (e *env) naive() map[string]*naiveAsset {
	e.t.Helper()
	rows, err := e.db.Query(e.t.Context(), `SELECT a.asset_h, a.title, a.status, coalesce(a.metadata->>'project', ''), a.tags, a.rating, coalesce((l.doc->'parameters'->>'steps')::int, 0), a.favorite,
			extract(day FROM a.created_at AT TIME ZONE 'UTC')::int, a.trashed_at IS NOT NULL,
			ARRAY(SELECT c.path FROM collection_items i JOIN collections c USING (tenant_id, collection_h) WHERE i.asset_h = a.asset_h AND c.deleted_at IS NULL)
		FROM assets a LEFT JOIN lineage l USING (tenant_id, asset_h)`)
	if err != nil {
		e.t.Fatal(err)
	}
	out := map[string]*naiveAsset{}
	for rows.Next() {
		var a naiveAsset
		var paths []string
		if err := rows.Scan(&a.hash, &a.title, &a.status, &a.project, &a.tags, &a.rating, &a.steps, &a.favorite, &a.day, &a.gone, &paths); err != nil {
			e.t.Fatal(err)
		}
		a.collections = map[string]bool{}
		for _, p := range paths {
			a.collections[p] = true
		}
		out[a.hash] = &a
	}
	return out
}

// naiveStage is a stage in the text form and what it does, written down a second time.
type naiveStage struct {
	text string
	do   func(all map[string]*naiveAsset, set []string) []string
}

func keep(text string, good func(*naiveAsset) bool) naiveStage {
	return naiveStage{text, func(all map[string]*naiveAsset, set []string) (out []string) {
		for _, h := range set {
			if good(all[h]) {
				out = append(out, h)
			}
		}
		return out
	}}
}

func change(text string, f func(*naiveAsset)) naiveStage {
	return naiveStage{text, func(all map[string]*naiveAsset, set []string) []string {
		for _, h := range set {
			f(all[h])
		}
		return set
	}}
}

func order(text string, less func(a, b *naiveAsset) int) naiveStage {
	return naiveStage{text, func(all map[string]*naiveAsset, set []string) []string {
		out := slices.Clone(set)
		sort.Slice(out, func(i, j int) bool {
			if o := less(all[out[i]], all[out[j]]); o != 0 {
				return o < 0
			}
			return out[i] < out[j]
		})
		return out
	}}
}

// missingLast compares two values, zero being none.
func missingLast(a, b, sign int) int {
	switch {
	case a == b:
		return 0
	case a == 0:
		return 1
	case b == 0:
		return -1
	}
	return sign * (a - b)
}

func hasTag(a *naiveAsset, tag string) bool {
	return slices.ContainsFunc(a.tags, func(t string) bool { return strings.EqualFold(t, tag) })
}

// stageWords are what a drawn stage is about.
type stageWords struct {
	n, steps          int
	tag, status, path string
}

// drawStage draws a stage.
func drawStage(r *rand.Rand) naiveStage {
	var w stageWords
	w.n = r.IntN(40)
	w.tag = []string{"fox", "best", "New"}[r.IntN(3)]
	w.status = []string{"Draft", "Approved", "Rejected"}[r.IntN(3)]
	w.path = []string{"a", "a.b", "c"}[r.IntN(3)]
	w.steps = 10 * r.IntN(5)
	switch i := r.IntN(22); {
	case i < 7:
		return w.condition(i)
	case i < 13:
		return w.order(i)
	default:
		return w.change(i)
	}
}

// condition returns the stage with a number below 7, which keeps what meets a condition.
func (w stageWords) condition(i int) naiveStage {
	switch i {
	case 0:
		return keep(fmt.Sprintf("where steps > %d", w.steps), func(a *naiveAsset) bool { return a.steps > w.steps && a.steps > 0 })
	case 1:
		return keep(fmt.Sprintf("where steps != %d", w.steps), func(a *naiveAsset) bool { return a.steps != w.steps || a.steps == 0 })
	case 2:
		return keep(fmt.Sprintf(`where status = "%s"`, w.status), func(a *naiveAsset) bool { return a.status == w.status })
	case 3:
		return keep(fmt.Sprintf(`where tags contains "%s" or rating >= 3`, w.tag), func(a *naiveAsset) bool { return hasTag(a, w.tag) || a.rating >= 3 })
	case 4:
		return keep(`where not (favorite and title contains "FOX")`, func(a *naiveAsset) bool { return !(a.favorite && strings.Contains(strings.ToLower(a.title), "fox")) })
	case 5:
		return keep(`where field=metadata.project operator=missing`, func(a *naiveAsset) bool { return a.project == "" })
	default:
		return keep(fmt.Sprintf(`where any=[{"field":"collection","operator":"eq","value":"%s"},{"not":{"field":"rating","operator":"between","value":[1,3]}}]`, w.path),
			func(a *naiveAsset) bool { return a.collections[w.path] || !(a.rating >= 1 && a.rating <= 3) })
	}
}

// order returns the stage with a number from 7 to 12, which sorts or shortens the set.
func (w stageWords) order(i int) naiveStage {
	switch i {
	case 7:
		return order("sort created desc", func(a, b *naiveAsset) int { return b.day - a.day })
	case 8:
		return order("sort steps asc", func(a, b *naiveAsset) int { return missingLast(a.steps, b.steps, 1) })
	case 9:
		return order(`sort keys=[{"by":"rating","order":"desc"},{"by":"title"}]`, func(a, b *naiveAsset) int {
			if o := missingLast(a.rating, b.rating, -1); o != 0 {
				return o
			}
			x, y := strings.ToLower(a.title), strings.ToLower(b.title)
			switch {
			case x == y:
				return 0
			case x == "":
				return 1
			case y == "":
				return -1
			}
			return strings.Compare(x, y)
		})
	case 10, 11:
		return naiveStage{fmt.Sprintf("limit %d offset=%d", w.n, w.n/4), func(_ map[string]*naiveAsset, set []string) []string {
			set = set[min(w.n/4, len(set)):]
			return set[:min(w.n, len(set))]
		}}
	default:
		return naiveStage{"deduplicate field field=steps keep=oldest", func(all map[string]*naiveAsset, set []string) (out []string) {
			best := map[int]string{}
			for _, h := range set {
				a := all[h]
				if have, ok := best[a.steps]; a.steps > 0 && (!ok || a.day < all[have].day) {
					best[a.steps] = h
				}
			}
			for _, h := range set {
				if all[h].steps == 0 || best[all[h].steps] == h {
					out = append(out, h)
				}
			}
			return out
		}}
	}
}

// change returns the stage with a number above 12, which changes assets.
func (w stageWords) change(i int) naiveStage {
	switch i {
	case 13, 14:
		return change("set_tag "+w.tag, func(a *naiveAsset) {
			if !hasTag(a, w.tag) {
				a.tags = append(a.tags, w.tag)
			}
		})
	case 15:
		return change("remove_tag wip* "+w.tag, func(a *naiveAsset) {
			a.tags = slices.DeleteFunc(slices.Clone(a.tags), func(t string) bool { return strings.HasPrefix(t, "wip") || strings.EqualFold(t, w.tag) })
		})
	case 16:
		return change(fmt.Sprintf("set_field rating %d", w.n%6), func(a *naiveAsset) { a.rating = w.n % 6 })
	case 17:
		return change(`regex_replace title "(?i)fox" Cat`, func(a *naiveAsset) {
			for _, fox := range []string{"Fox", "fox"} {
				a.title = strings.ReplaceAll(a.title, fox, "Cat")
			}
		})
	case 18:
		return change(`compute title "if(steps > 20, concat(status, \"-\", steps), title)"`, func(a *naiveAsset) {
			if a.steps > 20 {
				a.title = fmt.Sprintf("%s-%d", a.status, a.steps)
			}
		})
	case 19:
		return change("approve "+w.status, func(a *naiveAsset) { a.status = w.status })
	case 20:
		return change("add_to_collection "+w.path+" create_if_missing=true", func(a *naiveAsset) { a.collections[w.path] = true })
	default:
		return naiveStage{"where favorite = true | delete confirm=true", func(all map[string]*naiveAsset, set []string) []string {
			for _, h := range set {
				if all[h].favorite {
					all[h].gone = true
				}
			}
			return nil
		}}
	}
}

// TestRun_DryRunsPredictRunsAndBothEqualANaiveEvaluator runs random pipelines dry, then for
// real, and compares their effects, their sets, and what the library is afterwards with what a
// second evaluator makes of the same rows. Each run is undone afterwards.
func TestRun_DryRunsPredictRunsAndBothEqualANaiveEvaluator(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.fill(rand.New(rand.NewPCG(2, 2)), 40)
	slices.Sort(e.all)
	e.run([]library.PipelineStage{{Type: "ids", Config: map[string]any{"asset_ids": []any{string(e.all[0])}}}, {Type: "add_to_collection", Config: map[string]any{"path": "c", "create_if_missing": true}}}, false)
	n := 0
	for _, seed := range randtest.Seeds(t) {
		r := rand.New(rand.NewPCG(seed, 7))
		for range randtest.Cases(t, 12) {
			var stages []naiveStage
			for range 1 + r.IntN(6) {
				stages = append(stages, drawStage(r))
			}
			e.compare(stages)
			n++
		}
	}
	t.Logf("%d pipelines compared", n)
}

// compare runs one pipeline in all three ways.
func (e *env) compare(stages []naiveStage) {
	e.t.Helper()
	text := "search"
	for _, s := range stages {
		text += " | " + s.text
	}
	before, all := e.dump(), e.naive()
	var want []string
	for _, h := range e.all {
		want = append(want, string(h))
	}
	for _, s := range stages {
		want = s.do(all, want)
	}
	dry, real := e.text(text, true), library.PipelineRun{}
	if e.dump() != before {
		e.t.Fatalf("%s: the dry run changed something", text)
	}
	real = e.text(text, false)
	if dry.State != library.RunCompleted || real.State != library.RunCompleted {
		e.t.Fatalf("%s: the dry run is %s %+v, the run %s %+v", text, dry.State, dry.Progress.Error, real.State, real.Progress.Error)
	}
	for i, s := range real.Progress.Stages {
		if d := dry.Progress.Stages[i]; s.Input != d.Input || s.Output != d.Output || !equalEffects(s.Effects, d.Effects) {
			e.t.Errorf("%s: stage %d (%s): the dry run said %d → %d %v, the run did %d → %d %v", text, i, s.Type, d.Input, d.Output, d.Effects, s.Input, s.Output, s.Effects)
		}
	}
	for _, r := range []library.PipelineRun{dry, real} {
		if got := e.set(r); len(got) != len(want) || !slices.EqualFunc(got, want, func(a library.AssetHash, b string) bool { return string(a) == b }) {
			e.t.Errorf("%s: the last set (dry run: %v) is\n%v, want\n%v", text, r.DryRun, got, want)
		}
	}
	for h, now := range e.naive() {
		if a := all[h]; fmt.Sprint(*now) != fmt.Sprint(*a) {
			e.t.Errorf("%s: asset %s is\n%+v, want\n%+v", text, h, *now, *a)
		}
	}
	if real.Progress.Changed > 0 {
		if _, err := e.store.Operations.Undo(e.t.Context(), e.admin, real.OperationID, mayUndo); err != nil {
			e.t.Fatalf("undoing %s: %v", text, err)
		}
	}
	if e.t.Failed() {
		e.t.FailNow()
	}
	if after := e.dump(); after != before {
		e.t.Fatalf("%s: the undo left something\n%s\n---\n%s", text, after, before)
	}
}

// TestText_IsReadAsItWasWritten writes stages as text, reads them, and compares.
func TestText_IsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	list := [][]library.PipelineStage{}
	for _, k := range pipeline.Kinds() {
		list = append(list, []library.PipelineStage{{Type: "search", Config: map[string]any{"query": `a "b" | c`}}, {Type: k.Type, Config: k.Example, ID: "x1", Name: "two words", OnError: "skip"}})
	}
	for _, tpl := range pipeline.Templates() {
		list = append(list, tpl.Stages)
	}
	for _, stages := range list {
		text := pipeline.Text(stages)
		back, err := pipeline.ParseText(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if a, b := encode(t, stages), encode(t, back); a != b {
			t.Errorf("%s\nwas  %s\nread %s", text, a, b)
		}
		if again := pipeline.Text(back); again != text {
			t.Errorf("%s is written as %s again", text, again)
		}
	}
}

func TestParseText_NamesThePlaceOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`search fox | wehre steps > 3`: "There is no such stage. The problem is at character 14.",
		`search fox | limit 3 4`:       "This stage takes no further argument. The problem is at character 22.",
		`search fox | | limit 3`:       "A stage is empty. The problem is at character 13.",
		`search fox | limit count={`:   "This value cannot be read. The problem is at character 26.",
		`search fox | limit 3 count=4`: "The argument count is there twice. The problem is at character 28.",
	} {
		_, err := pipeline.ParseText(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
