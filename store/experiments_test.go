package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"vitrine/library"
	"vitrine/store"
)

// rows changes rows of a table at random: it writes one of some keys, which are made by the first change, or deletes one. The
// statements get the tenant, the parts of the key, and for a write a text.
func (s bench) rows(t *testing.T, noun *store.Noun, makeKeys func() []string, write, remove string) func(*rand.Rand, []string) string {
	keys := sync.OnceValue(makeKeys)
	return func(r *rand.Rand, have []string) string {
		sql, key, args := write, pick(r, keys()...), []any{s.a.Tenant}
		if len(have) > 2 && r.IntN(3) == 0 {
			sql, key = remove, pick(r, have...)
		}
		for _, part := range strings.Split(key, "/") {
			args = append(args, part)
		}
		if sql == write {
			args = append(args, pick(r, "one", "two", "three"))
		}
		return must[string](t)(s.Write(t.Context(), s.a, func(tx *store.Tx) error {
			return tx.Track(t.Context(), noun, []string{key}, func() error {
				_, err := tx.Exec(t.Context(), sql, args...)
				return err
			})
		}))
	}
}

// experiments makes collections and returns their identities.
func (s bench) experiments(t *testing.T, n int) (list []string) {
	for i := range n {
		c, err := s.Collections.Create(t.Context(), s.a, library.Collection{Name: fmt.Sprint("lab", i)}, "")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(c.Hash))
	}
	return list
}

func (s bench) runKeys(t *testing.T) (keys []string) {
	collections := s.experiments(t, 2)
	for i := range 3 {
		asset := add(t, s, s.a, file(fmt.Sprint("run", i))).Asset.Hash
		for _, c := range collections {
			keys = append(keys, string(asset)+"/"+c)
		}
	}
	return keys
}

func (s bench) experimentChanges(t *testing.T) changes {
	return changes{read: `SELECT collection_h, jsonb_build_object('created', created_at, 'hypothesis', hypothesis, 'context', domain_context::text) FROM experiments`,
		random: s.rows(t, store.ExperimentNoun, func() []string { return s.experiments(t, 5) }, `INSERT INTO experiments (tenant_id, collection_h, hypothesis, domain_context, created_by) VALUES ($1, $2, $3, jsonb_build_object('n', $3::text), 'x')
			ON CONFLICT (tenant_id, collection_h) DO UPDATE SET hypothesis = excluded.hypothesis, domain_context = excluded.domain_context`,
			`DELETE FROM experiments WHERE tenant_id = $1 AND collection_h = $2`)}
}

func (s bench) runChanges(t *testing.T) changes {
	return changes{read: `SELECT asset_h || '/' || collection_h, jsonb_build_object('created', created_at, 'seed', seed::text, 'label', variant_label, 'params', run_params::text, 'tags', outcome_tags::text) FROM experiment_runs`,
		random: s.rows(t, store.RunNoun, func() []string { return s.runKeys(t) }, `INSERT INTO experiment_runs (tenant_id, asset_h, collection_h, run_h, seed, variant_label, run_params, outcome_tags, created_by)
			VALUES ($1, $2, $3, left(encode(sha256(($2 || $3)::bytea), 'hex'), 40), 18446744073709551615, $4, jsonb_build_object('cfg', 7.50, 'text', $4::text), ARRAY[$4], 'x')
			ON CONFLICT (tenant_id, asset_h, collection_h) DO UPDATE SET variant_label = excluded.variant_label, outcome_tags = excluded.outcome_tags`,
			`DELETE FROM experiment_runs WHERE tenant_id = $1 AND asset_h = $2 AND collection_h = $3`)}
}

func (s bench) scoreChanges(t *testing.T) changes {
	keys := func() (list []string) {
		for _, k := range s.runKeys(t) {
			list = append(list, k+"/ann", k+"/bob")
		}
		return list
	}
	return changes{read: `SELECT concat_ws('/', asset_h, collection_h, evaluator), jsonb_build_object('created', created_at, 'scores', scores::text, 'comments', comments) FROM run_scores`,
		random: s.rows(t, store.RunScoreNoun, keys, `INSERT INTO run_scores (tenant_id, asset_h, collection_h, evaluator, evaluator_type, scores, comments, annotation_id, scored_by)
			VALUES ($1, $2, $3, $4, 'human', jsonb_build_object($5::text, 3), $5, repeat('a', 40), 'x')
			ON CONFLICT (tenant_id, asset_h, collection_h, evaluator) DO UPDATE SET scores = excluded.scores, comments = excluded.comments`,
			`DELETE FROM run_scores WHERE tenant_id = $1 AND asset_h = $2 AND collection_h = $3 AND evaluator = $4`)}
}

func (s bench) comparisonChanges(t *testing.T) changes {
	keys := func() (list []string) {
		for _, c := range s.experiments(t, 2) {
			for _, pair := range []string{"a/b", "a/c", "b/c"} {
				list = append(list, c+"/"+pair+"/ann")
			}
		}
		return list
	}
	return changes{read: `SELECT concat_ws('/', collection_h, item_a, item_b, evaluator), jsonb_build_object('created', created_at, 'winners', winners::text, 'notes', notes) FROM run_comparisons`,
		random: s.rows(t, store.RunComparisonNoun, keys, `INSERT INTO run_comparisons (tenant_id, collection_h, item_a, item_b, evaluator, evaluator_type, winners, notes, compared_by)
			VALUES ($1, $2, $3, $4, $5, 'human', jsonb_build_object('sharpness', $6::text), $6, 'x')
			ON CONFLICT (tenant_id, collection_h, item_a, item_b, evaluator) DO UPDATE SET winners = excluded.winners, notes = excluded.notes`,
			`DELETE FROM run_comparisons WHERE tenant_id = $1 AND collection_h = $2 AND item_a = $3 AND item_b = $4 AND evaluator = $5`)}
}
