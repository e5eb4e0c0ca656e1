package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/service"
)

// SearchConfig is what to measure searches with.
type SearchConfig struct {
	Servers service.Config // PostgresURL, Brokers, OpenSearchURL, Version and Log are used
	Count   int            // assets with vectors, 100 to 1,000,000
	Repeats int            // turns of every search; 0 means 15
	Seed    uint64         // of the corpus; 0 means 1
	Profile string         // folder for CPU profiles of each step; "" makes none
	Kafka   string         // its version, where it is known: Kafka itself does not tell

	// Step is told what is done now, for a person who waits.
	Step func(format string, args ...any)
}

const minSearchCount = 100

func (c SearchConfig) withDefaults() (SearchConfig, error) {
	if c.Count < minSearchCount || c.Count > maxCount {
		return c, library.Invalid(library.FieldError{Field: "count", Code: "range",
			Message: fmt.Sprintf("Give a number of assets from %d to %d.", minSearchCount, maxCount)})
	}
	setDefault(&c.Repeats, 15)
	setDefault(&c.Seed, 1)
	if c.Step == nil {
		c.Step = func(string, ...any) {}
	}
	return c, nil
}

// RunSearch fills a library of its own with generated assets and measures how
// fast they are found: against OpenSearch and PostgreSQL over the same rows, at a
// tenth of the size and at the whole, and against the exact neighbours. An
// interrupted run gives the context's error and has cleaned up after itself. With
// an error the report has what was measured before it.
func RunSearch(ctx context.Context, cfg SearchConfig) (report SearchReport, err error) {
	if cfg, err = cfg.withDefaults(); err != nil {
		return report, err
	}
	c := newCorpus(cfg.Seed)
	meanings, stop, err := c.serveMeanings()
	if err != nil {
		return report, err
	}
	e, err := open(ctx, Config{Servers: cfg.Servers, Count: cfg.Count, Repeats: cfg.Repeats, Seed: cfg.Seed, Kafka: cfg.Kafka, Step: cfg.Step, embed: meanings})
	if err != nil {
		_ = stop(ctx)
		return report, err
	}
	e.undo = append(e.undo, stop)
	defer e.cleanUp(&err)
	report.Setting = SearchSetting{Setting: e.setting(ctx), Repeats: cfg.Repeats}
	// Nothing changes while searches are measured, and the rebuild does not need them.
	if err := e.streams.end(); err != nil {
		return report, err
	}
	report.Figures, err = e.measureSearches(ctx, c, cfg.Profile)
	if err != nil {
		return report, err
	}
	report.Repeated, report.Setting.Filled = e.repeated, e.filled.Round(time.Second).String()
	report.Setting.Segments, report.Setting.IndexMB, err = e.indexSize(ctx)
	if err != nil {
		return report, err
	}
	report.Setting.Memory, err = e.memory(ctx)
	return report, err
}

// measureSearches fills the library in two steps and measures after each.
func (e *env) measureSearches(ctx context.Context, c *corpus, profile string) (all []Figure, err error) {
	r := rand.New(rand.NewPCG(e.Seed, 0))
	if err := e.fill(ctx, c, e.Count/10); err != nil {
		return nil, err
	}
	small, err := e.measureSize(ctx, r, c)
	if err != nil {
		return nil, err
	}
	if err := e.fill(ctx, c, e.Count); err != nil {
		return nil, err
	}
	all, err = measureAll(ctx, profile,
		one("growth", func(ctx context.Context) (Figure, error) {
			large, err := e.measureSize(ctx, r, c)
			if err != nil {
				return Figure{}, err
			}
			return growth(small, large), nil
		}),
		step{"words", func(ctx context.Context) ([]Figure, error) { return e.measureWords(ctx, r) }},
		step{"meaning", func(ctx context.Context) ([]Figure, error) { return e.measureMeaning(ctx, r, c) }},
		step{"compiling", func(context.Context) ([]Figure, error) { return e.measureCompiling() }},
		step{"recall", func(ctx context.Context) ([]Figure, error) { return e.measureRecall(ctx, c) }},
		step{"rival", func(ctx context.Context) ([]Figure, error) { return e.measureRival(ctx, r) }})
	if err != nil {
		return all, err
	}
	sortFigures(all, SearchCriteria)
	return all, nil
}

// indexSize returns the number of segments of the index and its size.
func (e *env) indexSize(ctx context.Context) (segments, mb int, err error) {
	var response struct {
		All struct {
			Primaries struct {
				Segments struct {
					Count int `json:"count"`
				} `json:"segments"`
				Store struct {
					Bytes int64 `json:"size_in_bytes"`
				} `json:"store"`
			} `json:"primaries"`
		} `json:"_all"`
	}
	err = e.index(ctx, http.MethodGet, "/"+e.alias()+"/_stats/segments,store", nil, &response)
	return response.All.Primaries.Segments.Count, int(response.All.Primaries.Store.Bytes >> 20), err
}

// memory reports what the servers have been given.
func (e *env) memory(ctx context.Context) (string, error) {
	var response struct {
		Nodes map[string]struct {
			JVM struct {
				Memory struct {
					Heap int64 `json:"heap_max_in_bytes"`
				} `json:"mem"`
			} `json:"jvm"`
		} `json:"nodes"`
	}
	if err := e.index(ctx, http.MethodGet, "/_nodes/jvm", nil, &response); err != nil {
		return "", err
	}
	var heap int64
	for _, n := range response.Nodes {
		heap += n.JVM.Memory.Heap
	}
	conn, err := pgx.Connect(ctx, e.cfg.PostgresURL)
	if err != nil {
		return "", err
	}
	var buffers string
	err = conn.QueryRow(ctx, "SHOW shared_buffers").Scan(&buffers)
	return fmt.Sprintf("OpenSearch's heap %d MB, PostgreSQL's shared_buffers %s", heap>>20, buffers), errors.Join(err, conn.Close(ctx))
}
