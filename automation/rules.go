package automation

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/failpoint"
	"vitrine/internal/panics"
	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// RulesConfig is what rules work with. Prepare and EachMatch are required.
type RulesConfig struct {
	Log *slog.Logger
	Now func() time.Time // nil: time.Now
	// Prepare makes the run of a rule's pipeline that a firing starts. Nothing is written.
	Prepare func(ctx context.Context, actor library.Actor, r library.Rule, f library.RuleFiring) (library.PipelineRun, error)
	// EachMatch calls each with all assets that a query finds for an actor, page by page.
	EachMatch func(ctx context.Context, actor library.Actor, query string, each func([]library.AssetHash) error) error
	Tick      time.Duration // how often due rules are looked for; 0 means 1 s
}

// Rules fires rules. What fired and what it started is in the database in one transaction, under
// a name for the cause, so any number of processes may evaluate the same rules, and one that is
// killed is taken up by another.
type Rules struct {
	cfg      RulesConfig
	rules    *store.Rules
	assets   *store.Assets
	events   *store.Events
	state    *indexstate.State
	interest interest
	id       string // of this process
}

// NewRules returns what fires the rules of a store.
func NewRules(st *store.Store, cfg RulesConfig) *Rules {
	cfg.Tick = cmp.Or(cfg.Tick, time.Second)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Rules{cfg: cfg, id: rand.Text(), rules: st.Rules, assets: st.Assets, events: st.Events, state: st.IndexState}
}

// Now returns the time by the clock that schedules follow.
func (rs *Rules) Now() time.Time { return rs.cfg.Now() }

// RuleSubscriber is the name of the subscriber that fires rules.
const RuleSubscriber = "rules"

// Occurrence is an event as rules see it, of the log or made by hand.
type Occurrence struct {
	Source string // names it; one occurrence fires a rule once
	Type   string
	Key    string
	Data   json.RawMessage // an object
	At     *time.Time      // by the clock of the database; nil: now
	Depth  int             // rules that led to it, one by one
}

// Result is what became of a rule that was looked at.
type Result struct {
	Rule library.Rule
	Run  library.RuleRun
}

// cause is what events say of where they come from.
type cause struct {
	CausationDepth int    `json:"causation_depth"`
	RunID          string `json:"run_id"`
	State          string `json:"state"`
	ErrorCode      string `json:"error_code"`
	Trigger        struct {
		RuleID string `json:"rule_id"`
	} `json:"trigger"`
}

// Handle fires the rules that wait for an event, and notes the end of runs that rules started. Its
// subscriber begins with the oldest event.
func (rs *Rules) Handle(ctx context.Context, e store.LoggedEvent) error {
	var c cause
	if err := json.Unmarshal(e.Payload, &c); err != nil {
		return fmt.Errorf("the event at %d has no object: %w", e.Position, err)
	}
	// A notify stage emits the same types while its run goes on.
	ended := (e.Type == store.EventPipelineCompleted || e.Type == store.EventPipelineFailed) && library.RunState(c.State).Ended()
	if ended && c.Trigger.RuleID != "" {
		failed := library.RunState(c.State) != library.RunCompleted
		why := ""
		if failed {
			why = cmp.Or(c.ErrorCode, c.State)
		}
		if err := rs.rules.Ended(ctx, e.Tenant, c.Trigger.RuleID, c.RunID, failed, why); err != nil {
			return err
		}
	}
	wanted, err := rs.interest.in(e.Tenant, e.Type, e.At, func() ([]string, time.Time, error) { return rs.rules.Subscribed(ctx, e.Tenant) })
	if err != nil || !wanted {
		return err
	}
	epoch, err := rs.state.Epoch(ctx)
	if err != nil {
		return err
	}
	_, err = rs.fireEvent(ctx, e.Tenant, Occurrence{Source: fmt.Sprintf("event/%.8s.%d", epoch.ID, e.Position), Type: e.Type, Key: e.Key, Data: e.Payload, At: &e.At, Depth: c.CausationDepth})
	return err
}

// patternsOfRules returns what rules that wait for an event type may have written. Those that wait
// for all events do not wait for what rules do: each firing would fire them.
func patternsOfRules(kind string) []string {
	list := Patterns(kind)
	if strings.HasPrefix(kind, "rule.") {
		list = list[:2]
	}
	return list
}

// fireEvent fires the rules of a tenant that wait for an event.
func (rs *Rules) fireEvent(ctx context.Context, tenant library.TenantID, o Occurrence) (out []Result, err error) {
	list, err := rs.rules.ForEvent(ctx, tenant, patternsOfRules(o.Type), o.At)
	if err != nil {
		return nil, err
	}
	var data any
	if err := json.Unmarshal(o.Data, &data); err != nil {
		return nil, err
	}
	now := rs.cfg.Now()
	for _, r := range list {
		f := library.RuleFiring{Source: o.Source, At: now, Depth: o.Depth, Reason: map[string]any{"event_type": o.Type, "key": o.Key, "data": data},
			Vars: map[string]any{"event_type": o.Type, "asset_ids": assetsOf(o.Data)}}
		run, err := rs.fire(ctx, tenant, r, f)
		if err != nil {
			return out, err
		}
		out = append(out, Result{r, run})
	}
	return out, nil
}

