package store

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// SetPart is how many assets one part of a set holds at most.
const SetPart = 1000

// ClearSet deletes what a stage of a run has passed on, before it begins anew.
func (t *Tx) ClearSet(ctx context.Context, run string, stage int) error {
	_, err := t.Exec(ctx, `DELETE FROM pipeline_sets WHERE tenant_id = $1 AND run_id = $2 AND stage = $3`, t.tenant(), run, stage)
	return err
}

// WriteSet keeps a part of what a stage passes on: at most SetPart assets. Parts count from 0
// and have no gaps.
func (t *Tx) WriteSet(ctx context.Context, run string, stage, part int, assets []library.AssetHash) error {
	_, err := t.Exec(ctx, `INSERT INTO pipeline_sets (tenant_id, run_id, stage, part, assets) VALUES ($1, $2, $3, $4, $5)`, t.tenant(), run, stage, part, assets)
	return err
}

// ReadSet returns a part of what a stage passed on; none behind the last one.
func (ps *PipelineRuns) ReadSet(ctx context.Context, tenant library.TenantID, run string, stage, part int) (assets []library.AssetHash, err error) {
	err = ps.s.readTenant(ctx, tenant, readSet, []any{tenant, run, stage, part}, func(rows pgx.Rows) (err error) {
		assets, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]library.AssetHash])
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return assets, err
}

const readSet = `SELECT assets FROM pipeline_sets WHERE tenant_id = $1 AND run_id = $2 AND stage = $3 AND part = $4`

// ReadSet is PipelineRuns.ReadSet within a transaction.
func (t *Tx) ReadSet(ctx context.Context, run string, stage, part int) (assets []library.AssetHash, err error) {
	err = t.QueryRow(ctx, readSet, t.tenant(), run, stage, part).Scan(&assets)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return assets, err
}

// SetMembers calls each with those assets of a set, in order, that are in the library and that
// the actor sees.
func (t *Tx) SetMembers(ctx context.Context, run string, stage int, each func(library.AssetHash, library.Visibility)) error {
	rows, err := t.Query(ctx, `SELECT s.asset_h, a.visibility FROM `+SetRows("$3::int")+` s JOIN assets a ON a.tenant_id = $1::uuid AND a.asset_h = s.asset_h
		WHERE a.trashed_at IS NULL AND `+visibleTo("a", "$4::text")+` ORDER BY s.place`, t.tenant(), run, stage, viewer(t.actor))
	if err != nil {
		return err
	}
	var h library.AssetHash
	var v library.Visibility
	_, err = pgx.ForEachRow(rows, []any{&h, &v}, func() error { each(h, v); return nil })
	return err
}

