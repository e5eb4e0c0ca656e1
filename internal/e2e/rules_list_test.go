package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/service/servicetest"
)

// TestRules_AreListedByEveryFilterInPages lists rules of every kind, by each filter and all of them at once,
// one at a time.
func TestRules_AreListedByEveryFilterInPages(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	other := e.NewTenant("Another studio")
	api := e.Client(e.NewKeyFor(e.Tenant, []library.TenantID{other}, library.Permissions...))
	triggers := map[string]client.Trigger{"event": {Type: "event", EventType: "asset.trashed"}, "schedule": {Type: "schedule", Cron: "0 9 * * 1"}, "watch": {Type: "watch", Query: "tag:none"}}
	var all []client.CreateRuleInput
	add := func(tenant library.TenantID, name, kind string, enabled bool) {
		t.Helper()
		in := client.CreateRuleInput{TenantID: string(tenant), Name: name, TriggerConfig: triggers[kind], Enabled: &enabled}
		if _, err := api.CreateRule(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		all = append(all, in)
	}
	for i, kind := range []string{"event", "schedule", "watch", "event", "schedule", "event"} {
		add(e.Tenant, fmt.Sprintf("%c rule", "cAbEdF"[i]), kind, i < 4)
	}
	add(other, "Theirs", "watch", true)
	for _, tenant := range []library.TenantID{"", e.Tenant, other} {
		for _, enabled := range []*bool{nil, new(true), new(false)} {
			for _, kind := range []string{"", "event", "schedule", "watch"} {
				var want []string
				for _, r := range all {
					home := library.TenantID(r.TenantID) == tenant || tenant == "" && r.TenantID == string(e.Tenant)
					if home && (enabled == nil || *r.Enabled == *enabled) && (kind == "" || r.TriggerConfig.Type == kind) {
						want = append(want, r.Name)
					}
				}
				slices.SortFunc(want, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
				got := []string{}
				for offset := 0; ; offset++ {
					page, err := api.ListRules(t.Context(), client.ListRulesInput{TenantID: string(tenant), Enabled: enabled, TriggerType: kind, Limit: 1, Offset: offset})
					if err != nil || page.Total != len(want) {
						t.Fatalf("page %d of %v rules of the kind %q: %d of %d in all, %v", offset, enabled, kind, page.Total, len(want), err)
					}
					if len(page.Data) == 0 {
						break
					}
					got = append(got, page.Data[0].Name)
				}
				if !slices.Equal(got, want) && len(got)+len(want) > 0 {
					t.Errorf("enabled %v, kind %q of the tenant %q: %v, want %v", enabled, kind, tenant, got, want)
				}
			}
		}
	}
	for _, in := range []client.ListRulesInput{{TriggerType: "manual"}, {Limit: 501}, {Offset: -1}} {
		if _, err := api.ListRules(t.Context(), in); codeOfError(err) != library.CodeValidationFailed {
			t.Errorf("%+v: %v", in, err)
		}
	}
	if _, err := e.Client("").ListRules(t.Context(), client.ListRulesInput{TenantID: string(other)}); err == nil {
		t.Error("the rules of another tenant are listed for a key that does not reach it")
	}
}

// TestRules_TriggeredByHandReportEachRuleUntilItIsDisabled dispatches an event by hand to rules that fire, that
// reached their limit, that fail, and that wait for something else; and disables one.
func TestRules_TriggeredByHandReportEachRuleUntilItIsDisabled(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	api := e.Client("")
	if _, err := api.SavePipeline(t.Context(), client.SavePipelineInput{Name: "Count", Stages: []map[string]any{{"type": "ids", "config": map[string]any{"asset_ids": []any{strings.Repeat("a", 40)}}}, {"type": "count"}}}); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	add := func(name string, in client.CreateRuleInput) {
		t.Helper()
		in.Name = name
		out, err := api.CreateRule(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = out.RuleID
	}
	trashed := client.Trigger{Type: "event", EventType: "asset.trashed"}
	add("counts", client.CreateRuleInput{TriggerConfig: trashed, PipelineName: "count"})
	add("family", client.CreateRuleInput{TriggerConfig: client.Trigger{Type: "event", EventType: "asset.*"}})
	add("limited", client.CreateRuleInput{TriggerConfig: trashed, RateLimitConfig: &client.RateLimit{MaxExecutionsPerHour: 1}})
	add("other", client.CreateRuleInput{TriggerConfig: client.Trigger{Type: "event", EventType: "asset.created"}})
	add("off", client.CreateRuleInput{TriggerConfig: trashed, Enabled: new(false)})
	trigger := func() string { t.Helper(); return triggerTrash(t, api, ids) }
	if got := trigger(); got != "counts running, family done, limited done" {
		t.Errorf("the first event: %s", got)
	}
	if got := trigger(); got != "counts running, family done, limited rate_limited" {
		t.Errorf("the second event: %s", got)
	}
	for _, name := range []string{"counts", "family"} {
		if _, err := api.UpdateRule(t.Context(), client.UpdateRuleInput{RuleID: ids[name], Enabled: new(false)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := trigger(); got != "limited rate_limited" {
		t.Errorf("after two rules were disabled: %s", got)
	}
	if _, err := api.UpdateRule(t.Context(), client.UpdateRuleInput{RuleID: ids["counts"], Enabled: new(true)}); err != nil {
		t.Fatal(err)
	}
	if got := trigger(); got != "counts running, limited rate_limited" {
		t.Errorf("after one was enabled again: %s", got)
	}
	awaitFirings(e, ids["counts"], 3)
	for _, in := range []client.TriggerRuleInput{{TriggerType: "event"}, {TriggerType: "event", EventType: "asset.vanished"}, {TriggerType: "manual"}} {
		if _, err := api.TriggerRule(t.Context(), in); codeOfError(err) != library.CodeValidationFailed {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

// triggerTrash dispatches an event by hand, and returns the rules that it reached with their states, in order.
func triggerTrash(t *testing.T, api *client.Client, ids map[string]string) string {
	t.Helper()
	out, err := api.TriggerRule(t.Context(), client.TriggerRuleInput{TriggerType: "event", EventType: "asset.trashed", EventData: map[string]any{"why": "by hand"}})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, x := range out.Data {
		if x.RuleID != ids[x.Name] || x.RuleRunID == "" || (x.RunID != "") != (x.Name == "counts") {
			t.Errorf("a result: %+v", x)
		}
		list = append(list, x.Name+" "+x.State)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
