package run

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/query"
)

// vectorFieldsTTL is how long the vector fields of the index are believed without
// asking again: a rebuild changes them.
const vectorFieldsTTL = 10 * time.Second

// vectorFields remembers which vectors the index has.
type vectorFields struct {
	mu   sync.Mutex
	read time.Time
	dims map[string]int
}

// Vectors returns the embedding configurations that the index of a tenant's assets has a field for, with
// the length of their vectors. The map is not to be changed.
func (s *Searcher) Vectors(ctx context.Context, tenant library.TenantID) (map[string]int, error) {
	p := s.home(tenant)
	p.vectors.mu.Lock()
	defer p.vectors.mu.Unlock()
	if time.Since(p.vectors.read) < vectorFieldsTTL {
		return p.vectors.dims, nil
	}
	var answer map[string]struct {
		Mappings struct {
			Properties map[string]struct {
				Dimension int `json:"dimension"`
			} `json:"properties"`
		} `json:"mappings"`
	}
	err := s.call(ctx, tenant, http.MethodGet, "/"+p.alias+"/_mapping?filter_path=*.mappings.properties."+mappings.VectorField("*")+".dimension", nil, &answer)
	if err != nil {
		return nil, opensearch.Unavailable(err)
	}
	dims := map[string]int{}
	for _, index := range answer {
		for field, p := range index.Mappings.Properties {
			dims[strings.TrimPrefix(field, mappings.VectorField(""))] = p.Dimension
		}
	}
	p.vectors.dims, p.vectors.read = dims, time.Now()
	return dims, nil
}

// Vector returns an asset's vector under a configuration, nil where it has none.
// all is a compiled search for everything that the caller may see; an asset that
// is not among it, or not in the index yet, is a not-found error.
func (s *Searcher) Vector(ctx context.Context, tenant library.TenantID, all *query.Search, config string, asset library.AssetHash) ([]float32, error) {
	body := all.Fetch([]library.AssetHash{asset}).Body()
	field := mappings.VectorField(config)
	body["_source"] = []string{field}
	var answer struct {
		Hits struct {
			Hits []struct {
				Source map[string]json.RawMessage `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := s.call(ctx, tenant, http.MethodPost, s.Path(tenant), s.limited(body), &answer); err != nil {
		return nil, opensearch.Unavailable(err)
	}
	if len(answer.Hits.Hits) == 0 {
		return nil, library.NotFound("asset")
	}
	raw := answer.Hits.Hits[0].Source[field]
	if raw == nil {
		return nil, nil
	}
	var v []float32
	err := json.Unmarshal(raw, &v)
	return v, err
}

// ConfigurationsOf lists the embedding configurations under which an asset has a vector, in
// the order of their names. all is a compiled search for everything that the caller may see;
// an asset that is not among it has none.
func (s *Searcher) ConfigurationsOf(ctx context.Context, tenant library.TenantID, all *query.Search, asset library.AssetHash) ([]string, error) {
	known, err := s.Vectors(ctx, tenant)
	if err != nil || len(known) == 0 {
		return nil, err
	}
	configs, aggs := slices.Sorted(maps.Keys(known)), map[string]any{}
	for _, config := range configs {
		aggs[config] = map[string]any{"filter": map[string]any{"exists": map[string]any{"field": mappings.VectorField(config)}}}
	}
	body := all.Fetch([]library.AssetHash{asset}).Body()
	body["size"], body["aggs"] = 0, aggs
	var answer struct {
		Aggregations map[string]struct {
			Count int `json:"doc_count"`
		} `json:"aggregations"`
	}
	if err := s.call(ctx, tenant, http.MethodPost, s.Path(tenant), s.limited(body), &answer); err != nil {
		return nil, opensearch.Unavailable(err)
	}
	return slices.DeleteFunc(configs, func(config string) bool { return answer.Aggregations[config].Count == 0 }), nil
}
