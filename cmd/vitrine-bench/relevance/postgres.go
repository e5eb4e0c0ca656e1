package relevance

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// postgres is the library in a temporary table, with PostgreSQL's own full text:
// English stems, the usual weights of four parts, ts_rank_cd.
type postgres struct{ conn *pgx.Conn }

func openPostgres(ctx context.Context, url string, set *Set) (*postgres, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	p := &postgres{conn}
	if err := p.fill(ctx, set); err != nil {
		_ = p.close()
		return nil, fmt.Errorf("filling PostgreSQL: %w", err)
	}
	return p, nil
}

func (p *postgres) fill(ctx context.Context, set *Set) error {
	const table = `CREATE TEMPORARY TABLE judged (n int PRIMARY KEY, title text, tags text, prompt text, description text,
		tool text, status text, shelf text, width int, created text, words tsvector)`
	if _, err := p.conn.Exec(ctx, table); err != nil {
		return err
	}
	rows := make([][]any, len(set.assets))
	for i, a := range set.assets {
		rows[i] = append([]any{i}, a.columns()...)
	}
	columns := []string{"n", "title", "tags", "prompt", "description", "tool", "status", "shelf", "width", "created"}
	if _, err := p.conn.CopyFrom(ctx, pgx.Identifier{"judged"}, columns, pgx.CopyFromRows(rows)); err != nil {
		return err
	}
	_, err := p.conn.Exec(ctx, `UPDATE judged SET words = setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('english', tags), 'B') ||
		setweight(to_tsvector('english', prompt), 'C') || setweight(to_tsvector('english', description), 'D')`)
	return err
}

// close ends the session, and with it the table.
func (p *postgres) close() error { return p.conn.Close(context.Background()) }

// rank lets any word match: with all words required, the longer queries find
// nothing.
func (p *postgres) rank(ctx context.Context, queries []*Query) ([][]int, error) {
	out := make([][]int, len(queries))
	for i, q := range queries {
		where := []string{"words @@ q.any"}
		args := []any{q.Words, depth}
		for _, c := range q.Conditions {
			where = append(where, c.sql())
		}
		for _, e := range q.Excluded {
			args = append(args, e)
			where = append(where, fmt.Sprintf("NOT words @@ phraseto_tsquery('english', $%d)", len(args)))
		}
		rows, err := p.conn.Query(ctx, `WITH q AS MATERIALIZED (SELECT to_tsquery('simple', array_to_string(ARRAY(
				SELECT quote_literal(lexeme) FROM unnest(to_tsvector('english', $1))), ' | ')) AS any)
			SELECT n FROM judged, q WHERE `+strings.Join(where, " AND ")+` ORDER BY ts_rank_cd(words, q.any) DESC, n LIMIT $2`, args...)
		if err != nil {
			return nil, err
		}
		if out[i], err = pgx.CollectRows(rows, pgx.RowTo[int]); err != nil {
			return nil, fmt.Errorf("%q: %w", q.Words, err)
		}
	}
	return out, nil
}
