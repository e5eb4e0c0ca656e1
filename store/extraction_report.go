package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Extraction reads what was extracted from files, and replaces it where a newer parser reads
// more.
type Extraction struct{ s *Store }

// ExtractionReport is how much the files of a tenant's assets outside the trash
// say about their making, and why not more.
type ExtractionReport struct {
	Assets  int64
	States  map[string]int64 // by a report's state; "" for assets stored without a report
	Reasons []ReasonCount    // all but "ok", the most frequent first
}

// ReasonCount is one reason for which files say less than they could.
type ReasonCount struct {
	Reason   string
	Count    int64
	Examples []library.AssetHash
	Details  []ReasonDetail // the most frequent first
}

// ReasonDetail is a program, a key or a node class that a reason is about.
type ReasonDetail struct {
	Name     string
	Count    int64
	Examples []library.AssetHash
}

// Bounds of a report.
const (
	reportExamples = 5
	reportDetails  = 50
)

// reported are the lineage rows l of assets outside the trash that the caller ($2) sees.
var reported = ` FROM lineage l JOIN assets a USING (tenant_id, asset_h) WHERE l.tenant_id = $1 AND a.trashed_at IS NULL AND ` + visibleTo("a", "$2")

// Report sums up the reports of all files of a tenant that the actor sees.
func (ex *Extraction) Report(ctx context.Context, actor library.Actor) (ExtractionReport, error) {
	r := ExtractionReport{States: map[string]int64{}}
	err := ex.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT coalesce(l.report ->> 'state', ''), count(*)`+reported+` GROUP BY 1`, actor.Tenant, viewer(actor))
		if err != nil {
			return err
		}
		var state string
		var n int64
		if _, err := pgx.ForEachRow(rows, []any{&state, &n}, func() error {
			r.States[state] = n
			r.Assets += n
			return nil
		}); err != nil {
			return err
		}
		if err := r.readReasons(ctx, tx, actor); err != nil {
			return err
		}
		return r.readDetails(ctx, tx, actor)
	})
	return r, err
}

// readReasons counts first and finds examples after, by the index on reasons.
func (r *ExtractionReport) readReasons(ctx context.Context, tx pgx.Tx, actor library.Actor) error {
	rows, err := tx.Query(ctx, `SELECT reason, n, ARRAY(SELECT l.asset_h`+reported+` AND l.reason = c.reason ORDER BY l.asset_h LIMIT $3)
		FROM (SELECT l.reason, count(*) AS n`+reported+` AND l.reason <> 'ok' GROUP BY 1) c ORDER BY n DESC, reason`, actor.Tenant, viewer(actor), reportExamples)
	if err != nil {
		return err
	}
	r.Reasons, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c ReasonCount, err error) {
		err = row.Scan(&c.Reason, &c.Count, &c.Examples)
		return c, err
	})
	return err
}

// readDetails counts by what a report names: the program that stripped the file,
// the keys that nobody reads, the node classes without a rule.
func (r *ExtractionReport) readDetails(ctx context.Context, tx pgx.Tx, actor library.Actor) error {
	rows, err := tx.Query(ctx, `SELECT reason, name, n, examples FROM (
			SELECT reason, name, count(*) AS n, (array_agg(asset_h ORDER BY asset_h))[1:$3] AS examples,
				row_number() OVER (PARTITION BY reason ORDER BY count(*) DESC, name) AS place
			FROM (
				SELECT l.reason, l.asset_h, l.report ->> 'by' AS name`+reported+` AND l.reason = 'stripped'
				UNION
				SELECT l.reason, l.asset_h, seen.name FROM lineage l JOIN assets a USING (tenant_id, asset_h)
					CROSS JOIN LATERAL jsonb_array_elements_text(coalesce(l.report -> 'seen', '[]')) AS seen(name)
				WHERE l.tenant_id = $1 AND a.trashed_at IS NULL AND `+visibleTo("a", "$2")+` AND l.reason IN ('unknown_writer', 'unknown_nodes')
			) named WHERE name IS NOT NULL GROUP BY reason, name) counted
		WHERE place <= $4 ORDER BY reason, place`, actor.Tenant, viewer(actor), reportExamples, reportDetails)
	if err != nil {
		return err
	}
	var reason string
	var d ReasonDetail
	_, err = pgx.ForEachRow(rows, []any{&reason, &d.Name, &d.Count, &d.Examples}, func() error {
		for i := range r.Reasons {
			if r.Reasons[i].Reason == reason {
				r.Reasons[i].Details = append(r.Reasons[i].Details, d)
			}
		}
		d.Examples = nil
		return nil
	})
	return err
}
