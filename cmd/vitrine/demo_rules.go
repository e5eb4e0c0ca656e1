package main

import (
	"context"

	"vitrine/api/client"
)

// demoRules are the rules of the demo. The pipeline of the first changes nothing; the second has
// none, and only tells of what matches.
var demoRules = []struct {
	name, description, pipeline string
	trigger                     client.Trigger
}{
	{"Long renders on Mondays", "Summarizes the long renders every Monday at nine in Berlin.", "long_renders_by_model", client.Trigger{Type: "schedule", Cron: "0 9 * * 1", Timezone: "Europe/Berlin"}},
	{demoFiredRule, "Emits rule.fired when a collection is published.", "", client.Trigger{Type: "event", EventType: "collection.published"}},
	{"Tell of what is to be reviewed", "Emits rule.fired for images that are newly tagged review.", "", client.Trigger{Type: "watch", Query: "tag:review", IntervalMinutes: 5}},
}

// demoFiredRule is the rule that the demo fires by hand, so that its log shows a firing.
const demoFiredRule = "Tell of what is published"

// demoMakeRules makes the rules. Those that an earlier run made are left as they are.
func demoMakeRules(ctx context.Context, api *client.Client) error {
	have, err := api.ListRules(ctx, client.ListRulesInput{Limit: 500})
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, r := range have.Data {
		known[r.Name] = true
	}
	for _, r := range demoRules {
		if known[r.name] {
			continue
		}
		if _, err := api.CreateRule(ctx, client.CreateRuleInput{Name: r.name, Description: r.description, PipelineName: r.pipeline, TriggerConfig: r.trigger}); err != nil {
			return err
		}
		if r.name != demoFiredRule {
			continue
		}
		if _, err := api.TriggerRule(ctx, client.TriggerRuleInput{TriggerType: "event", EventType: r.trigger.EventType, EventData: map[string]any{"note": "The demo fired this by hand."}}); err != nil {
			return err
		}
	}
	return nil
}
