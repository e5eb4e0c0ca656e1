package main

import (
	"context"

	"vitrine/cmd/vitrine-bench/relevance"
	"vitrine/embed"
)

type relevanceCommand struct {
	servers
	measured
	Count   int `default:"3000" help:"Number of generated assets to search."`
	Queries int `default:"1200" help:"Judged queries per half; known-item queries are a tenth of that per kind."`
}

// Run measures on the configured servers, in an index and a temporary table of
// its own, and removes them at the end.
func (c *relevanceCommand) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	e, err := embed.Open(cfg.Embed)
	if err != nil {
		return err
	}
	measure := relevance.Config{OpenSearchURL: cfg.OpenSearchURL, PostgresURL: cfg.PostgresURL, Count: c.Count, Queries: c.Queries, Known: c.Queries / 10, Seed: c.Seed, Step: step}
	if e != nil {
		defer func() { _ = e.Close() }() // nothing of it is kept
		measure.Embedder = e
	}
	report, err := relevance.Run(ctx, measure)
	if err != nil {
		return err
	}
	command := again("vitrine-bench relevance", flag("count", c.Count, 0), flag("queries", c.Queries, 1200), flag("seed", c.Seed, 0))
	return c.tell(&report, command, report.Markdown)
}
