package main

import (
	"context"

	"vitrine/cmd/vitrine-bench/bench"
)

// outreachCommand measures searches of prospects.
type outreachCommand struct {
	servers
	measured
	Count   int    `default:"200000" help:"Number of prospects, and of assets beside them."`
	Repeats int    `default:"50" help:"Repetitions of each question."`
	Profile string `type:"path" placeholder:"DIR" help:"Write a CPU profile of each step to this folder."`
}

// Run measures on the configured servers, in a database, indices and topics of
// its own, and removes them at the end.
func (c *outreachCommand) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	c.quieten(&cfg)
	report, err := bench.RunOutreach(ctx, bench.OutreachConfig{Servers: cfg, Count: c.Count, Repeats: c.Repeats, Seed: c.Seed, Profile: c.Profile, Kafka: c.kafkaVersion(), Step: step})
	if err != nil {
		return err
	}
	return c.tell(report, again("vitrine-bench outreach", flag("count", c.Count, 200000), flag("repeats", c.Repeats, 50), flag("seed", c.Seed, 1),
		"--write docs/measurements/outreach.md"), report.Markdown)
}
