// Package relevance measures whether searches give people what they look for.
//
// In come the addresses of the servers, an embedder and a number of assets; out
// comes a Report that sets the product's search beside five others over the same
// documents: plain BM25 of OpenSearch, nearest neighbours alone, PostgreSQL's full
// text, SQLite's FTS5, and the product's own words without meaning.
//
// What is judged is generated: scenes are drawn from a small lexicon, written out
// as prompts in various words, and queried in other words. An asset's grade for a
// query follows from its scene, which no search and no embedder sees; they see the
// text alone. The same seed gives the same assets, queries and grades everywhere.
//
// It works in an index of its own and a temporary table, removes both at its end,
// and never touches the deployment's data.
package relevance

import (
	"context"
	"fmt"
	"log/slog"

	"vitrine/embed"
	"vitrine/library"
)

// Config is what to measure with, and where.
type Config struct {
	OpenSearchURL []string
	PostgresURL   string         // "" leaves PostgreSQL out, and the report says so
	Embedder      embed.Embedder // nil leaves meaning out, and the report says so
	SQLite        string         // path of the sqlite3 program; "" looks it up, and without one the report says so

	Count   int    // assets, 200 to 100,000
	Queries int    // judged queries per half; 0 means 300
	Known   int    // searches for one known asset per kind and half; 0 means 30
	Seed    uint64 // 0 means 1
	Texts   *Texts // searches in public texts are judged too; nil: they are not
	Drawn   int    // documents of each public collection; 0 means 1000
	Log     *slog.Logger

	// Step is told what is done now, for a person who waits.
	Step func(format string, args ...any)
}

const (
	minCount = 200
	maxCount = 100_000
)

func (c Config) withDefaults() (Config, error) {
	if c.Count < minCount || c.Count > maxCount {
		return c, library.Invalid(library.FieldError{Field: "count", Code: "range",
			Message: fmt.Sprintf("Give a number of assets from %d to %d.", minCount, maxCount)})
	}
	if c.Queries == 0 {
		c.Queries = 300
	}
	if c.Known == 0 {
		c.Known = 30
	}
	if c.Drawn == 0 {
		c.Drawn = 1000
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Step == nil {
		c.Step = func(string, ...any) {}
	}
	return c, nil
}

// Run measures everything once, and removes what it made also when it fails.
func Run(ctx context.Context, cfg Config) (report Report, err error) {
	if cfg, err = cfg.withDefaults(); err != nil {
		return report, err
	}
	set := Generate(cfg.Count, cfg.Queries, cfg.Known, cfg.Seed)
	report = newReport(cfg, set)
	all, err := openEngines(ctx, cfg, set, &report)
	defer func() {
		if closed := all.close(); err == nil {
			err = closed
		}
	}()
	if err != nil {
		return report, err
	}
	if err := all.judge(ctx, cfg, set, &report); err != nil {
		return report, err
	}
	spelled := set.of(ClassTypo, ClassSlip, ClassTags, ClassSentence, ClassSynonym)
	cfg.Step("Asking for better spellings: %d queries", len(spelled.Queries))
	if err := all.index.respell(ctx, spelled.Queries, &report); err != nil {
		return report, err
	}
	if err := runPublic(ctx, cfg, &report); err != nil {
		return report, err
	}
	report.conclude()
	return report, nil
}

// runPublic judges the public collections, each in an index of its own.
func runPublic(ctx context.Context, cfg Config, report *Report) error {
	if cfg.Texts == nil {
		report.lack("Searches in public texts were not measured (--public).")
		return nil
	}
	sets, err := cfg.Texts.Collections(cfg.Drawn, cfg.Seed)
	if err != nil {
		return err
	}
	for _, set := range sets {
		if err := runCollection(ctx, cfg, set, report); err != nil {
			return err
		}
	}
	return nil
}

func runCollection(ctx context.Context, cfg Config, set *Set, report *Report) (err error) {
	report.Public = append(report.Public, len(set.assets))
	all, err := openEngines(ctx, cfg, set, report)
	defer func() {
		if closed := all.close(); err == nil {
			err = closed
		}
	}()
	if err != nil {
		return err
	}
	return all.judge(ctx, cfg, set, report)
}

// judge asks all engines for the queries of a set.
func (e *engines) judge(ctx context.Context, cfg Config, set *Set, report *Report) error {
	for _, a := range e.retrievers {
		part := set.of(a.only...)
		cfg.Step("Searching with %s: %d queries", a.name, len(part.Queries))
		ranked, err := a.rank(ctx, part.Queries)
		if err != nil {
			return fmt.Errorf("searching with %s: %w", a.name, err)
		}
		report.add(a.name, part, ranked)
	}
	return nil
}
