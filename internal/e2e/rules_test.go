package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/automation/webhook"
	"vitrine/library"
	"vitrine/media/fetch/fetchtest"
	"vitrine/service/servicetest"
)

// firing is an entry of the log of a rule.
type firing struct {
	State       string         `json:"state"`
	RunID       string         `json:"run_id"`
	OperationID string         `json:"operation_id"`
	Changed     int64          `json:"changed_count"`
	Reason      map[string]any `json:"reason"`
	Error       string         `json:"error"`
}

// firings returns the log of a rule, the oldest first.
func firings(e *servicetest.Env, rule string) []firing {
	e.T.Helper()
	var out struct{ Data []firing }
	e.Call(http.MethodGet, "/api/v1/rules/"+rule+"/runs", nil, &out)
	slices.Reverse(out.Data)
	return out.Data
}

// awaitFirings waits until a rule has fired so many times and the runs have ended.
func awaitFirings(e *servicetest.Env, rule string, n int) []firing {
	e.T.Helper()
	var list []firing
	servicetest.Eventually(e.T, fmt.Sprintf("the rule has fired %d times", n), func() error {
		list = firings(e, rule)
		if len(list) < n || slices.ContainsFunc(list, func(f firing) bool { return f.State == "running" }) {
			return fmt.Errorf("its log is %+v", list)
		}
		return nil
	})
	return list
}

// makeRule makes a rule by REST.
func makeRule(e *servicetest.Env, rule map[string]any) (id string) {
	e.T.Helper()
	var out struct {
		RuleID string `json:"rule_id"`
	}
	e.Call(http.MethodPost, "/api/v1/rules", rule, &out)
	return out.RuleID
}

// filePrompted is a picture with generation data.
func filePrompted(n int, prompt string) []byte {
	return withText(picture(n, ""), "parameters", fmt.Sprintf("%s\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: %d, Size: 48x32, Model: base_v1", prompt, n))
}

// TestRules_RunPipelinesOfTheProductOnEventsAndForWhatNewlyMatches has the running product, with its
// Kafka and its index, fire rules.
func TestRules_RunPipelinesOfTheProductOnEventsAndForWhatNewlyMatches(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	first := e.StoreFile("", "old.png", "image/png", filePrompted(1, "a heron"), "review")
	e.Search("", "tag:review", first.OperationID)
	for _, name := range []string{"arrived", "reviewed"} {
		e.Call(http.MethodPost, "/api/v1/pipelines", map[string]any{"name": name, "vars": map[string]any{"asset_ids": map[string]any{"type": "list"}}, "stages": []any{
			map[string]any{"type": "ids", "config": map[string]any{"asset_ids": "{{vars.asset_ids}}"}}, map[string]any{"type": "set_tag", "config": map[string]any{"tags": []string{name}}}}}, nil)
	}
	onCreated := makeRule(e, map[string]any{"name": "Mark what arrives", "trigger_config": map[string]any{"type": "event", "event_type": "asset.created"}, "pipeline_name": "arrived"})
	onMatch := makeRule(e, map[string]any{"name": "Mark what is to be reviewed", "trigger_config": map[string]any{"type": "watch", "query": "tag:review", "interval_minutes": 1}, "pipeline_name": "reviewed"})
	second := e.StoreFile("", "new.png", "image/png", filePrompted(2, "an otter"), "review")
	e.Search("", "tag:review", second.OperationID)
	fired := awaitFirings(e, onCreated, 1)
	if len(fired) != 1 || fired[0].State != "done" || fired[0].Changed != 1 || fired[0].OperationID == "" {
		t.Fatalf("one file was stored since: %+v", fired)
	}
	var looked struct {
		Data []struct{ State, Name string }
	}
	e.Call(http.MethodPost, "/api/v1/rules/trigger", map[string]any{"trigger_type": "watch"}, &looked)
	if len(looked.Data) != 1 || looked.Data[0].State != "running" {
		t.Errorf("a watch that is asked to look: %+v", looked)
	}
	awaitFirings(e, onMatch, 1)
	e.Call(http.MethodPost, "/api/v1/rules/trigger", map[string]any{"trigger_type": "watch"}, &looked)
	tags := func(hash string) []string {
		var d struct{ Tags []string }
		e.Call(http.MethodGet, "/api/v1/assets/"+hash, nil, &d)
		slices.Sort(d.Tags)
		return d.Tags
	}
	if got := tags(second.Asset.AssetH); !slices.Equal(got, []string{"arrived", "review", "reviewed"}) || len(looked.Data) != 0 {
		t.Errorf("the new file has the tags %v; looked at again: %+v", got, looked)
	}
	if got := tags(first.Asset.AssetH); !slices.Equal(got, []string{"review"}) {
		t.Errorf("the file that was there has the tags %v", got)
	}
	var simulated struct {
		Fired  int
		Sample []any
	}
	e.Call(http.MethodPost, "/api/v1/rules/"+onCreated+"/simulate", map[string]any{"hours": 1}, &simulated)
	if simulated.Fired != 2 || len(simulated.Sample) != 2 {
		t.Errorf("with the file of before the rule would have fired twice: %+v", simulated)
	}
	e.Call(http.MethodPost, "/api/v1/operations/"+fired[0].OperationID+"/undo", map[string]any{}, nil)
	e.Call(http.MethodPatch, "/api/v1/rules/"+onCreated, map[string]any{"enabled": false}, nil)
	third := e.StoreFile("", "third.png", "image/png", filePrompted(3, "a fox"))
	e.Search("", "fox", third.OperationID)
	if got := tags(second.Asset.AssetH); slices.Contains(got, "arrived") || len(firings(e, onCreated)) != 1 {
		t.Errorf("after the undo of its run and after it was disabled: %v, %+v", got, firings(e, onCreated))
	}
}

