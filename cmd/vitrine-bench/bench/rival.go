package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// rival answers the same searches from PostgreSQL alone, as somebody would build
// it who wants no other server: one flat table of the same rows, a full text
// index over the same texts, trigrams for parts of names, and an index for each
// column that searches filter by.
type rival struct {
	conn     *pgx.Conn
	trigrams bool // the extension pg_trgm is there
}

// rivalTable reads the rows that the indexer reads.
var rivalTable = []string{
	`CREATE TABLE rival AS
	SELECT a.asset_h, a.title, a.description, a.filename, a.mime_type, a.status, a.tags, a.width, a.height, a.created_at,
		coalesce(l.tool, '') AS tool, (l.doc->'parameters'->>'steps')::int AS steps, coalesce(l.doc->'parameters'->>'sampler', '') AS sampler,
		m.checkpoints, m.loras,
		to_tsvector('simple', concat_ws(' ', a.title, array_to_string(a.tags, ' '), l.doc->>'positive',
			array_to_string(m.checkpoints || m.loras, ' '), a.description, a.filename)) AS words
	FROM assets a LEFT JOIN lineage l USING (tenant_id, asset_h)
		LEFT JOIN LATERAL (
			SELECT array_agg(regexp_replace(u.name, '\.\w+$', '')) FILTER (WHERE k.type = 'checkpoint') AS checkpoints,
				array_agg(regexp_replace(u.name, '\.\w+$', '')) FILTER (WHERE k.type = 'lora') AS loras
			FROM asset_models u JOIN models k USING (tenant_id, model_hash)
			WHERE u.tenant_id = a.tenant_id AND u.asset_h = a.asset_h) m ON true`,
	`CREATE INDEX ON rival USING gin (words)`,
	`CREATE INDEX ON rival USING gin (tags)`,
	`CREATE INDEX ON rival (tool)`,
	`CREATE INDEX ON rival (steps)`,
	`CREATE INDEX ON rival (sampler)`,
	`CREATE INDEX ON rival (mime_type)`,
	`CREATE INDEX ON rival (created_at DESC, asset_h)`,
}

// openRival builds the table. It is our own connection's superuser or owner that
// asks: the tenant filter costs the rival nothing.
func (e *env) openRival(ctx context.Context) (*rival, error) {
	conn, err := pgx.Connect(ctx, e.cfg.PostgresURL)
	if err != nil {
		return nil, err
	}
	r := &rival{conn: conn}
	if err := r.build(ctx); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return r, nil
}

// build makes the table. The rows that it is made of are read past row level security.
func (r *rival) build(ctx context.Context) error {
	if err := unforced(ctx, r.conn, filled, func() error { return r.create(ctx) }); err != nil {
		return err
	}
	_, err := r.conn.Exec(ctx, "VACUUM ANALYZE rival")
	return err
}

func (r *rival) create(ctx context.Context) error {
	// More memory than the default and no compiling of short queries: what a careful
	// operator sets.
	statements := append([]string{"SET work_mem = '64MB'", "SET maintenance_work_mem = '256MB'", "SET jit = off"}, rivalTable...)
	if err := r.conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm')`).Scan(&r.trigrams); err != nil {
		return err
	}
	if r.trigrams {
		statements = append(statements, "CREATE EXTENSION IF NOT EXISTS pg_trgm", "CREATE INDEX ON rival USING gin (filename gin_trgm_ops)", "CREATE INDEX ON rival USING gin (title gin_trgm_ops)")
	}
	for _, sql := range statements {
		if _, err := r.conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("building the rival table: %w", err)
		}
	}
	return nil
}

func (r *rival) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanLimit)
	defer cancel()
	return r.conn.Close(ctx)
}

// condition is a search as the rival is asked for it: a condition on its table
// with its arguments. words are looked for in the full text, all of them.
type condition struct {
	words string
	where string
	args  []any
}

func (c condition) sql() (where string, args []any) {
	list := []string{"true"}
	args = c.args
	if c.words != "" {
		args = append(args[:len(args):len(args)], c.words)
		list = append(list, fmt.Sprintf("words @@ plainto_tsquery('simple', $%d)", len(args)))
	}
	if c.where != "" {
		list = append(list, c.where)
	}
	return strings.Join(list, " AND "), args
}

// page is the statement for a page of hits: ranked when there are words, else
// the newest.
func (c condition) page() (sql string, args []any) {
	where, args := c.sql()
	order := "created_at DESC"
	if c.words != "" {
		order = fmt.Sprintf("ts_rank_cd(words, plainto_tsquery('simple', $%d)) DESC, created_at DESC", len(args))
	}
	return `SELECT count(*) OVER (), asset_h, title, description, filename, mime_type, status, tags, width, height, tool, created_at
	FROM rival WHERE ` + where + ` ORDER BY ` + order + `, asset_h LIMIT 20`, args
}

// rivalFacets are the usual facets as the rival counts them.
var rivalFacets = []struct{ name, expr, from string }{
	{"tool", "tool", ""}, {"checkpoint", "v", ", unnest(checkpoints) v"}, {"lora", "v", ", unnest(loras) v"}, {"sampler", "sampler", ""},
	{"status", "status", ""}, {"tag", "v", ", unnest(tags) v"}, {"mime_type", "mime_type", ""},
	{"created:month", "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM')", ""},
}

// counts is the statement that counts all facets in one pass over the hits.
func (c condition) counts() (sql string, args []any) {
	where, args := c.sql()
	var b strings.Builder
	b.WriteString(`WITH hits AS MATERIALIZED (SELECT tool, checkpoints, loras, sampler, status, tags, mime_type, created_at FROM rival WHERE ` + where + `)
	SELECT '', '', count(*) FROM hits`)
	for _, f := range rivalFacets {
		limit := "20"
		if f.name == "created:month" {
			limit = "ALL"
		}
		fmt.Fprintf(&b, "\nUNION ALL (SELECT '%s', %s, count(*) FROM hits%s WHERE %s <> '' GROUP BY 2 ORDER BY 3 DESC, 2 LIMIT %s)", f.name, f.expr, f.from, f.expr, limit)
	}
	return b.String(), args
}

// ask sends a question to the rival.
func (r *rival) ask(ctx context.Context, q *question) (asked, error) {
	return timed(func() (answer, error) {
		// Planned for its arguments each time: a plan for any argument is a bad one
		// for rare words.
		rows, err := r.conn.Query(ctx, q.sql, append([]any{pgx.QueryExecModeExec}, q.sqlArgs...)...)
		if err != nil {
			return answer{}, err
		}
		if q.tool == "GetFacets" {
			return readCounts(rows)
		}
		return readHits(rows)
	})
}

func readCounts(rows pgx.Rows) (a answer, err error) {
	var facet, value string
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&facet, &value, &n}, func() error {
		if facet == "" {
			a.total = n
		} else {
			a.items++
		}
		return nil
	})
	return a, err
}

func readHits(rows pgx.Rows) (a answer, err error) {
	var hash, title, description, filename, mime, status, tool string
	var tags []string
	var width, height int
	var created time.Time
	_, err = pgx.ForEachRow(rows, []any{&a.total, &hash, &title, &description, &filename, &mime, &status, &tags, &width, &height, &tool, &created}, func() error {
		a.items++
		return nil
	})
	return a, err
}
