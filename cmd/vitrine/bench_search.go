package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"vitrine/internal/bench"
	"vitrine/internal/stack"
)

type benchSearch struct {
	servers
	Count   int    `default:"100000" help:"Generated assets to search among."`
	Repeats int    `default:"15" help:"How often each search is repeated."`
	Seed    uint64 `default:"1" help:"Of the generated assets."`
	Write   string `type:"path" placeholder:"FILE" help:"Write the report as a page too; what people wrote at its end is kept."`
	JSON    bool   `name:"json" help:"Print the report as JSON."`
	Check   bool   `help:"End with an error when a figure misses its bar."`
	Profile string `type:"path" placeholder:"DIR" help:"Write a CPU profile of each step to this folder."`
}

// Run measures on the configured servers, in a database, indices and topics of
// its own, and removes them at the end.
func (c *benchSearch) Run(ctx context.Context) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	c.quieten(&cfg)
	measure := bench.SearchConfig{Servers: cfg, Count: c.Count, Repeats: c.Repeats, Seed: c.Seed, Profile: c.Profile, Step: step}
	if len(c.KafkaBrokers) == 0 {
		measure.Kafka = stack.KafkaVersion // the local stack's
	}
	report, err := bench.RunSearch(ctx, measure)
	if err != nil {
		if len(report.Figures) > 0 { // it took long enough
			err = errors.Join(err, report.Print(os.Stdout))
		}
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

func (c *benchSearch) tell(report bench.SearchReport) error {
	if c.Write != "" {
		before, err := os.ReadFile(c.Write)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.WriteFile(c.Write, []byte(report.Markdown(c.command(), string(before))), 0o644); err != nil {
			return err
		}
	}
	if c.JSON {
		return printMeasures(report)
	}
	return report.Print(os.Stdout)
}

// command gives the call that measures the same again.
func (c *benchSearch) command() string {
	list := []string{"vitrine bench search"}
	add := func(differs bool, flag string) {
		if differs {
			list = append(list, flag)
		}
	}
	add(c.Count != 100000, "--count "+strconv.Itoa(c.Count))
	add(c.Repeats != 15, "--repeats "+strconv.Itoa(c.Repeats))
	add(c.Seed != 1, "--seed "+strconv.FormatUint(c.Seed, 10))
	return strings.Join(append(list, "--write docs/performance-search.md"), " ")
}
