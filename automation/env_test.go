package automation_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/automation"
	"vitrine/library"
	"vitrine/op/pipelines"
	"vitrine/pipeline"
	"vitrine/store"
	"vitrine/store/storetest"
)

// env is a library without an index, whose rules follow a clock that the test sets.
type env struct {
	*testing.T
	store   *store.Store
	db      *pgx.Conn // as the owner of the tables
	engine  *pipeline.Engine
	admin   library.Actor
	clock   atomic.Pointer[time.Time]
	rules   *automation.Rules
	index   sync.Mutex      // of db, where processes look at once
	lost    map[string]bool // assets that the index has lost
	handled int64           // position of the log
}

func newEnv(t *testing.T) *env {
	t.Helper()
	s, url := storetest.Open(t)
	e := &env{T: t, store: s, db: storetest.Owner(t, url), engine: pipeline.New(s), lost: map[string]bool{}}
	tenant, err := s.Tenants.Create(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, "Rules")
	if err != nil {
		t.Fatal(err)
	}
	e.admin = library.Actor{Kind: library.ActorKey, ID: "key_admin", Tenant: tenant.ID, Permissions: library.Permissions}
	e.at(time.Now().UTC())
	e.rules = e.process()
	return e
}

// process returns what one process of several fires rules with.
func (e *env) process() *automation.Rules {
	return automation.NewRules(e.store, automation.RulesConfig{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return *e.clock.Load() }, Prepare: e.prepare, EachMatch: e.eachMatch})
}

func (e *env) at(now time.Time) { e.clock.Store(&now) }

func (e *env) now() time.Time { return *e.clock.Load() }

func (e *env) prepare(ctx context.Context, actor library.Actor, r library.Rule, f library.RuleFiring) (library.PipelineRun, error) {
	p, err := e.store.Pipelines.Find(ctx, actor.Tenant, library.PipelineHash(r.Pipeline), "")
	if err != nil {
		return library.PipelineRun{}, err
	}
	vars := map[string]any{}
	for name, v := range f.Vars {
		if _, ok := p.Vars[name]; ok {
			vars[name] = v
		}
	}
	q := pipelines.Saved(p, vars)
	q.Tool, q.Trigger, q.Depth = "RunRule", library.RunTrigger{Type: string(r.Trigger.Type), RuleID: r.ID}, f.Depth+1
	return e.engine.Prepare(ctx, actor, q)
}

