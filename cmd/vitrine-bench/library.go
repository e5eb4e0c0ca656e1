package main

import (
	"context"

	"vitrine/cmd/vitrine-bench/bench"
)

// libraryCommand measures the way of files into the library and out of it.
type libraryCommand struct {
	servers
	measured
	Count   int    `default:"20000" help:"Number of generated files."`
	Natural int    `default:"600" help:"Files of natural size for a second import measurement; 0 for none."`
	Edge    int    `default:"256" help:"Longest side of the other images in pixels."`
	Quick   bool   `help:"Quick run: at most 2,000 files and fewer repeats."`
	Only    string `enum:",import,search,commit,indexer" default:"" help:"Measure only this after the import: search, commit, indexer, or import for nothing else."`
	Profile string `type:"path" placeholder:"DIR" help:"Write a CPU profile of each step to this folder."`
}

// Run measures on the configured servers, in a database, indices and topics of
// its own, and removes them at the end.
func (c *libraryCommand) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	c.quieten(&cfg)
	measure := bench.Config{Servers: cfg, Count: c.Count, Natural: c.Natural, Edge: c.Edge, Seed: c.Seed, Profile: c.Profile, Only: c.Only, Kafka: c.kafkaVersion(), Step: step}
	if c.Quick {
		measure.Count, measure.Natural = min(c.Count, 2000), min(c.Natural, 200)
		measure.Repeats, measure.WarmUp, measure.Commits = 8, 200, 20
	}
	report, err := bench.Run(ctx, measure)
	if err != nil {
		return err
	}
	return c.tell(report, c.command(), report.Markdown)
}

func (c *libraryCommand) command() string {
	quick := ""
	if c.Quick {
		quick = "--quick"
	}
	return again("vitrine-bench", quick, flag("count", c.Count, 20000), flag("natural", c.Natural, 600), flag("edge", c.Edge, 256), flag("seed", c.Seed, 1),
		"--write docs/measurements/performance.md")
}
