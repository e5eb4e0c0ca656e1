package main

import (
	"context"

	"vitrine/cmd/vitrine-bench/bench"
)

// webhooksCommand measures deliveries to webhooks.
type webhooksCommand struct {
	servers
	measured
	Events    int `default:"1000" help:"Number of events of each round, each to every endpoint."`
	Endpoints int `default:"10" help:"Number of endpoints that answer."`
	Dead      int `default:"100" help:"Number of endpoints that do not answer."`
}

// Run measures on the configured servers, in a database, indices and topics of
// its own, and removes them at the end.
func (c *webhooksCommand) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	c.quieten(&cfg)
	report, err := bench.RunWebhooks(ctx, bench.WebhooksConfig{Servers: cfg, Events: c.Events, Endpoints: c.Endpoints, Dead: c.Dead, Kafka: c.kafkaVersion(), Step: step})
	if err != nil {
		return err
	}
	return c.tell(report, again("vitrine-bench webhooks", flag("events", c.Events, 1000), flag("endpoints", c.Endpoints, 10), flag("dead", c.Dead, 100), "--write docs/measurements/webhooks.md"), report.Markdown)
}