// assetsOf returns the asset that an event is about, if it is about one.
func assetsOf(data json.RawMessage) []any {
	var d struct {
		Noun   string `json:"noun"`
		ID     string `json:"id"`
		AssetH string `json:"asset_h"`
	}
	_ = json.Unmarshal(data, &d) // data of other forms names no asset
	if d.AssetH == "" && (d.Noun == "asset" || d.Noun == "collection_item") {
		d.AssetH, _, _ = strings.Cut(d.ID, "/") // an item's key is its asset and the collection
	}
	if !library.AssetHash(d.AssetH).Valid() {
		return []any{}
	}
	return []any{d.AssetH}
}

// fire fires a rule for a cause.
func (rs *Rules) fire(ctx context.Context, tenant library.TenantID, r library.Rule, f library.RuleFiring) (library.RuleRun, error) {
	var plan store.FiringPlan
	if r.Pipeline != "" && f.Depth < library.MaxCausationDepth {
		run, err := rs.cfg.Prepare(ctx, store.RuleActor(tenant, r), r, f)
		switch known := library.AsError(err); {
		case err == nil:
			plan.Run = &run
		case known.Kind == library.KindInternal || known.Retryable():
			return library.RuleRun{}, err
		default:
			plan.Failed = why(known)
		}
	}
	run, err := rs.rules.Fire(ctx, tenant, r, f, plan)
	if err == nil {
		err = failpoint.Inject("rules.fired")
	}
	return run, err
}

// Check reports why a rule could not do what it is for: its pipeline lacks the value of a variable,
// or the confirmation of a stage. It takes a firing that no rule has had.
func (rs *Rules) Check(ctx context.Context, actor library.Actor, r library.Rule) error {
	if r.Pipeline == "" {
		return nil
	}
	f := library.RuleFiring{Source: "check", At: rs.cfg.Now(), Vars: map[string]any{"event_type": "asset.created", "due": rs.cfg.Now().UTC().Format(time.RFC3339), "asset_ids": []any{strings.Repeat("0", 40)}}}
	if _, err := rs.cfg.Prepare(ctx, actor, r, f); err != nil && !library.AsError(err).Retryable() {
		return err
	}
	return nil
}

// why returns an error as one text.
func why(e *library.Error) string {
	text := e.Detail
	for _, f := range e.Fields {
		text += " " + f.Field + ": " + f.Message
	}
	const most = 1000
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// Trigger evaluates the schedules of a tenant that are due, checks its watches, or fires the rules
// that wait for an event which somebody makes by hand.
func (rs *Rules) Trigger(ctx context.Context, tenant library.TenantID, kind library.TriggerType, eventType string, data map[string]any) ([]Result, error) {
	if kind != library.TriggerEvent {
		return rs.triggerDue(ctx, tenant, kind)
	}
	if data == nil {
		data = map[string]any{}
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	return rs.fireEvent(ctx, tenant, Occurrence{Source: "manual/" + rand.Text(), Type: eventType, Key: "manual", Data: raw})
}

// triggerDue looks at the schedules of a tenant that are due, or at all its watches.
func (rs *Rules) triggerDue(ctx context.Context, tenant library.TenantID, kind library.TriggerType) (out []Result, err error) {
	list, _, err := rs.rules.List(ctx, tenant, store.RuleFilter{Enabled: new(true), Trigger: kind}, library.MaxRules, 0)
	for _, r := range list {
		if kind == library.TriggerSchedule && (r.NextAt == nil || r.NextAt.After(rs.cfg.Now())) {
			continue
		}
		done, err := rs.look(ctx, tenant, r)
		out = append(out, done...)
		if err != nil {
			return out, err
		}
	}
	return out, err
}

// look evaluates a schedule or a watch.
func (rs *Rules) look(ctx context.Context, tenant library.TenantID, r library.Rule) ([]Result, error) {
	if r.Trigger.Type == library.TriggerWatch {
		return rs.lookForMatches(ctx, tenant, r)
	}
	return rs.fireDue(ctx, tenant, r)
}

// Run looks at due rules until ctx ends, while no other process does. Watches do not hold up
// schedules.
func (rs *Rules) Run(ctx context.Context) error {
	var g errgroup.Group
	for _, kind := range []library.TriggerType{library.TriggerSchedule, library.TriggerWatch} {
		g.Go(func() error {
			for ctx.Err() == nil {
				err := panics.Try(func() error {
					leads, err := rs.rules.Lead(ctx, kind, rs.id, 10*rs.cfg.Tick)
					if err != nil || !leads {
						return err
					}
					return rs.RunDue(ctx, kind)
				})
				if err != nil && ctx.Err() == nil {
					rs.cfg.Log.Warn("due rules could not be looked at; trying again", "trigger_type", kind, "error", err)
				}
				_ = retry.Sleep(ctx, rs.cfg.Tick)
			}
			return nil
		})
	}
	return g.Wait()
}

const (
	// duePage is how many due rules are read at once.
	duePage = 200
	// againAfter is when a rule is looked at again that could not be looked at.
	againAfter = 30 * time.Second
)

// RunDue looks at all rules with a kind of trigger that are due now. One that cannot be looked at,
// because the index is away for example, waits and holds up no other.
func (rs *Rules) RunDue(ctx context.Context, kind library.TriggerType) error {
	now := rs.cfg.Now()
	for ctx.Err() == nil {
		list, err := rs.rules.Due(ctx, kind, now, duePage)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, due := range list {
			r, err := rs.rules.Get(ctx, due.Tenant, due.ID)
			if err == nil {
				_, err = rs.look(ctx, due.Tenant, r)
			}
			if err != nil && ctx.Err() == nil {
				rs.cfg.Log.Warn("a rule could not be looked at; trying again", "rule", due.ID, "error", err)
				if err := rs.rules.Postpone(ctx, due, now.Add(againAfter)); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}
