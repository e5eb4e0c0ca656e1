package main

import (
	"context"
	"errors"
	"os"

	"vitrine/cmd/vitrine-bench/bench"
)

type searchCommand struct {
	servers
	measured
	Count   int    `default:"100000" help:"Number of generated assets to search."`
	Repeats int    `default:"15" help:"Repetitions of each search."`
	Profile string `type:"path" placeholder:"DIR" help:"Write a CPU profile of each step to this folder."`
}

// Run measures on the configured servers, in a database, indices and topics of
// its own, and removes them at the end.
func (c *searchCommand) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	c.quieten(&cfg)
	measure := bench.SearchConfig{Servers: cfg, Count: c.Count, Repeats: c.Repeats, Seed: c.Seed, Profile: c.Profile, Kafka: c.kafkaVersion(), Step: step}
	report, err := bench.RunSearch(ctx, measure)
	if err != nil {
		if len(report.Figures) > 0 { // it took long enough
			err = errors.Join(err, report.Print(os.Stdout))
		}
		return err
	}
	return c.tell(report, c.command(), report.Markdown)
}

func (c *searchCommand) command() string {
	return again("vitrine-bench search", flag("count", c.Count, 100000), flag("repeats", c.Repeats, 15), flag("seed", c.Seed, 1), "--write docs/measurements/performance-search.md")
}
