package indexer

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// indexAccident is what somebody does to the index while the indexer runs.
type indexAccident struct {
	name  string
	do    func(e *env, live string)
	after func(e *env, live string) string // what is wrong besides; may be nil
}

// ask sends a request that must succeed.
func (e *env) ask(method, path string, body any) {
	e.t.Helper()
	if err := opensearch.Call(e.ctx, e.search, method, path, body, nil); err != nil {
		e.t.Fatalf("%s %s: %v", method, path, err)
	}
}

func (e *env) aliases(actions ...string) {
	e.t.Helper()
	e.ask(http.MethodPost, "/_aliases", []byte(`{"actions":[`+strings.Join(actions, ",")+`]}`))
}

const anything = `{"mappings":{"properties":{"title":{"type":"keyword"}}}}`

var indexAccidents = []indexAccident{
	{"the index is deleted", func(e *env, live string) {
		e.ask(http.MethodDelete, "/"+live, nil)
	}, nil},
	{"the alias is removed", func(e *env, live string) {
		e.ask(http.MethodDelete, "/"+live+"/_alias/"+e.alias(), nil)
	}, func(e *env, live string) string {
		if now, err := e.indexer().liveIndex(e.ctx); now != live || err != nil {
			return fmt.Sprintf("the live index is %s, error %v; nothing was wrong with %s", now, err, live)
		}
		return ""
	}},
	{"the writers' alias is removed", func(e *env, live string) {
		e.ask(http.MethodDelete, "/"+live+"/_alias/"+mappings.Writer(live), nil)
	}, nil},
	{"another index takes its name", func(e *env, live string) {
		e.ask(http.MethodDelete, "/"+live, nil)
		e.ask(http.MethodPut, "/"+live, []byte(anything))
		e.ask(http.MethodPut, "/"+live+"/_doc/1", []byte(`{"title":"foreign"}`))
	}, func(e *env, live string) string {
		if n, err := e.countIn(live); n != 1 || err != nil {
			return fmt.Sprintf("the other index has %d documents, error %v", n, err)
		}
		return ""
	}},
	{"another index takes its name and the alias", func(e *env, live string) {
		e.ask(http.MethodDelete, "/"+live, nil)
		e.ask(http.MethodPut, "/"+live, []byte(strings.Replace(anything, `{`, `{"aliases":{"`+e.alias()+`":{}},`, 1)))
	}, nil},
	{"an empty index takes the name of the alias", func(e *env, live string) {
		e.ask(http.MethodDelete, "/"+live, nil)
		e.ask(http.MethodPut, "/"+e.alias(), []byte(anything))
	}, nil},
	{"an index with documents takes the name of the alias", func(e *env, live string) {
		e.ask(http.MethodDelete, "/"+live, nil)
		e.ask(http.MethodPut, "/"+e.alias(), []byte(anything))
		e.ask(http.MethodPut, "/"+e.alias()+"/_doc/1?refresh=true", []byte(`{"title":"foreign"}`))
	}, func(e *env, _ string) string {
		if n, err := e.countIn(e.alias() + "-displaced-*"); n != 1 || err != nil {
			return fmt.Sprintf("%d foreign documents are kept, error %v", n, err)
		}
		return ""
	}},
	{"the alias points at a foreign index", func(e *env, live string) {
		foreign := e.cfg.Prefix + "foreign"
		e.ask(http.MethodPut, "/"+foreign, []byte(anything))
		e.aliases(`{"remove":{"index":"`+live+`","alias":"`+e.alias()+`"}}`, `{"add":{"index":"`+foreign+`","alias":"`+e.alias()+`"}}`)
	}, nil},
	{"the alias points at a foreign index as well", func(e *env, _ string) {
		foreign := e.cfg.Prefix + "foreign"
		e.ask(http.MethodPut, "/"+foreign, []byte(anything))
		e.aliases(`{"add":{"index":"` + foreign + `","alias":"` + e.alias() + `"}}`)
	}, nil},
	{"the alias gets a filter", func(e *env, live string) {
		e.aliases(`{"add":{"index":"` + live + `","alias":"` + e.alias() + `","filter":{"term":{"title":"nothing"}}}}`)
	}, nil},
	{"an empty index of the same mapping takes its name", func(e *env, live string) {
		body, err := mappings.Create(live, mappings.Meta{})
		if err != nil {
			e.t.Fatal(err)
		}
		e.ask(http.MethodDelete, "/"+live, nil)
		e.ask(http.MethodPut, "/"+live, body)
		e.aliases(`{"add":{"index":"` + live + `","alias":"` + e.alias() + `"}}`)
	}, nil},
	{"an index of an earlier release lacks a field", func(e *env, live string) {
		body := compact(e.t, mustCreate(e.t, live))
		older := strings.Replace(body, `"child_count":{"type":"integer"},`, "", 1)
		if older == body {
			e.t.Fatal("the mapping of child_count is not what this test takes out")
		}
		e.ask(http.MethodDelete, "/"+live, nil)
		e.ask(http.MethodPut, "/"+live, []byte(older))
		e.aliases(`{"add":{"index":"` + live + `","alias":"` + e.alias() + `"}}`)
	}, nil},
}

