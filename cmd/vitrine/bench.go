package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
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
	measured
	Count   int    `default:"20000" help:"Generated files to measure with."`
	Natural int    `default:"600" help:"Files of natural size for a second measure of the import; 0 leaves it out."`
	Edge    int    `default:"256" help:"Longest side of the other pictures in pixels."`
	Quick   bool   `help:"At most 2,000 files and fewer repeats, for trying."`
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

// measured is what every measurement does with its outcome.
type measured struct {
	Seed  uint64 `default:"1" help:"Of what is generated."`
	Write string `type:"path" placeholder:"FILE" help:"Write the report as a page too; what people wrote beside the figures is kept."`
	JSON  bool   `name:"json" help:"Print the report as JSON."`
	Check bool   `help:"End with an error when a figure misses its bar."`
}

// tell writes and prints a report; page makes its page of the command that wrote
// it and the page as it is.
func (m *measured) tell(report interface {
	Print(io.Writer) error
	Met() bool
}, command string, page func(command, before string) string,
) error {
	if m.Write != "" {
		before, err := os.ReadFile(m.Write)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(m.Write, []byte(page(command, string(before))), 0o644); err != nil {
			return err
		}
	}
	if err := m.print(report.Print, report); err != nil {
		return err
	}
	if m.Check && !report.Met() {
		return errSaid
	}
	return nil
}

func (m *measured) print(table func(io.Writer) error, report any) error {
	if !m.JSON {
		return table(os.Stdout)
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(report)
}

// again writes the call that measures the same: the flags that are not as usual.
func again(command string, flags ...string) string {
	return strings.Join(append([]string{command}, slices.DeleteFunc(flags, func(f string) bool { return f == "" })...), " ")
}

// flag gives a flag with its value, or "" where that is the usual one.
func flag[T comparable](name string, value, usual T) string {
	if value == usual {
		return ""
	}
	return fmt.Sprintf("--%s %v", name, value)
}

// quieten leaves out what the measured service says all the time: it would drown
// the steps.
func (s *servers) quieten(cfg *service.Config) {
	if s.LogLevel == "info" {
		cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
}

// kafkaVersion is known of the local stack only: Kafka itself does not tell.
func (s *servers) kafkaVersion() string {
	if len(s.KafkaBrokers) == 0 {
		return stack.KafkaVersion
	}
	return ""
}

func (c *benchLibrary) command() string {
	quick := ""
	if c.Quick {
		quick = "--quick"
	}
	return again("vitrine bench", quick, flag("count", c.Count, 20000), flag("natural", c.Natural, 600), flag("edge", c.Edge, 256), flag("seed", c.Seed, 1),
		"--write docs/performance.md")
}
