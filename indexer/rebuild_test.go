package indexer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// searching counts a tenant's documents over and over and remembers the first
// search that fails or finds fewer than there must be.
func (e *env) searching(least int64) (stop func() (searches int, problem string)) {
	ctx, cancel := context.WithCancel(e.ctx)
	var wg sync.WaitGroup
	var problem string
	var n int
	wg.Go(func() {
		for ; ctx.Err() == nil && problem == ""; n++ {
			found, err := e.count()
			if ctx.Err() == nil && (err != nil || found < least) {
				problem = fmt.Sprintf("search %d found %d documents, error %v", n, found, err)
			}
		}
	})
	return func() (int, string) { cancel(); wg.Wait(); return n, problem }
}

// count searches for all live documents of the tenant.
func (e *env) count() (int64, error) {
	var found struct {
		Count int64 `json:"count"`
	}
	err := opensearch.Call(e.ctx, e.search, http.MethodPost, "/"+e.alias()+"/_count?routing="+mappings.Routing(e.actor.Tenant),
		[]byte(`{"query":{"bool":{"filter":[{"term":{"tenant_id":"`+string(e.actor.Tenant)+`"}},{"term":{"deleted":false}}]}}}`), &found)
	return found.Count, err
}

func TestRebuild_UnderWritesLosesNothingAndNoSearchFails(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	e.run(e.relay(), x)
	var hashes []library.AssetHash
	for i := range 40 {
		hashes = append(hashes, e.add(typicalAsset(fmt.Sprint(i))).Hash)
	}
	e.eventually(time.Minute, func() string { return e.differs(hashes...) })
	if err := x.refresh(e.ctx, e.alias()); err != nil {
		t.Fatal(err)
	}

	stopSearching := e.searching(40)
	var writing atomic.Bool
	writing.Store(true)
	var writers sync.WaitGroup
	writers.Go(func() { // changes, arrivals and departures go on throughout
		for i := 0; writing.Load(); i++ {
			time.Sleep(10 * time.Millisecond) // the servers are shared
			e.retitle(fmt.Sprint("during ", i), hashes[i%40])
			extra := e.add(newAsset(fmt.Sprint("extra ", i)))
			e.purge(extra.Hash)
			hashes = append(hashes, extra.Hash, e.add(newAsset(fmt.Sprint("stays ", i))).Hash)
		}
	})
	names := mappings.Names(e.cfg.Prefix)
	done, phases, err := e.rebuildAssets() // in another process than the one that consumes
	writing.Store(false)
	writers.Wait()
	if err != nil {
		t.Fatal(err)
	}
	e.eventually(time.Minute, func() string { return e.differs(hashes...) })
	if n, problem := stopSearching(); problem != "" || n == 0 {
		t.Errorf("of %d searches during the rebuild: %s", n, problem)
	}
	if diff := cmp.Diff([]string{PhaseBackfill, PhaseCompare, PhaseSwap, PhaseDone}, phases); diff != "" {
		t.Errorf("phases: %s", diff)
	}
	if done.Index != names.Index(2) || done.Replaced != names.Index(1) || done.Count < 40 {
		t.Errorf("rebuilt = %+v", done)
	}
	if live, err := x.liveIndex(e.ctx); live != done.Index || err != nil {
		t.Errorf("live index %s, error %v", live, err)
	}
	report, err := x.Reconcile(e.ctx, nil)
	if err != nil || report.Missing+report.Stale+report.Orphans+report.Ahead != 0 {
		t.Errorf("after the rebuild: %+v, error %v", report, err)
	}

	back, err := x.Rollback(e.ctx, nil)
	if err != nil || back.Index != names.Index(1) || back.Count != report.Count || back.Checksum != report.Checksum {
		t.Errorf("rolled back to %+v, error %v; before it %+v", back, err, report)
	}
	e.eventually(time.Minute, func() string { return e.differs(hashes...) })
}

// rebuildAssets rebuilds all indices, and returns the phases of that of assets.
func (e *env) rebuildAssets() (done RebuildResult, phases []string, err error) {
	names := mappings.Names(e.cfg.Prefix)
	done, err = e.indexer().Rebuild(e.ctx, func(p Progress) {
		if p.Phase != PhaseDone && p.Index != names.Index(2) {
			return // another index than that of assets
		}
		if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
			phases = append(phases, p.Phase)
		}
	})
	return done, phases, err
}