// eachMatch stands where the index does in the product: a query is a tag, or hashes of assets.
func (e *env) eachMatch(ctx context.Context, actor library.Actor, query string, each func([]library.AssetHash) error) error {
	e.index.Lock()
	rows, err := e.db.Query(ctx, `SELECT asset_h FROM assets WHERE tenant_id = $1 AND trashed_at IS NULL AND ($2 = ANY(tags) OR asset_h = ANY(string_to_array($2, ' OR '))) ORDER BY asset_h`, actor.Tenant, query)
	if err != nil {
		e.index.Unlock()
		return err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[library.AssetHash])
	e.index.Unlock()
	if err != nil {
		return err
	}
	var list []library.AssetHash
	for _, h := range all {
		if !e.lost[string(h)] {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return each(list)
}

// asset stores an asset with tags.
func (e *env) asset(n int, tags ...string) library.AssetHash {
	e.Helper()
	a := library.Asset{Hash: library.AssetHash(fmt.Sprintf("%040x", n+1)), SHA256: fmt.Sprintf("%064x", n+1), Filename: fmt.Sprintf("%d.png", n), MIMEType: "image/png", Size: 1, Tags: tags, CreatedAt: time.Now()}
	if _, err := e.store.Assets.Add(e.Context(), e.admin, store.NewAsset{Asset: a}); err != nil {
		e.Fatal(err)
	}
	return a.Hash
}

// change changes an asset.
func (e *env) change(h library.AssetHash, change func(*library.Asset)) {
	e.Helper()
	if _, err := e.store.Assets.Change(e.Context(), e.admin, []library.AssetHash{h}, change); err != nil {
		e.Fatal(err)
	}
}

// pipeline saves a pipeline of the text form whose variable asset_ids is set by rules.
func (e *env) pipeline(name, text string) string {
	e.Helper()
	stages, err := pipeline.ParseText(text)
	if err != nil {
		e.Fatal(err)
	}
	p, _, err := e.store.Pipelines.Save(e.Context(), e.admin, library.Pipeline{Name: name, Stages: stages, Vars: map[string]library.PipelineVar{"asset_ids": {Type: "list"}}})
	if err != nil {
		e.Fatal(err)
	}
	return string(p.Hash)
}

// rule makes a rule that begins now.
func (e *env) rule(r library.Rule) library.Rule {
	e.Helper()
	r.Enabled, r.Primed, r.Through = true, true, e.now()
	var matches []library.AssetHash
	if r.Trigger.Type == library.TriggerWatch {
		matches, r.Primed = e.rules.Prime(e.Context(), e.admin, r.Trigger.Query)
	}
	var err error
	if r.NextAt, err = automation.FirstLook(r, e.now()); err != nil {
		e.Fatal(err)
	}
	out, _, err := e.store.Rules.Add(e.Context(), e.admin, r, matches)
	if err != nil {
		e.Fatal(err)
	}
	return out
}

func onEvent(kind string) library.Trigger {
	return library.Trigger{Type: library.TriggerEvent, EventType: kind}
}

// events hands the events that were written since to rules, each as often as deliver says, as
// subscribers get them, and works on the runs that they start, until there are no more.
func (e *env) events(times int) {
	e.Helper()
	for range 50 {
		e.log()
		list, err := e.store.Events.After(e.Context(), e.admin, e.handled, nil, 10_000)
		if err != nil {
			e.Fatal(err)
		}
		if len(list) == 0 {
			return
		}
		for _, x := range list {
			for range times {
				if err := e.rules.Handle(e.Context(), x); err != nil {
					e.Fatal(err)
				}
			}
			e.handled = x.Position
		}
		e.work()
	}
	e.Fatal("events lead to events without end")
}

// log moves events to the log, as the relay does.
func (e *env) log() {
	e.Helper()
	for {
		n, err := e.store.Events.Log(e.Context(), 1000)
		if err != nil {
			e.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// work works on the runs that wait, as jobs do.
func (e *env) work() {
	e.Helper()
	list, err := e.store.PipelineRuns.List(e.Context(), e.admin.Tenant, store.RunFilter{State: library.RunQueued, Limit: 1000})
	if err != nil {
		e.Fatal(err)
	}
	for _, r := range list {
		if err := e.engine.Work(e.Context(), e.admin.Tenant, r.ID); err != nil {
			e.Fatal(err)
		}
	}
}

// due looks at what is due now.
func (e *env) due() {
	e.Helper()
	for _, kind := range []library.TriggerType{library.TriggerSchedule, library.TriggerWatch} {
		if err := e.rules.RunDue(e.Context(), kind); err != nil {
			e.Fatal(err)
		}
	}
}

// runs returns the log of a rule, the oldest first.
func (e *env) runs(r library.Rule) []library.RuleRun {
	e.Helper()
	list, _, err := e.store.Rules.Runs(e.Context(), e.admin.Tenant, r.ID, 10_000, 0)
	if err != nil {
		e.Fatal(err)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// states returns the states of the log of a rule, the oldest first.
func (e *env) states(r library.Rule) []string {
	e.Helper()
	out := []string{}
	for _, x := range e.runs(r) {
		out = append(out, x.State)
	}
	return out
}

// count returns a number that a statement selects.
func (e *env) count(sql string, args ...any) (n int) {
	e.Helper()
	if err := e.db.QueryRow(e.Context(), sql, args...).Scan(&n); err != nil {
		e.Fatal(err)
	}
	return n
}