// TestJourney_AnAnalystReviewsNearDuplicatesEveryMonday is the third of the journeys by which
// newcomers judge, over REST: a template, text and JSON in step, counts per stage, a dry run that
// equals the run, a rule for Mondays at nine, a webhook to a relay, and the comparison of two Mondays.
func TestJourney_AnAnalystReviewsNearDuplicatesEveryMonday(t *testing.T) {
	t.Parallel()
	e := newMondays(t)
	pipeline := e.cloneTemplate()
	dry := e.dryRun(pipeline)
	rule := makeRule(e.Env, map[string]any{"name": "Mondays at nine", "pipeline_name": "monday review",
		"trigger_config": map[string]any{"type": "schedule", "cron": "0 9 * * 1", "timezone": "Europe/Berlin"}})
	e.checkDue(rule, time.Date(2026, 3, 23, 8, 0, 0, 0, time.UTC))
	hook := registerRelay(e.Env, fmt.Sprintf("https://relay.example.com:%d/in", e.relay.Port))
	e.at(23, 9, 0)
	first := awaitFirings(e.Env, rule, 1)
	if first[0].State != "done" || first[0].Changed != dry.ChangedCount || first[0].Reason["due"] != "2026-03-23T08:00:00Z" {
		t.Errorf("the dry run predicted %d changes: %+v", dry.ChangedCount, first)
	}
	stored := e.StoreFile("", "otter.png", "image/png", filePrompted(9, "an otter"), "otters")
	e.Search("", "otter", stored.OperationID)
	e.at(30, 8, 59) // the clocks have changed
	e.Call(http.MethodPost, "/api/v1/rules/trigger", map[string]any{"trigger_type": "schedule"}, nil)
	if got := firings(e.Env, rule); len(got) != 1 {
		t.Errorf("a minute before nine in Berlin it fired: %+v", got)
	}
	e.at(30, 9, 0)
	both := awaitFirings(e.Env, rule, 2)
	e.Call(http.MethodPost, "/api/v1/rules/trigger", map[string]any{"trigger_type": "schedule"}, nil)
	if got := firings(e.Env, rule); len(got) != 2 || both[1].Reason["due"] != "2026-03-30T07:00:00Z" {
		t.Errorf("it is due once: %+v", got)
	}

	hook.checkRuns(e.box, rule, both)

	e.checkMondays(rule, stored.Asset.AssetH, both)
}

// mondays is a product whose rules go by a clock in Berlin that the test sets, with four pictures
// of herons and a relay that webhooks can reach.
type mondays struct {
	*servicetest.Env
	clock  *atomic.Pointer[time.Time]
	berlin *time.Location
	relay  *fetchtest.Web
	box    *inbox
}

