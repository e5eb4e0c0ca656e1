package run

import (
	"context"
	"net/http"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
)

// Versions returns how many live assets of a tenant searches see and the sum of their versions, after
// a refresh where that is asked for. Where both are what the library has, searches see every
// change.
func (s *Searcher) Versions(ctx context.Context, tenant library.TenantID, refresh bool) (assets, sum int64, err error) {
	index, _, err := s.Index(ctx, tenant)
	if err != nil {
		return 0, 0, err
	}
	if refresh {
		if err := s.call(ctx, tenant, http.MethodPost, "/"+index+"/_refresh", nil, nil); err != nil {
			return 0, 0, opensearch.Unavailable(err)
		}
	}
	body := map[string]any{
		"size": 0, "track_total_hits": true,
		"query": map[string]any{"bool": map[string]any{"filter": []any{map[string]any{"term": map[string]any{"tenant_id": tenant}}, map[string]any{"term": map[string]any{"deleted": false}}}}},
		"aggs":  map[string]any{"versions": map[string]any{"sum": map[string]any{"field": "doc_version"}}},
	}
	var out struct {
		Hits struct {
			Total struct {
				Value int64 `json:"value"`
			} `json:"total"`
		} `json:"hits"`
		Aggregations struct {
			Versions struct {
				Value float64 `json:"value"`
			} `json:"versions"`
		} `json:"aggregations"`
	}
	err = s.call(ctx, tenant, http.MethodPost, "/"+index+"/_search?routing="+mappings.Routing(tenant), body, &out)
	if err != nil {
		return 0, 0, opensearch.Unavailable(err)
	}
	return out.Hits.Total.Value, int64(out.Aggregations.Versions.Value), nil
}
