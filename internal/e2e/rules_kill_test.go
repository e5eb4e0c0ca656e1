package e2e

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/service/servicetest"
)

// TestRules_KillAtAnyPointHasEachEffectOnce kills the service while rules fire, with no warning: with
// a firing and its run written and not committed, and with both committed while whoever handled the
// event does not know it. Afterwards each file was marked once.
func TestRules_KillAtAnyPointHasEachEffectOnce(t *testing.T) {
	t.Parallel()
	k := newKilled(t)
	var key struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal([]byte(command(t, k.cfg, "keys", "create", "rules", "--permissions", "read,search,write,admin", "--json")), &key); err != nil {
		t.Fatal(err)
	}
	k.api.Key = key.Secret
	p := serve(t, k.cfg, "")
	ctx := t.Context()
	_, err := k.api.SavePipeline(ctx, client.SavePipelineInput{Name: "Mark", Vars: map[string]any{"asset_ids": map[string]any{"type": "list"}}, Stages: []map[string]any{
		{"type": "ids", "config": map[string]any{"asset_ids": "{{vars.asset_ids}}"}},
		{"type": "compute", "config": map[string]any{"field": "metadata.marks", "expression": "coalesce(metadata.marks, 0) + 1"}}}})
	if err == nil {
		_, err = k.api.CreateRule(ctx, client.CreateRuleInput{Name: "Mark what arrives", PipelineName: "mark", TriggerConfig: client.Trigger{Type: "event", EventType: "asset.created"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	p.stop()
	n := 0
	for _, point := range []string{"rules.firing", "rules.fired"} {
		p := serve(t, k.cfg, point+":2")
		for began, alive := time.Now(), true; alive && time.Since(began) < time.Minute; {
			n++
			alive, _ = k.upload(n)
			time.Sleep(100 * time.Millisecond)
		}
		p.awaitDeath(point)
	}
	p = serve(t, k.cfg, "")
	defer p.stop()
	if ok, _ := k.upload(n + 1); !ok {
		t.Fatal("a file cannot be stored after the kills")
	}
	servicetest.Eventually(t, "each file is marked", func() error {
		if rows, marked := k.rows(), k.count(`SELECT count(*) FROM assets WHERE metadata ? 'marks'`); rows != marked || rows < 3 {
			return fmt.Errorf("%d of %d files are marked", marked, rows)
		}
		return nil
	})
	rows := k.rows()
	once, firings, runs := k.count(`SELECT count(*) FROM assets WHERE metadata ->> 'marks' = '1'`), k.count(`SELECT count(*) FROM rule_runs`), k.count(`SELECT count(*) FROM pipeline_runs`)
	if once != rows || firings != rows || runs != rows {
		t.Errorf("of %d files %d were marked once, with %d firings and %d runs", rows, once, firings, runs)
	}
}
