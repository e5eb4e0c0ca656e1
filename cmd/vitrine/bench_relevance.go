package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"vitrine/embed"
	"vitrine/internal/relevance"
)

type benchRelevance struct {
	servers
	Count int    `default:"3000" help:"Generated assets to search among."`
	Seed  uint64 `default:"1" help:"Of the generated assets and queries."`
	Write string `type:"path" placeholder:"FILE" help:"Write the tables into a page too; what people wrote around them is kept."`
	JSON  bool   `name:"json" help:"Print the report as JSON."`
	Check bool   `help:"End with an error when a bar is missed."`
}

// Run measures on the configured servers, in an index and a temporary table of
// its own, and removes them at the end.
func (c *benchRelevance) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	e, err := embed.Open(cfg.Embed)
	if err != nil {
		return err
	}
	measure := relevance.Config{OpenSearchURL: cfg.OpenSearchURL, PostgresURL: cfg.PostgresURL, Count: c.Count, Seed: c.Seed, Step: step}
	if e != nil {
		defer func() { _ = e.Close() }() // nothing of it is kept
		measure.Embedder = e
	}
	report, err := relevance.Run(ctx, measure)
	if err != nil {
		return err
	}
	if err := c.tell(report); err != nil {
		return err
	}
	if c.Check && !report.Met() {
		return errSaid
	}
	return nil
}

func (c *benchRelevance) tell(report relevance.Report) error {
	command := "vitrine bench relevance --count " + strconv.Itoa(c.Count) + " --seed " + strconv.FormatUint(c.Seed, 10)
	if c.Write != "" {
		page, err := os.ReadFile(c.Write)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(c.Write, []byte(report.Page(string(page), command)), 0o644); err != nil {
			return err
		}
	}
	if c.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(report)
	}
	return report.Print(os.Stdout, command)
}
