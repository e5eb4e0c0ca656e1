package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"vitrine/internal/bench"
	"vitrine/internal/stack"
	"vitrine/service"
)

// benchCommand measures the way of files into the library when nothing else is
// named, as it did before there was more to measure.
type benchCommand struct {
	Library benchLibrary `cmd:"" default:"withargs" help:"Measure import, indexing, search and MCP over generated files (the default)."`
	Search  benchSearch  `cmd:"" help:"Measure searches over many generated assets with vectors."`

	Relevance benchRelevance `cmd:"" help:"Measure whether searches find what is looked for, beside five other engines."`
}

type benchLibrary struct {
	servers
	Count   int    `default:"20000" help:"Generated files to measure with."`
	Natural int    `default:"600" help:"Files of natural size for a second measure of the import; 0 leaves it out."`
	Edge    int    `default:"256" help:"Longest side of the other pictures in pixels."`
	Quick   bool   `help:"At most 2,000 files and fewer repeats, for trying."`
	Seed    uint64 `default:"1" help:"Of the generated library."`
	Write   string `type:"path" placeholder:"FILE" help:"Write the report as a page too."`
	JSON    bool   `name:"json" help:"Print the report as JSON."`
	Check   bool   `help:"End with an error when a figure misses its bar."`
	Only    string `enum:",import,search,commit,indexer" default:"" help:"Measure only this after the import: search, commit or indexer; import measures nothing more."`
	Profile string `type:"path" placeholder:"DIR" help:"Write a CPU profile of each step to this folder."`
}

// Run measures on the configured servers, in a database, indices and topics of
// its own, and removes them at the end.
func (c *benchLibrary) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	c.quieten(&cfg)
	measure := bench.Config{Servers: cfg, Count: c.Count, Natural: c.Natural, Edge: c.Edge, Seed: c.Seed, Profile: c.Profile, Only: c.Only, Step: step}
	if len(c.KafkaBrokers) == 0 {
		measure.Kafka = stack.KafkaVersion // the local stack's
	}
	if c.Quick {
		measure.Count, measure.Natural = min(c.Count, 2000), min(c.Natural, 200)
		measure.Repeats, measure.WarmUp, measure.Commits = 8, 200, 20
	}
	report, err := bench.Run(ctx, measure)
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

// quieten leaves out what the measured service says all the time: it would drown
// the steps.
func (s *servers) quieten(cfg *service.Config) {
	if s.LogLevel == "info" {
		cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
}

func (c *benchLibrary) tell(report bench.Report) error {
	if c.Write != "" {
		if err := os.WriteFile(c.Write, []byte(report.Markdown(c.command())), 0o644); err != nil {
			return err
		}
	}
	if c.JSON {
		return printMeasures(report)
	}
	return report.Print(os.Stdout)
}

func printMeasures(report any) error {
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(report)
}

// command gives the call that measures the same again.
func (c *benchLibrary) command() string {
	list := []string{"vitrine bench"}
	add := func(differs bool, flag string) {
		if differs {
			list = append(list, flag)
		}
	}
	add(c.Quick, "--quick")
	add(c.Count != 20000, "--count "+strconv.Itoa(c.Count))
	add(c.Natural != 600, "--natural "+strconv.Itoa(c.Natural))
	add(c.Edge != 256, "--edge "+strconv.Itoa(c.Edge))
	add(c.Seed != 1, "--seed "+strconv.FormatUint(c.Seed, 10))
	return strings.Join(append(list, "--write docs/performance.md"), " ")
}
