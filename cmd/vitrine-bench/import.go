package main

import (
	"context"

	"vitrine/cmd/vitrine-bench/bench"
)

// importCommand measures the import of a folder in place.
type importCommand struct {
	servers
	measured
	Count   int    `default:"50000" help:"Number of files in the folder."`
	Drawn   int    `default:"500" help:"Number of distinct pictures among them."`
	Edge    int    `default:"512" help:"Longest side of the pictures in pixels."`
	Profile string `type:"path" placeholder:"DIR" help:"Write a CPU profile to this folder."`
}

// Run measures on the configured servers, in a database, indices and topics of
// its own, and removes them and the folder at the end.
func (c *importCommand) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	c.quieten(&cfg)
	report, err := bench.RunFolder(ctx, bench.FolderConfig{Servers: cfg, Count: c.Count, Drawn: c.Drawn, Edge: c.Edge, Seed: c.Seed, Profile: c.Profile, Kafka: c.kafkaVersion(), Step: step})
	if err != nil {
		return err
	}
	return c.tell(report, again("vitrine-bench import", flag("count", c.Count, 50000), flag("drawn", c.Drawn, 500), flag("edge", c.Edge, 512), flag("seed", c.Seed, 1),
		"--write docs/measurements/importing.md"), report.Markdown)
}
