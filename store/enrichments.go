package store

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"vitrine/library"
)

// Enrichments keeps what the enrich stages of runs have jobs do, and what became of it.
type Enrichments struct{ s *Store }

// EnrichQueue is the queue of jobs that enrich assets, which many runs may wait for.
const EnrichQueue = "enrich"

// EnrichJob enriches some assets of a run.
type EnrichJob struct {
	Tenant library.TenantID `json:"tenant_id"`
	Run    string           `json:"run_id"`
	Stage  int              `json:"stage"`
	Part   int              `json:"part"`
}

// Kind implements JobArgs.
func (EnrichJob) Kind() string { return "enrich" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (EnrichJob) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: EnrichQueue} }

// enrichPart is how many assets one job enriches.
const enrichPart = 25

// PlanEnrichment enqueues the jobs that do some operations on those of a part's assets that are in
// the library and that the actor sees. It returns how many these are.
func (t *Tx) PlanEnrichment(ctx context.Context, run string, stage, chunk int, assets []library.AssetHash, operations []string) (int64, error) {
	rows, err := t.Query(ctx, `SELECT asset_h FROM unnest($2::text[]) WITH ORDINALITY AS k(hash, place) JOIN assets ON tenant_id = $1 AND asset_h = k.hash
		WHERE trashed_at IS NULL AND `+visibleTo("assets", "$3")+` ORDER BY place`, t.tenant(), assets, viewer(t.actor))
	if err != nil {
		return 0, err
	}
	live, err := pgx.CollectRows(rows, pgx.RowTo[library.AssetHash])
	if err != nil || len(operations) == 0 {
		return int64(len(live)), err
	}
	part := chunk * ((SetPart + enrichPart - 1) / enrichPart)
	b, jobs := &pgx.Batch{}, []JobArgs{}
	for some := range slices.Chunk(live, enrichPart) {
		b.Queue(`INSERT INTO pipeline_enrichments (tenant_id, run_id, stage, part, assets, operations) VALUES ($1, $2, $3, $4, $5, $6)`, t.tenant(), run, stage, part, some, operations)
		jobs = append(jobs, EnrichJob{t.tenant(), run, stage, part})
		part++
	}
	if len(jobs) == 0 {
		return 0, nil
	}
	if err := t.Send(ctx, b); err != nil {
		return 0, err
	}
	return int64(len(live)), t.Enqueue(ctx, jobs...)
}

// Enrichment is what one job does.
type Enrichment struct {
	Assets     []library.AssetHash
	Operations []string
	Done       bool // or nobody waits for it any more
}

// Get returns what a job does. One whose run is gone, or has ended, is done.
func (es *Enrichments) Get(ctx context.Context, j EnrichJob) (e Enrichment, err error) {
	err = es.s.readTenant(ctx, j.Tenant, `SELECT e.assets, e.operations, e.results IS NOT NULL OR r.finished_at IS NOT NULL OR r.cancel_requested FROM pipeline_enrichments e JOIN pipeline_runs r USING (tenant_id, run_id)
		WHERE e.tenant_id = $1 AND e.run_id = $2 AND e.stage = $3 AND e.part = $4`, []any{j.Tenant, j.Run, j.Stage, j.Part}, func(rows pgx.Rows) (err error) {
		e, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Enrichment])
		if errors.Is(err, pgx.ErrNoRows) {
			e, err = Enrichment{Done: true}, nil
		}
		return err
	})
	return e, err
}

// Enriched is what became of assets under one operation.
type Enriched struct {
	Changed int64  `json:"changed"`
	Same    int64  `json:"same"`             // it found what was known, or the file has nothing of the kind
	Failed  int64  `json:"failed"`           // the file could not be read
	Reason  string `json:"reason,omitempty"` // why the first of those failed
	Missing bool   `json:"missing"`          // this installation cannot do the operation
}

// Add counts what became of others too.
func (e *Enriched) Add(o Enriched) {
	e.Changed, e.Same, e.Failed, e.Missing = e.Changed+o.Changed, e.Same+o.Same, e.Failed+o.Failed, e.Missing || o.Missing
	if e.Reason == "" {
		e.Reason = o.Reason
	}
}

// Finish keeps the results of a job by operation.
func (es *Enrichments) Finish(ctx context.Context, j EnrichJob, results map[string]Enriched) error {
	return es.s.execTenant(ctx, j.Tenant, `UPDATE pipeline_enrichments SET results = $5 WHERE tenant_id = $1 AND run_id = $2 AND stage = $3 AND part = $4 AND results IS NULL`,
		j.Tenant, j.Run, j.Stage, j.Part, results)
}

// Progress returns what became of the assets of a stage so far by operation, and how many assets still wait.
func (es *Enrichments) Progress(ctx context.Context, tenant library.TenantID, run string, stage int) (done map[string]Enriched, waiting int64, err error) {
	done = map[string]Enriched{}
	err = es.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `SELECT coalesce(sum(cardinality(assets)), 0) FROM pipeline_enrichments WHERE tenant_id = $1 AND run_id = $2 AND stage = $3 AND results IS NULL`,
			tenant, run, stage).Scan(&waiting); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT key, sum((value ->> 'changed')::bigint)::bigint, sum((value ->> 'same')::bigint)::bigint, sum((value ->> 'failed')::bigint)::bigint,
				coalesce(min(value ->> 'reason'), ''), bool_or((value ->> 'missing')::boolean)
			FROM pipeline_enrichments, jsonb_each(results) WHERE tenant_id = $1 AND run_id = $2 AND stage = $3 AND results IS NOT NULL GROUP BY key`, tenant, run, stage)
		if err != nil {
			return err
		}
		var operation string
		var e Enriched
		_, err = pgx.ForEachRow(rows, []any{&operation, &e.Changed, &e.Same, &e.Failed, &e.Reason, &e.Missing}, func() error { done[operation] = e; return nil })
		return err
	})
	return done, waiting, err
}
