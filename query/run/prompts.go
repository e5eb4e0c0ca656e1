package run

import (
	"context"
	"net/http"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
)

// SimilarPrompt is a prompt that is near a vector.
type SimilarPrompt struct {
	Hash   library.PromptHash
	Cosine float64
}

// SimilarPrompts returns the prompts of a tenant whose meaning is nearest, at most most of them
// and none below the minimum similarity. Vectors are compared one by one behind the
// tenant's filter, so no other tenant's prompts change what is found. What the index shows may be a
// moment old: the caller reads the prompts themselves from the database.
func (s *Searcher) SimilarPrompts(ctx context.Context, tenant library.TenantID, near QueryVector, most int) ([]SimilarPrompt, error) {
	field := mappings.VectorField(near.Config)
	body := map[string]any{
		"size": most, "track_total_hits": false, "_source": false, "stored_fields": "_none_", "docvalue_fields": []string{"prompt_h"},
		"min_score": (1 + max(near.MinSimilarity, -1)) / 2, // as OpenSearch scores a cosine
		"query": map[string]any{"script_score": map[string]any{
			"query": map[string]any{"bool": map[string]any{
				"filter":   []any{map[string]any{"term": map[string]any{"tenant_id": tenant}}, map[string]any{"exists": map[string]any{"field": field}}},
				"must_not": []any{map[string]any{"term": map[string]any{"deleted": true}}},
			}},
			"script": map[string]any{"lang": "knn", "source": "knn_score", "params": map[string]any{"field": field, "query_value": near.Vector, "space_type": "cosinesimil"}},
		}},
	}
	var answer struct {
		Hits struct {
			Hits []struct {
				Score  float64 `json:"_score"`
				Fields struct {
					Prompt []library.PromptHash `json:"prompt_h"`
				} `json:"fields"`
			} `json:"hits"`
		} `json:"hits"`
	}
	err := opensearch.Call(ctx, s.client, http.MethodPost, "/"+s.prompts+"/_search?routing="+mappings.Routing(tenant), body, &answer)
	if err != nil {
		return nil, opensearch.Unavailable(err)
	}
	var list []SimilarPrompt
	for _, h := range answer.Hits.Hits {
		cosine := 2*h.Score - 1
		if len(h.Fields.Prompt) != 1 || len(list) > 0 && cosine < near.ShareOfBest*list[0].Cosine {
			continue
		}
		list = append(list, SimilarPrompt{h.Fields.Prompt[0], cosine})
	}
	return list, nil
}
