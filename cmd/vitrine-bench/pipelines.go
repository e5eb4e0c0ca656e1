package main

import (
	"context"

	"vitrine/cmd/vitrine-bench/bench"
)

// pipelinesCommand measures runs of pipelines.
type pipelinesCommand struct {
	servers
	measured
	Count   int    `default:"100000" help:"Number of assets with documents in the index."`
	Stream  int    `default:"1000000" help:"Number of rows of the largest set that goes through stages."`
	Repeats int    `default:"5" help:"Repetitions of each run."`
	Profile string `type:"path" placeholder:"DIR" help:"Write a CPU profile of each step to this folder."`
}

// Run measures on the configured servers, in a database, indices and topics of
// its own, and removes them at the end.
func (c *pipelinesCommand) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	c.quieten(&cfg)
	report, err := bench.RunPipelines(ctx, bench.PipelinesConfig{Servers: cfg, Count: c.Count, Stream: c.Stream, Repeats: c.Repeats, Seed: c.Seed, Profile: c.Profile, Kafka: c.kafkaVersion(), Step: step})
	if err != nil {
		return err
	}
	return c.tell(report, again("vitrine-bench pipelines", flag("count", c.Count, 100000), flag("stream", c.Stream, 1000000), flag("repeats", c.Repeats, 5), flag("seed", c.Seed, 1),
		"--write docs/measurements/pipelines.md"), report.Markdown)
}
