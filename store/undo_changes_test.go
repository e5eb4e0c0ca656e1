package store_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"vitrine/library"
	"vitrine/store"
)

func (s bench) assetChanges(t *testing.T) changes {
	n := 0
	return changes{trash: "trashed", sets: "tags",
		read: `SELECT asset_h, jsonb_build_object('owner', owner, 'visibility', visibility, 'metadata', coalesce(metadata ->> 'k', ''), 'title', title, 'description', description, 'status', status, 'trashed', trashed_at IS NOT NULL,
			'tags', (SELECT coalesce(string_agg(tag, ' ' ORDER BY tag COLLATE "C"), '') FROM unnest(tags) tag)) FROM assets WHERE filename LIKE 'random%'`,
		random: func(r *rand.Rand, keys []string) string {
			if len(keys) < 3 || r.IntN(8) == 0 {
				if len(keys) < 6 {
					n++
				}
				f := file(fmt.Sprint("random", n), pick(r, "a", "b", "c"))
				return add(t, s, s.a, f).OperationID
			}
			var hashes []library.AssetHash
			for range 1 + r.IntN(3) {
				hashes = append(hashes, library.AssetHash(pick(r, keys...)))
			}
			got := must[store.ChangeResult](t)(s.Assets.Change(t.Context(), s.a, hashes, func(a *library.Asset) {
				switch r.IntN(8) {
				case 5:
					a.Owner = pick(r, "", "key-a", "key-b")
				case 6:
					a.Visibility = library.Visibilities[r.IntN(len(library.Visibilities))]
				case 7:
					a.Metadata = map[string]any{"k": pick(r, "one", "two", "three")}
				case 0:
					a.Title = pick(r, "", "x", "y")
				case 1:
					a.Description = pick(r, "", "long", "longer")
				case 2:
					a.Status = library.Statuses[r.IntN(len(library.Statuses))]
				case 3:
					a.Tags = library.MergeTags(a.Tags, []string{pick(r, "a", "b", "c", "d")})
				case 4:
					a.Tags = library.RemoveTags(a.Tags, []string{pick(r, "a", "b", "c", "d")})
				}
			}))
			return got.OperationID
		}}
}

func (s bench) linkChanges(t *testing.T) changes {
	var hashes []library.AssetHash
	for _, name := range []string{"one", "two", "three"} {
		hashes = append(hashes, add(t, s, s.a, uses(name, "lora", "detail", "lora", "style")).Asset.Hash)
	}
	return changes{
		read: `SELECT asset_h || '/' || model_hash || '/' || detection_source, jsonb_build_object('weight', weight) FROM asset_models WHERE detection_source <> 'extracted'`,
		random: func(r *rand.Rand, _ []string) string {
			w := float64(r.IntN(3)) / 2
			link := library.ModelLink{Model: library.NewModelHash("lora", pick(r, "detail", "style")), Source: pick(r, "manual_tag", "agent"), Weight: &w}
			return must[string](t)(s.Models.Link(t.Context(), s.a, hashes[r.IntN(3)], link, weightless))
		}}
}

func (s bench) versionChanges(t *testing.T) changes {
	add(t, s, s.a, uses("versioned", "lora", "detail"))
	lora := library.NewModelHash("lora", "detail")
	return changes{trash: "deleted",
		read: `SELECT version_id, jsonb_build_object('tag', version_tag, 'notes', version_notes, 'score', quality_score, 'config', training_config::text, 'deleted', deleted_at IS NOT NULL) FROM model_versions`,
		refused: func(now things, key string, as thing) bool {
			for k, v := range now {
				if k != key && v["tag"] == as["tag"] && v["deleted"] == "false" && as["deleted"] == "false" {
					return true
				}
			}
			return false
		},
		random: func(r *rand.Rand, keys []string) string {
			if len(keys) < 3 || r.IntN(3) == 0 {
				score := float64(r.IntN(100)) / 10
				_, id, err := s.Models.AddVersion(t.Context(), s.a, library.ModelVersion{Model: lora, Tag: pick(r, "v1", "v2", "v3"), QualityScore: &score,
					TrainingConfig: []byte(`{"rate": 1.50, "steps": [18446744073709551615]}`)})
				return must[string](t)(id, err)
			}
			return s.changeRows(t, r, store.ModelVersionNoun, keys, `UPDATE model_versions SET version_notes = $3, quality_score = length($3) WHERE tenant_id = $1 AND version_id = ANY($2)`)
		}}
}

func (s bench) savedSearchChanges(t *testing.T) changes {
	name := func(r *rand.Rand) string { return pick(r, "Alpha", "beta", "GAMMA", "delta", "alpha", "epsilon") }
	return changes{
		read: `SELECT saved_search_id, jsonb_build_object('name', name, 'query', query, 'description', description, 'filters', filters::text, 'direction', direction, 'created', created_at) FROM saved_searches`,
		refused: func(now things, key string, as thing) bool {
			for k, v := range now {
				if k != key && strings.EqualFold(v["name"], as["name"]) {
					return true
				}
			}
			return false
		},
		random: func(r *rand.Rand, keys []string) string {
			what := r.IntN(5)
			if len(keys) < 2 {
				what = 0
			}
			switch what {
			case 0:
				_, id, err := s.SavedSearches.Add(t.Context(), s.a, library.SavedSearch{Name: name(r), Query: "fox", Mode: "smart", OrderBy: "created", Filters: []byte(`{"tags":["a"]}`)})
				return must[string](t)(id, err)
			case 1:
				return must[string](t)(s.SavedSearches.Delete(t.Context(), s.a, pick(r, keys...)))
			case 2:
				return s.changeRows(t, r, store.SavedSearchNoun, keys, `UPDATE saved_searches SET description = $3 WHERE tenant_id = $1 AND saved_search_id = ANY($2)`)
			}
			_, id, err := s.SavedSearches.Change(t.Context(), s.a, pick(r, keys...), func(have *library.SavedSearch) error {
				switch r.IntN(3) {
				case 0:
					have.Name = name(r)
				case 1:
					have.Query = pick(r, "fox", "owl")
				case 2:
					have.Filters = nil
				}
				return nil
			})
			return must[string](t)(id, err)
		}}
}

// changeRows changes several rows in one operation.
func (s bench) changeRows(t *testing.T, r *rand.Rand, noun *store.Noun, keys []string, sql string) string {
	t.Helper()
	some := []string{pick(r, keys...)}
	if other := pick(r, keys...); other != some[0] {
		some = append(some, other)
	}
	return must[string](t)(s.Write(t.Context(), s.a, func(tx *store.Tx) error {
		return tx.Track(t.Context(), noun, some, func() error {
			_, err := tx.Exec(t.Context(), sql, s.a.Tenant, some, pick(r, "", "one", "three"))
			return err
		})
	}))
}
