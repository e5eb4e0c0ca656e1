// Package bench measures the product against the bare parts it stands on.
//
// In come the addresses of the servers and how many assets to measure with; out
// comes a Report of five figures, each a comparison within one run: the service
// and its floor take turns, so that a machine that is slow or busy is slow or
// busy for both. It works in a database, indices, topics and folders of its own
// and removes them at its end, also when it is interrupted. It never touches the
// deployment's data, and it judges no code by time in a test: its figures are for
// people to read.
package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"vitrine/automation/webhook"
	"vitrine/embed"
	"vitrine/inplace"
	"vitrine/library"
	"vitrine/service"
)

// Config is what to measure and where.
type Config struct {
	Servers service.Config // PostgresURL, Brokers, OpenSearchURL, Version and Log are used
	Count   int            // small pictures, 20 to 1,000,000
	Natural int            // pictures of natural size for a second measure of the import; 0 leaves it out
	Edge    int            // longest side of the small pictures in pixels
	Rounds  int            // turns of import and indexer; 0 means 5
	Repeats int            // turns of every search; 0 means 25
	WarmUp  int            // searches per side before the first that counts; 0 means 600
	Commits int            // changes whose way into the index is timed; 0 means 60
	Seed    uint64         // of the sample library; 0 means 1
	Profile string         // folder for CPU profiles of each step; "" makes none
	Only    string         // one step beside the import, which all need: import, search, commit, indexer; "" means all
	Kafka   string         // its version, where it is known: Kafka itself does not tell

	roots []inplace.Root // folders that may be imported in place
	hooks webhook.Config // which endpoints webhooks can have
	embed embed.Config   // what gives texts their meaning; nothing does in a run over files

	// Step is told what is done now, for a person who waits.
	Step func(format string, args ...any)
}

const (
	minCount = 20
	maxCount = 1_000_000
)

func (c Config) withDefaults() (Config, error) {
	if c.Count < minCount || c.Count > maxCount {
		return c, library.Invalid(library.FieldError{Field: "count", Code: "range",
			Message: fmt.Sprintf("Give a number of assets from %d to %d.", minCount, maxCount)})
	}
	setDefault(&c.Edge, 256)
	setDefault(&c.Rounds, 5)
	setDefault(&c.Repeats, 25)
	setDefault(&c.WarmUp, 600)
	setDefault(&c.Commits, 60)
	setDefault(&c.Seed, 1)
	if c.Step == nil {
		c.Step = func(string, ...any) {}
	}
	return c, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Run measures everything once. An interrupted run gives the context's error and
// has cleaned up after itself.
func Run(ctx context.Context, cfg Config) (report Report, err error) {
	if cfg, err = cfg.withDefaults(); err != nil {
		return report, err
	}
	e, err := open(ctx, cfg)
	if err != nil {
		return report, err
	}
	defer e.cleanUp(&err)
	report.Setting = e.setting(ctx)
	r := rand.New(rand.NewPCG(cfg.Seed, 0))
	steps := []step{
		{"import", e.measureImport},
		{"search", func(ctx context.Context) ([]Figure, error) { return e.measureSearch(ctx, r) }},
		{"commit", func(ctx context.Context) ([]Figure, error) { return e.measureCommit(ctx, r) }},
		{"indexer", e.measureIndexer},
	}
	if e.Only != "" { // the others need what is imported
		steps = slices.DeleteFunc(steps, func(s step) bool { return s.name != e.Only && s.name != "import" })
	}
	if report.Figures, err = measureAll(ctx, cfg.Profile, steps...); err != nil {
		return report, err
	}
	report.Repeated = e.repeated
	sortFigures(report.Figures, Criteria)
	return report, nil
}
