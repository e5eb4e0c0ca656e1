package bench

import (
	"context"
	"fmt"
	"time"

	"vitrine/library"
	"vitrine/pipeline"
	"vitrine/service"
)

// PipelinesConfig is how large the library is and where it is kept.
type PipelinesConfig struct {
	Servers service.Config // PostgresURL, Brokers, OpenSearchURL, Version and Log are used
	Count   int            // assets with documents in the index, 100 to 1,000,000
	Stream  int            // rows of the largest set that goes through stages, 1,000 to 1,000,000
	Repeats int            // of each run; 0 means 5
	Seed    uint64         // of the corpus; 0 means 1
	Profile string         // folder for CPU profiles of each step; "" makes none
	Kafka   string         // its version, where it is known: Kafka itself does not tell

	// Step is told what is done now, for a person who waits.
	Step func(format string, args ...any)
}

// RunPipelines measures runs of pipelines: their memory, and their time beside bare SQL and bulk
// requests.
func RunPipelines(ctx context.Context, cfg PipelinesConfig) (report PipelinesReport, err error) {
	if cfg.Count < minOrganize || cfg.Count > maxCount || cfg.Stream < 1000 || cfg.Stream > maxCount {
		return report, library.Invalid(library.FieldError{Field: "count", Code: "range", Message: fmt.Sprintf("Give a number of assets from %d to %d, and of rows from 1000 to %d.", minOrganize, maxCount, maxCount)})
	}
	setDefault(&cfg.Repeats, 5)
	e, err := start(ctx, Config{Servers: cfg.Servers, Count: cfg.Count, Repeats: cfg.Repeats, Seed: cfg.Seed, Kafka: cfg.Kafka, Step: cfg.Step})
	if err != nil {
		return report, err
	}
	defer e.cleanUp(&err)
	report.Setting, report.Stream = e.setting(ctx), cfg.Stream
	p := &piping{organizing: &organizing{env: e}, actor: library.Actor{Kind: library.ActorSystem, ID: "bench", Tenant: e.tenant, Permissions: library.Permissions}}
	if err := p.fillAssets(ctx); err != nil {
		return report, err
	}
	p.streams = p.run(service.RoleRelay, service.RoleIndex)
	if err := p.awaitFound(ctx, ""); err != nil {
		return report, err
	}
	report.Figures, err = measureAll(ctx, cfg.Profile, one("fused", p.measureFused), one("set_tag", p.measureSetTag),
		one("stream", func(ctx context.Context) (Figure, error) { return p.measureStream(ctx, cfg.Stream) }))
	return report, err
}

// piping is a library that pipelines run over.
type piping struct {
	*organizing
	actor library.Actor
}

// runLimit is how long one measured run may take.
const runLimit = time.Hour

// pipe runs a pipeline to its end and checks how many assets it ends with.
func (p *piping) pipe(ctx context.Context, engine *pipeline.Engine, actor library.Actor, text string, dry bool, want int) error {
	stages, err := pipeline.ParseText(text)
	if err != nil {
		return err
	}
	r, err := engine.Start(ctx, actor, pipeline.Request{Stages: stages, DryRun: dry, Tool: "ExecutePipeline"})
	if err == nil {
		r, err = engine.Await(ctx, actor, r.ID, runLimit)
	}
	if err == nil && (r.State != library.RunCompleted || r.Progress.Assets != int64(want)) {
		err = fmt.Errorf("the run of %q is %s with %d assets, want %d: %+v", text, r.State, r.Progress.Assets, want, r.Progress.Error)
	}
	return err
}

// measureFused runs a pipeline that one query of the index does, and the same stage by stage.
func (p *piping) measureFused(ctx context.Context) (Figure, error) {
	p.Step("Running pipelines as one query and stage by stage")
	apart := *p.Pipelines
	apart.NoFusion = true
	f := Figure{Key: KeyFused, Repeats: p.Repeats}
	for _, c := range []struct {
		name, text string
		limit      int
	}{
		{"where, sort, first 1,000", `search | where width >= 1 | sort created desc | limit 1000 | count`, 1000},
		{"where, sort, all", `search | where width >= 1 | sort created desc | count`, p.Count},
	} {
		whole, parts, err := p.turns(p.Repeats,
			func() error { return p.pipe(ctx, p.Pipelines, p.actor, c.text, true, min(c.limit, p.Count)) },
			func() error { return p.pipe(ctx, &apart, p.actor, c.text, true, min(c.limit, p.Count)) })
		if err != nil {
			return f, err
		}
		f.Rows = append(f.Rows, Row{Name: c.name, Unit: "ms", Ours: whole, Floor: parts, Ratio: whole.P50 / parts.P50})
	}
	f.Value = f.Rows[0].Ratio
	return f, nil
}

// measureSetTag tags every asset until searches find them all by the tag, beside a bare UPDATE of
// the same rows and bulk requests of the same documents.
func (p *piping) measureSetTag(ctx context.Context) (Figure, error) {
	p.Step("Tagging %d assets", p.Count)
	var run, agreed, update []float64
	for i := range branches {
		tag := fmt.Sprintf("bench%d", i)
		began := time.Now()
		if err := p.pipe(ctx, p.Pipelines, p.actor, "search | set_tag "+tag, false, p.Count); err != nil {
			return Figure{}, err
		}
		run = append(run, time.Since(began).Seconds()*1000)
		if err := p.awaitFound(ctx, "tag:"+tag); err != nil {
			return Figure{}, err
		}
		agreed = append(agreed, time.Since(began).Seconds()*1000)
		began = time.Now()
		if err := p.bareTag(ctx, fmt.Sprintf("bare%d", i)); err != nil {
			return Figure{}, err
		}
		update = append(update, time.Since(began).Seconds()*1000)
	}
	bulk, err := p.rawBulk(ctx)
	if err != nil {
		return Figure{}, err
	}
	both := make([]float64, len(update))
	for i, ms := range update {
		both[i] = ms + bulk.P50
	}
	whole := Row{Name: "until searches find every asset by the tag", Unit: "ms", Ours: summarize(agreed, false), Floor: summarize(both, false)}
	whole.Ratio = whole.Ours.P50 / whole.Floor.P50
	alone := Row{Name: "the run, beside the UPDATE alone", Unit: "ms", Ours: summarize(run, false), Floor: summarize(update, false)}
	alone.Ratio = alone.Ours.P50 / alone.Floor.P50
	return Figure{Key: KeySetTag, Value: whole.Ratio, Repeats: branches, Rows: []Row{whole, alone}}, nil
}

// bareTag adds a tag to every row by one statement. Nothing tells the index of it.
func (p *piping) bareTag(ctx context.Context, tag string) error {
	return unforced(ctx, p.conn, []string{"assets"}, func() error {
		done, err := p.conn.Exec(ctx, `UPDATE assets SET tags = tags || $2::text, updated_at = now() WHERE tenant_id = $1`, p.tenant, tag)
		if err == nil && done.RowsAffected() != int64(p.Count) {
			err = fmt.Errorf("%d of %d rows were tagged by SQL", done.RowsAffected(), p.Count)
		}
		return err
	})
}