func newMondays(t *testing.T) mondays {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	e := mondays{clock: &atomic.Pointer[time.Time]{}, berlin: berlin, relay: fetchtest.New(t), box: &inbox{status: 204}}
	e.at(22, 18, 0) // a Sunday
	e.relay.Handler = e.box
	e.relay.Resolve("relay.example.com", fetchtest.Public)
	cfg := servicetest.Config(t)
	cfg.RuleClock = func() time.Time { return *e.clock.Load() }
	cfg.Webhooks = webhook.Config{AllowPrivate: fetchtest.Reachable(), RootCAs: e.relay.Roots, Resolver: e.relay.Resolver}
	e.Env = servicetest.StartWith(t, cfg, nil)
	for n := range 4 {
		e.StoreFile("", fmt.Sprintf("heron-%d.png", n), "image/png", filePrompted(n+1, "a heron"), "birds")
	}
	return e
}

// at sets the clock to a time of March 2026, whose 29th has the change of clocks.
func (e mondays) at(day, hour, minute int) {
	now := time.Date(2026, 3, day, hour, minute, 0, 0, e.berlin)
	e.clock.Store(&now)
}

// cloneTemplate copies the template of the system, checks that its text and its JSON are in step,
// and returns the copy.
func (e mondays) cloneTemplate() string {
	t := e.T
	t.Helper()
	var pipeline struct {
		PipelineH string `json:"pipeline_definition_h"`
		Version   int
		Stages    []map[string]any
		Text      string
	}
	e.Call(http.MethodPost, "/api/v1/pipelines/templates", map[string]any{"pipeline_definition_h": library.SystemPipelineHash("near_duplicate_review"), "name": "Monday review"}, &pipeline)
	e.Call(http.MethodGet, "/api/v1/pipelines/"+pipeline.PipelineH, nil, &pipeline)
	if pipeline.Version != 1 || len(pipeline.Stages) != 4 {
		t.Fatalf("the clone is %+v", pipeline)
	}
	var explained struct {
		Stages []map[string]any
		Text   string
	}
	e.Call(http.MethodPost, "/api/v1/pipelines/explain", map[string]any{"stages": pipeline.Stages, "vars": map[string]any{"query": "has:prompt", "collection": "review.unique"}}, &explained)
	var again struct{ Text string }
	e.Call(http.MethodPost, "/api/v1/pipelines/explain", map[string]any{"text": explained.Text}, &again)
	if explained.Text == "" || again.Text != explained.Text {
		t.Errorf("text and JSON are not in step: %q, %q", explained.Text, again.Text)
	}
	return pipeline.PipelineH
}

// mondayTrace is what a run of the pipeline did.
type mondayTrace struct {
	State        string
	RunID        string `json:"run_id"`
	ChangedCount int64  `json:"changed_count"`
	AssetCount   int64  `json:"asset_count"`
	Stages       []struct {
		Type   string
		Input  int64 `json:"input_count"`
		Output int64 `json:"output_count"`
		Result *struct {
			Columns []string
			Rows    [][]any
		}
	}
}

// dryRun runs a pipeline over the four herons without changing anything, and checks the counts
// of its stages and its table.
func (e mondays) dryRun(pipeline string) (dry mondayTrace) {
	t := e.T
	t.Helper()
	servicetest.Eventually(t, "the index has all files", func() error {
		e.Call(http.MethodPost, "/api/v1/pipelines/run", map[string]any{"pipeline_definition_h": pipeline, "dry_run": true}, &dry)
		if dry.State != "completed" || len(dry.Stages) != 4 || dry.Stages[0].Output != 4 {
			return fmt.Errorf("%+v", dry)
		}
		return nil
	})
	if table := dry.Stages[3].Result; table == nil || !slices.Equal(table.Columns, []string{"model", "status", "count"}) || len(table.Rows) == 0 {
		t.Errorf("the table of models and statuses is %+v", table)
	}
	return dry
}