// SetPage returns a page of a run's last set, in order, and how many assets it has. The set
// of a run that has not ended is empty.
func (ps *PipelineRuns) SetPage(ctx context.Context, actor library.Actor, run string, limit, offset int) (assets []library.AssetHash, total int64, err error) {
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		const ended = `FROM pipeline_sets s JOIN pipeline_runs r USING (tenant_id, run_id) WHERE s.tenant_id = $1 AND s.run_id = $2 AND s.versions IS NOT NULL AND r.finished_at IS NOT NULL`
		if err := tx.QueryRow(ctx, `SELECT coalesce(sum(cardinality(s.assets)), 0) `+ended, actor.Tenant, run).Scan(&total); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT h FROM (SELECT s.part, s.assets `+ended+`) s, unnest(s.assets) WITH ORDINALITY AS x(h, place)
			JOIN assets a ON a.tenant_id = $1 AND a.asset_h = h WHERE `+visibleTo("a", "$3")+` ORDER BY s.part, place LIMIT $4 OFFSET $5`, actor.Tenant, run, viewer(actor), limit, offset)
		if err != nil {
			return err
		}
		assets, err = pgx.CollectRows(rows, pgx.RowTo[library.AssetHash])
		return err
	})
	return assets, total, err
}

// RunDiff is how the last sets of two runs differ.
type RunDiff struct {
	Entered, Left, Changed, Same []library.AssetHash // at most as many as were asked for
	Counts                       map[string]int64    // of all
}

// Diff compares the assets that two runs ended with: those that entered, left, stayed and
// changed since (their versions differ), and stayed as they were. It lists limit of each.
func (ps *PipelineRuns) Diff(ctx context.Context, actor library.Actor, from, to string, limit int) (d RunDiff, err error) {
	d.Counts = map[string]int64{}
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `WITH
			a AS (SELECT h, v FROM pipeline_sets s, unnest(s.assets, s.versions) AS x(h, v) WHERE s.tenant_id = $1 AND s.run_id = $2 AND s.versions IS NOT NULL),
			b AS (SELECT h, v FROM pipeline_sets s, unnest(s.assets, s.versions) AS x(h, v) WHERE s.tenant_id = $1 AND s.run_id = $3 AND s.versions IS NOT NULL),
			d AS (SELECT coalesce(a.h, b.h) AS h, CASE WHEN a.h IS NULL THEN 'entered' WHEN b.h IS NULL THEN 'left' WHEN a.v <> b.v THEN 'changed' ELSE 'same' END AS kind FROM a FULL JOIN b ON a.h = b.h),
			n AS (SELECT kind, h, row_number() OVER (PARTITION BY kind ORDER BY h) AS place, count(*) OVER (PARTITION BY kind) AS n FROM d
				WHERE NOT EXISTS (SELECT FROM assets x WHERE x.tenant_id = $1 AND x.asset_h = d.h AND NOT `+visibleTo("x", "$4")+`))
			SELECT kind, h, n FROM n WHERE place <= greatest($5, 1) ORDER BY kind, h`, actor.Tenant, from, to, viewer(actor), limit)
		if err != nil {
			return err
		}
		var kind string
		var hash library.AssetHash
		var n int64
		lists := map[string]*[]library.AssetHash{"entered": &d.Entered, "left": &d.Left, "changed": &d.Changed, "same": &d.Same}
		_, err = pgx.ForEachRow(rows, []any{&kind, &hash, &n}, func() error {
			d.Counts[kind] = n
			if list := lists[kind]; len(*list) < limit {
				*list = append(*list, hash)
			}
			return nil
		})
		return err
	})
	return d, err
}

// WriteSimulated keeps what a dry run has changed of assets; states encode to JSON.
func (t *Tx) WriteSimulated(ctx context.Context, run string, states map[library.AssetHash]any) error {
	if len(states) == 0 {
		return nil
	}
	hashes, list := make([]string, 0, len(states)), make([]string, 0, len(states))
	for h, s := range states {
		raw, err := jsonb(s)
		if err != nil {
			return err
		}
		hashes, list = append(hashes, string(h)), append(list, string(raw))
	}
	_, err := t.Exec(ctx, `INSERT INTO pipeline_simulated (tenant_id, run_id, asset_h, state) SELECT $1, $2, h, s::jsonb FROM unnest($3::text[], $4::text[]) AS x(h, s)
		ON CONFLICT (tenant_id, run_id, asset_h) DO UPDATE SET state = excluded.state`, t.tenant(), run, hashes, list)
	return err
}

// ReadSimulated returns what a dry run has changed of some assets.
func (ps *PipelineRuns) ReadSimulated(ctx context.Context, tenant library.TenantID, run string, assets []library.AssetHash) (map[library.AssetHash]json.RawMessage, error) {
	states := map[library.AssetHash]json.RawMessage{}
	err := ps.s.readTenant(ctx, tenant, `SELECT asset_h, state FROM pipeline_simulated WHERE tenant_id = $1 AND run_id = $2 AND asset_h = ANY($3)`,
		[]any{tenant, run, assets}, func(rows pgx.Rows) error {
			for rows.Next() {
				var h library.AssetHash
				var s json.RawMessage
				if err := rows.Scan(&h, &s); err != nil {
					return err
				}
				states[h] = s
			}
			return rows.Err()
		})
	return states, err
}

// SortKey is an asset with what a stage compares it by.
type SortKey struct {
	Key   []byte // compared byte by byte
	Asset library.AssetHash
	Value float64
	Place int64 // in the set
}

// PutKeys keeps keys in the temporary table of the transaction, which MakeKeys made.
func (t *Tx) PutKeys(ctx context.Context, keys []SortKey) error {
	_, err := t.CopyFrom(ctx, pgx.Identifier{"pipeline_keys"}, []string{"key", "asset_h", "value", "place"}, pgx.CopyFromSlice(len(keys), func(i int) ([]any, error) {
		k := keys[i]
		return []any{k.Key, string(k.Asset), k.Value, k.Place}, nil
	}))
	return err
}

// MakeKeys creates the temporary table pipeline_keys (key, asset_h, value, place), which goes
// with the transaction, and extends the time limit of the transaction until stop is called.
func (t *Tx) MakeKeys(ctx context.Context) (stop func(), err error) {
	if err := t.SetLimit(ctx, backgroundLimit); err != nil {
		return nil, err
	}
	_, err = t.Exec(ctx, `CREATE TEMPORARY TABLE pipeline_keys (key bytea, asset_h text COLLATE "C", value float8, place bigint) ON COMMIT DROP`)
	return t.keepAlive(), err
}

// SetFromQuery writes, as the set of a stage, what a query returns: rows of asset_h and a
// place, from 0 without gaps. It may read the tenant as $1, the run as $2, and args from $5 on.
func (t *Tx) SetFromQuery(ctx context.Context, run string, stage int, query string, args ...any) (n int64, sample []library.AssetHash, err error) {
	if err := t.SetLimit(ctx, backgroundLimit); err != nil {
		return 0, nil, err
	}
	stop := t.keepAlive()
	defer stop()
	args = append([]any{t.tenant(), run, stage, SetPart}, args...)
	err = t.QueryRow(ctx, `WITH picked AS (`+query+`), written AS (
			INSERT INTO pipeline_sets (tenant_id, run_id, stage, part, assets)
			SELECT $1::uuid, $2::text, $3::int, (place / $4::int)::int, array_agg(asset_h ORDER BY place) FROM picked GROUP BY (place / $4::int)::int RETURNING part, assets)
		SELECT coalesce(sum(cardinality(assets)), 0), coalesce(min(assets[1:5]) FILTER (WHERE part = 0), '{}') FROM written`, args...).Scan(&n, &sample)
	return n, sample, err
}

// SetRows is a query's source of the assets of a set: rows of asset_h and place, from 0. The
// tenant is $1, the run $2, and stage a parameter or a number.
func SetRows(stage string) string {
	return `(SELECT h AS asset_h, s.part::bigint * ` + strconv.Itoa(SetPart) + ` + n - 1 AS place FROM pipeline_sets s, unnest(s.assets) WITH ORDINALITY AS x(h, n)
		WHERE s.tenant_id = $1::uuid AND s.run_id = $2::text AND s.stage = ` + stage + `)`
}

// CollectionMembers is a query for SetFromQuery of the assets of a collection, or also of those
// below it, in order: $5 its hash, $6 its path, $7 whether with those below, $8 a role or
// nothing, $9 the actor.
var CollectionMembers = `SELECT asset_h, row_number() OVER (ORDER BY path, rank, asset_h) - 1 AS place FROM (
	SELECT DISTINCT ON (i.asset_h) i.asset_h, c.path, i.rank FROM collection_items i JOIN collections c USING (tenant_id, collection_h) JOIN assets a ON a.tenant_id = i.tenant_id AND a.asset_h = i.asset_h
	WHERE i.tenant_id = $1 AND c.tenant_id = $1 AND c.deleted_at IS NULL AND (c.collection_h = $5 OR $7::boolean AND ` + below("c.path", "$6::text") + `) AND ($8::text = '' OR i.role = $8)
		AND a.trashed_at IS NULL AND ` + visibleTo("a", "$9::text") + `
	ORDER BY i.asset_h, c.path, i.rank) m`

// QueryArgs returns the arguments of a query with actors as statements compare them.
func QueryArgs(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		if actor, ok := a.(library.Actor); ok {
			a = viewer(actor)
		}
		out[i] = a
	}
	return out
}

// KeysQuery calls scan with each row of a query of the temporary table pipeline_keys.
func (t *Tx) KeysQuery(ctx context.Context, query string, args []any, scan func(pgx.Rows) error) error {
	rows, err := t.Query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
