package store_test

import (
	"math/rand/v2"
	"testing"

	"vitrine/library"
)

func (s bench) pipelineChanges(t *testing.T) changes {
	stages := []library.PipelineStage{{Type: "search", Config: map[string]any{"query": "fox"}}}
	return changes{trash: "deleted",
		read: `SELECT pipeline_definition_h, jsonb_build_object('name', name, 'description', description, 'deleted', deleted_at IS NOT NULL) FROM pipelines`,
		refused: func(now things, key string, as thing) bool {
			for k, v := range now {
				if k != key && v["deleted"] != "true" && as["deleted"] != "true" && v["name"] == as["name"] {
					return true
				}
			}
			return false
		},
		random: func(r *rand.Rand, keys []string) string {
			p := library.Pipeline{Name: pick(r, "alpha", "beta", "gamma", "delta", "epsilon", "zeta"), Description: pick(r, "", "long", "longer"), Stages: stages}
			what := r.IntN(4)
			if len(keys) < 3 {
				what = 0
			}
			var id string
			var err error
			switch what {
			case 0:
				_, id, err = s.Pipelines.Save(t.Context(), s.a, p)
			case 1:
				id, err = s.Pipelines.Delete(t.Context(), s.a, library.PipelineHash(pick(r, keys...)))
			default:
				p.Hash = library.PipelineHash(pick(r, keys...))
				_, id, err = s.Pipelines.Save(t.Context(), s.a, p)
			}
			if library.AsError(err).Kind == library.KindNotFound {
				return "" // it is in the trash
			}
			return must[string](t)(id, err)
		}}
}
