package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// PromptFilter narrows a search of the prompt library. Empty fields do not.
type PromptFilter struct {
	Query       string // words, "phrases", -words and OR, in the prompt's fields and the texts of its versions
	Category    string // whatever the case
	TargetModel string // whatever the case and the separators
	Tag, Label  string
	// Similar are the prompts whose meaning is like that of Query, each with its cosine: they
	// are found too, behind those that match its words.
	Similar map[library.PromptHash]float64
	Limit   int
	Offset  int
}

// PromptEntry is a prompt in a list.
type PromptEntry struct {
	library.Prompt
	Latest   library.PromptVersion
	Versions int
	Labels   map[string]int // the number of the version that each label points at
	Images   int            // linked to any version, that the actor sees
	Score    float64        // how well the words match; 0 without words
	Similar  bool           // the words do not match; the meaning is alike
}

// matchingPrompts are the prompts p that a PromptFilter ($2 to $8) leaves, each with its score,
// and whether only the meaning is alike ($7 and $8).
// All prompts of the tenant are looked at: row level security would keep a text index from
// serving.
var matchingPrompts = `SELECT p.*, coalesce(m.score, s.cosine) AS score, m.score IS NULL AS similar FROM prompts p LEFT JOIN LATERAL (
		SELECT CASE WHEN $2 = '' THEN 0 ELSE max(greatest(ts_rank(p.words || v.words, websearch_to_tsquery('english', $2)),
			(strpos(lower(p.name || E'\n' || v.body), lower($2)) > 0)::int * 0.05)) END::float8 AS score
		FROM prompt_versions v WHERE v.tenant_id = p.tenant_id AND v.prompt_h = p.prompt_h AND v.deleted_at IS NULL
			AND ($2 = '' OR (p.words || v.words) @@ websearch_to_tsquery('english', $2) OR strpos(lower(p.name || E'\n' || v.body), lower($2)) > 0)
		HAVING count(*) > 0) m ON true
		LEFT JOIN unnest($7::text[], $8::float8[]) AS s(prompt_h, cosine) ON s.prompt_h = p.prompt_h
	WHERE (m.score IS NOT NULL OR s.cosine IS NOT NULL) AND p.tenant_id = $1 AND p.deleted_at IS NULL AND ($3 = '' OR lower(p.category) = lower($3))
		AND ($4 = '' OR ` + normalizedNameSQL(`p.target_model`) + ` = ` + normalizedNameSQL(`$4`) + `)
		AND ($5 = '' OR EXISTS (SELECT FROM unnest(p.tags) tag WHERE lower(tag) = lower($5)))
		AND ($6 = '' OR EXISTS (SELECT FROM prompt_labels l WHERE l.tenant_id = p.tenant_id AND l.prompt_h = p.prompt_h AND l.label = $6))`

// mostMinuses is how many words a search excludes. PostgreSQL refuses a query in which some
// thirty minuses stand before each other.
const mostMinuses = 16

// searchedWords returns a query as the database takes it: in one of very many minuses, they
// exclude nothing.
func searchedWords(query string) string {
	if strings.Count(query, "-") > mostMinuses {
		query = strings.ReplaceAll(query, "-", " ")
	}
	return strings.TrimSpace(query)
}

// Search returns the prompts that a filter leaves, those that match its words best first,
// else the latest changed, and how many there are in all.
func (ps *Prompts) Search(ctx context.Context, actor library.Actor, f PromptFilter) (list []PromptEntry, total int, err error) {
	similar, cosines := make([]string, 0, len(f.Similar)), make([]float64, 0, len(f.Similar))
	for h, c := range f.Similar {
		similar, cosines = append(similar, string(h)), append(cosines, c)
	}
	args := []any{actor.Tenant, searchedWords(f.Query), f.Category, f.TargetModel, f.Tag, f.Label, similar, cosines}
	err = ps.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `WITH p AS MATERIALIZED (`+matchingPrompts+`)
			SELECT `+promptColumns+`, p.score, p.similar, count(*) OVER (), `+versionOfPromptColumns+`, (SELECT count(*) FROM prompt_versions o WHERE o.tenant_id = $1 AND o.prompt_h = p.prompt_h AND o.deleted_at IS NULL)
			FROM p JOIN LATERAL (SELECT * FROM prompt_versions v WHERE v.tenant_id = $1 AND v.prompt_h = p.prompt_h AND v.deleted_at IS NULL ORDER BY v.number DESC LIMIT 1) v ON true
			ORDER BY p.similar, p.score DESC, p.updated_at DESC, p.prompt_h`+fmt.Sprintf(` LIMIT %d OFFSET %d`, f.Limit, f.Offset), args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e PromptEntry, err error) {
			fields := append(promptFields(&e.Prompt), &e.Score, &e.Similar, &total)
			err = row.Scan(append(append(fields, promptVersionFields(&e.Latest)...), &e.Versions)...)
			return e, err
		})
		if err != nil {
			return err
		}
		if len(list) == 0 { // behind the last page
			if err := tx.QueryRow(ctx, `SELECT count(*) FROM (`+matchingPrompts+`) p`, args...).Scan(&total); err != nil {
				return err
			}
		}
		return countPromptImages(ctx, tx, actor, list)
	})
	return list, total, err
}

// countPromptImages fills in the labels and how many images prompts have.
func countPromptImages(ctx context.Context, tx pgx.Tx, actor library.Actor, list []PromptEntry) error {
	place, hashes := make(map[library.PromptHash]int, len(list)), make([]string, len(list))
	for i := range list {
		place[list[i].Hash], hashes[i] = i, string(list[i].Hash)
		list[i].Labels = map[string]int{}
	}
	rows, err := tx.Query(ctx, `SELECT v.prompt_h, count(DISTINCT a.asset_h) FROM prompt_versions v JOIN prompt_links k USING (tenant_id, version_h) JOIN assets a USING (tenant_id, asset_h)
		WHERE v.tenant_id = $1 AND v.prompt_h = ANY($2) AND v.deleted_at IS NULL AND a.trashed_at IS NULL AND `+visibleTo("a", "$3")+` GROUP BY v.prompt_h`, actor.Tenant, hashes, viewer(actor))
	if err != nil {
		return err
	}
	var hash library.PromptHash
	var n int
	if _, err = pgx.ForEachRow(rows, []any{&hash, &n}, func() error { list[place[hash]].Images = n; return nil }); err != nil {
		return err
	}
	rows, err = tx.Query(ctx, `SELECT l.prompt_h, l.label, v.number FROM prompt_labels l JOIN prompt_versions v USING (tenant_id, version_h)
		WHERE l.tenant_id = $1 AND l.prompt_h = ANY($2)`, actor.Tenant, hashes)
	if err != nil {
		return err
	}
	var label string
	_, err = pgx.ForEachRow(rows, []any{&hash, &label, &n}, func() error { list[place[hash]].Labels[label] = n; return nil })
	return err
}