func mustCreate(t testing.TB, name string) []byte {
	t.Helper()
	body, err := mappings.Create(name, mappings.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// countIn counts the documents of indices, tombstones included.
func (e *env) countIn(indices string) (int64, error) {
	var found struct {
		Count int64 `json:"count"`
	}
	if err := opensearch.Call(e.ctx, e.search, http.MethodPost, "/"+indices+"/_refresh", nil, nil); err != nil {
		return 0, err
	}
	err := opensearch.Call(e.ctx, e.search, http.MethodGet, "/"+indices+"/_count", nil, &found)
	return found.Count, err
}

// TestGuard_PutsTheIndexRightWhileTheIndexerRuns does every mishap to a running
// indexer. All assets, those of before and those of after, must be searchable again
// without a restart, and nothing may be put aside.
func TestGuard_PutsTheIndexRightWhileTheIndexerRuns(t *testing.T) {
	t.Parallel()
	for _, m := range indexAccidents {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.cfg.eventsOnly = false
			x := e.indexer()
			e.run(e.relay(), x)
			var hashes []library.AssetHash
			for i := range 5 {
				hashes = append(hashes, e.add(typicalAsset(fmt.Sprint(i))).Hash)
			}
			e.eventually(time.Minute, func() string { return e.differs(hashes...) })
			live, err := x.liveIndex(e.ctx)
			if err != nil {
				t.Fatal(err)
			}

			m.do(e, live)
			hashes = append(hashes, e.add(typicalAsset("after")).Hash)
			e.eventually(time.Minute, func() string { return e.searchable(x, hashes...) })
			if m.after != nil {
				e.eventually(time.Minute, func() string { return m.after(e, live) })
			}
			if n := e.deadLetters(x); n != 0 {
				t.Errorf("%d documents were put aside", n)
			}
		})
	}
}

// searchable reports which assets searches do not show as they are, or that the index
// does not count as complete yet.
func (e *env) searchable(x *Indexer, hashes ...library.AssetHash) string {
	e.t.Helper()
	generations, v, err := x.surveyIndices(e.ctx)
	if err != nil {
		return err.Error()
	}
	live := nameOf(generations, indexstate.GenerationLive)
	if problem := v.problem(generations); problem != "" || v.indices[live].meta.Incomplete {
		return fmt.Sprintf("problem %q, incomplete %v", problem, v.indices[live].meta.Incomplete)
	}
	if problem := e.differs(hashes...); problem != "" {
		return problem
	}
	if err := x.refresh(e.ctx, e.alias()); err != nil {
		return err.Error()
	}
	if n, err := e.count(); n != int64(len(hashes)) || err != nil {
		return fmt.Sprintf("%d of %d documents are found, error %v", n, len(hashes), err)
	}
	return ""
}

// TestGuard_LeavesAClosedIndexAlone: somebody is working on it. What is written
// meanwhile waits.
func TestGuard_LeavesAClosedIndexAlone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.eventsOnly = false
	x := e.indexer()
	e.run(e.relay(), x)
	a := e.add(newAsset("a"))
	e.eventually(time.Minute, func() string { return e.differs(a.Hash) })
	live, err := x.liveIndex(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	e.ask(http.MethodPost, "/"+live+"/_close", nil)
	b := e.add(newAsset("b"))
	time.Sleep(2 * guardEvery)
	if _, err := x.Reconcile(e.ctx, nil); err == nil || !strings.Contains(err.Error(), "_open") {
		t.Errorf("comparing a closed index: %v", err)
	}
	if now, err := x.liveIndex(e.ctx); now != live || err != nil {
		t.Errorf("the live index is %s, error %v", now, err)
	}
	e.ask(http.MethodPost, "/"+live+"/_open", nil)
	e.eventually(time.Minute, func() string { return e.searchable(x, a.Hash, b.Hash) })
	if n := e.deadLetters(x); n != 0 {
		t.Errorf("%d documents were put aside", n)
	}
}

// TestGuard_RefusesANameThatBelongsToSomebodyElse: where this library never had an
// index, one of the alias's name is another program's.
func TestGuard_RefusesANameThatBelongsToSomebodyElse(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.eventsOnly = false
	e.ask(http.MethodPut, "/"+e.alias(), []byte(anything))
	e.ask(http.MethodPut, "/"+e.alias()+"/_doc/1?refresh=true", []byte(`{"title":"foreign"}`))
	if _, err := e.indexer().EnsureIndex(e.ctx); err == nil || !strings.Contains(err.Error(), "VITRINE_PREFIX") {
		t.Errorf("the name is taken, and the error is %v", err)
	}
	if n, err := e.countIn(e.alias()); n != 1 || err != nil {
		t.Errorf("the other program's index has %d documents, error %v", n, err)
	}
}

// TestReconcile_MakesAnIndexThatIsGone: the command repairs also without a service.
func TestReconcile_MakesAnIndexThatIsGone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.eventsOnly = false
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	var hashes []library.AssetHash
	for i := range 7 {
		hashes = append(hashes, e.add(typicalAsset(fmt.Sprint(i))).Hash)
	}
	e.ask(http.MethodDelete, "/"+x.names.Index(1), nil)
	got, err := x.Reconcile(e.ctx, nil)
	if err != nil || got.Count != 7 || !strings.Contains(got.FixedFirst, "gone") {
		t.Errorf("%+v, error %v", got, err)
	}
	if problem := e.searchable(x, hashes...); problem != "" {
		t.Error(problem)
	}
}