// checkDue checks when a rule is due next.
func (e mondays) checkDue(rule string, want time.Time) {
	t := e.T
	t.Helper()
	var shown struct {
		NextAt time.Time `json:"next_at"`
	}
	e.Call(http.MethodGet, "/api/v1/rules/"+rule, nil, &shown)
	if !shown.NextAt.Equal(want) {
		t.Errorf("it is due next at %s, want %s", shown.NextAt, want)
	}
}

// checkMondays compares Monday's run with that of the Monday before, to which an asset came, and
// undoes it with one request.
func (e mondays) checkMondays(rule, entered string, both []firing) {
	t := e.T
	t.Helper()
	var diff struct{ Entered, Left []string }
	e.Call(http.MethodGet, "/api/v1/pipelines/runs/"+both[1].RunID+"/diff?with="+both[0].RunID, nil, &diff)
	if !slices.Equal(diff.Entered, []string{entered}) || len(diff.Left) != 0 {
		t.Errorf("the runs differ by %+v", diff)
	}
	items := func() (n int) {
		var page struct{ Total int }
		e.Call(http.MethodGet, "/api/v1/collections/review.unique/assets", nil, &page)
		return page.Total
	}
	before := items()
	e.Call(http.MethodPost, "/api/v1/operations/"+both[1].OperationID+"/undo", map[string]any{}, nil)
	if after := items(); before != after+1 {
		t.Errorf("the undo of a run took the collection from %d to %d images", before, after)
	}
	var runs struct {
		Runs []struct {
			StartedBy string `json:"started_by"`
			Trigger   struct {
				Type   string
				RuleID string `json:"rule_id"`
			}
		}
	}
	e.Call(http.MethodGet, "/api/v1/pipelines/runs?run_id="+both[1].RunID, nil, &runs)
	if r := runs.Runs[0]; r.StartedBy != rule || r.Trigger.RuleID != rule || r.Trigger.Type != "schedule" {
		t.Errorf("who ran what: %+v", r)
	}
}

// relayHook is a webhook that tells a relay of pipelines that completed.
type relayHook struct {
	e      *servicetest.Env
	secret string
}

// registerRelay registers a webhook by REST and looks at the outcome of its ping.
func registerRelay(e *servicetest.Env, url string) relayHook {
	e.T.Helper()
	var made struct {
		Secret string
		Ping   struct {
			Delivered bool
			Status    int
		}
	}
	e.Call(http.MethodPost, "/api/v1/webhooks", map[string]any{"name": "Slack relay", "url": url, "events": []string{"pipeline.completed"}}, &made)
	if !made.Ping.Delivered || made.Ping.Status != http.StatusNoContent || made.Secret == "" {
		e.T.Fatalf("the relay is registered as %+v", made)
	}
	return relayHook{e, made.Secret}
}

// checkRuns compares what the relay got with the runs of a rule. Each message is verified by the public library.
func (h relayHook) checkRuns(box *inbox, rule string, runs []firing) {
	h.e.T.Helper()
	box.await(h.e.T.(*testing.T), "pipeline.completed", len(runs))
	if !box.allVerified(h.e.T.(*testing.T), h.secret) {
		h.e.T.Error("a message to the relay is not signed with its secret")
	}
	_, bodies := box.messages("pipeline.completed")
	got := map[string]int{}
	for _, body := range bodies {
		var m struct {
			Data struct {
				RunID       string `json:"run_id"`
				OperationID string `json:"operation_id"`
				Name        string
				Counts      struct{ Selected, Changed int64 }
				Trigger     struct {
					Type   string
					RuleID string `json:"rule_id"`
				}
			}
		}
		if err := json.Unmarshal([]byte(body), &m); err != nil || m.Data.Trigger.RuleID != rule || m.Data.Trigger.Type != "schedule" || m.Data.Name != "Monday review" {
			h.e.T.Errorf("the relay got %s: %v", body, err)
		}
		for _, r := range runs {
			if r.RunID == m.Data.RunID && r.OperationID == m.Data.OperationID && r.Changed == m.Data.Counts.Changed {
				got[r.RunID]++
			}
		}
	}
	if len(got) != len(runs) || len(bodies) != len(runs) {
		h.e.T.Errorf("the relay got %d messages of %d runs, of %d: %v", len(bodies), len(got), len(runs), bodies)
	}
}