func TestRebuild_AnInterruptedRebuildIsTakenUpOrGivenUp(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.BatchEvents = 10
	x := e.indexer()
	if _, err := x.EnsureIndex(e.ctx); err != nil {
		t.Fatal(err)
	}
	var hashes []library.AssetHash
	for i := range 20 {
		hashes = append(hashes, e.add(newAsset(fmt.Sprint(i))).Hash)
	}
	e.interruptRebuild(x, PhaseBackfill)
	if len(e.building()) != 1 {
		t.Fatalf("being built after the interruption: %v", e.building())
	}
	if err := x.AbortRebuild(e.ctx); err != nil {
		t.Fatal(err)
	}
	if v, err := x.survey(e.ctx); len(e.building()) != 0 || len(v.indices) != 1 || err != nil {
		t.Errorf("after giving up: being built %v, indices %v, error %v", e.building(), v.indices, err)
	}

	e.interruptRebuild(x, PhaseCompare)
	e.retitle("meanwhile", hashes...) // nobody consumes: the comparison must find these
	done, err := x.Rebuild(e.ctx, nil)
	if err != nil || done.Count != 20 {
		t.Fatalf("taken up: %+v, error %v", done, err)
	}
	if problem := e.differs(hashes...); problem != "" {
		t.Error(problem)
	}
	if err := x.AbortRebuild(e.ctx); err != nil || len(e.building()) != 0 {
		t.Errorf("giving up nothing: %v", err)
	}

	e.interruptRebuild(x, PhaseBackfill)
	if done, err = x.Rebuild(e.ctx, nil); err != nil {
		t.Fatal(err)
	}
	if got := e.refreshOf(done.Index); got != refreshInterval {
		t.Errorf("an index whose filling was interrupted refreshes every %q, want %q", got, refreshInterval)
	}
}

// interruptRebuild rebuilds until a phase begins.
func (e *env) interruptRebuild(x *Indexer, at string) {
	t := e.t
	t.Helper()
	ctx, cancel := context.WithCancel(e.ctx)
	_, err := x.Rebuild(ctx, func(p Progress) {
		if p.Phase == at {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted at %s: %v", at, err)
	}
}

// building returns the indices that are being built.
func (e *env) building() (names []string) {
	t := e.t
	t.Helper()
	list, err := e.store.Generations.List(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range list {
		if g.State == indexstate.GenerationBuilding {
			names = append(names, g.Name)
		}
	}
	return names
}

// refreshOf returns how often an index is refreshed.
func (e *env) refreshOf(index string) string {
	t := e.t
	t.Helper()
	var settings map[string]struct {
		Settings struct {
			Interval string `json:"index.refresh_interval"`
		} `json:"settings"`
	}
	if err := opensearch.Call(e.ctx, e.search, http.MethodGet, "/"+index+"/_settings?flat_settings=true", nil, &settings); err != nil {
		t.Fatal(err)
	}
	return settings[index].Settings.Interval
}

func TestRebuild_OnlyOneRebuildRuns(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	x := e.indexer()
	err := e.store.Generations.Lock(e.ctx, indexstate.AssetIndex, func(func(context.Context) bool) error {
		_, err := x.Rebuild(e.ctx, nil)
		return err
	})
	var f *library.Error
	if !errors.As(err, &f) || f.Kind != library.KindConflict {
		t.Errorf("a second rebuild gives %v", err)
	}
	if _, err := x.Rollback(e.ctx, nil); !errors.As(err, &f) || f.Kind != library.KindConflict {
		t.Errorf("a rollback to nothing gives %v", err)
	}
}

func TestRebuild_ADeletedIndexIsMadeAnewAndFilled(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.eventsOnly = false
	x := e.indexer()
	stop := e.run(e.relay(), x)
	a := e.add(newAsset("a"))
	e.eventually(time.Minute, func() string { return e.differs(a.Hash) })
	stop()
	live, err := x.liveIndex(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.deleteIndex(e.ctx, live); err != nil {
		t.Fatal(err)
	}
	e.run(e.relay(), serviceFunc(e.indexer().Run))
	b := e.add(newAsset("b"))
	e.eventually(time.Minute, func() string { return e.differs(a.Hash, b.Hash) })
}
