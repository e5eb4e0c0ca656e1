package main

import (
	"context"

	"vitrine/cmd/vitrine-bench/bench"
)

// organizeCommand measures what is done with collections.
type organizeCommand struct {
	servers
	measured
	Count       int    `default:"100000" help:"Number of assets in the large collection."`
	Collections int    `default:"5000" help:"Number of collections beside it."`
	Repeats     int    `default:"15" help:"Repetitions of each call."`
	Profile     string `type:"path" placeholder:"DIR" help:"Write a CPU profile of each step to this folder."`
}

// Run measures on the configured servers, in a database, indices and topics of
// its own, and removes them at the end.
func (c *organizeCommand) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	c.quieten(&cfg)
	report, err := bench.RunOrganize(ctx, bench.OrganizeConfig{Servers: cfg, Count: c.Count, Collections: c.Collections, Repeats: c.Repeats, Seed: c.Seed, Profile: c.Profile, Kafka: c.kafkaVersion(), Step: step})
	if err != nil {
		return err
	}
	return c.tell(report, again("vitrine-bench organize", flag("count", c.Count, 100000), flag("collections", c.Collections, 5000), flag("repeats", c.Repeats, 15), flag("seed", c.Seed, 1),
		"--write docs/measurements/collections.md"), report.Markdown)
}
