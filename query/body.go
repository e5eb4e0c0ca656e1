package query

import (
	"fmt"
	"math"

	"vitrine/library"
	"vitrine/mappings"
)

// Body is the whole request body of the lexical retriever: hits, facets and highlights.
// Vectors stay out of the hits.
func (s *Search) Body() map[string]any {
	q := s.Query
	if s.Size == 0 && s.bounds != nil {
		q = s.Matching()
	}
	b := map[string]any{
		"query": q, "from": s.From, "size": s.Size, "sort": s.Sort,
		"track_total_hits": true, "timeout": "2s", "_source": map[string]any{"excludes": []string{"vec_*"}},
	}
	if s.PostFilter != nil {
		b["post_filter"] = s.PostFilter
	}
	if s.Aggs != nil {
		b["aggs"] = s.Aggs
	}
	if s.Highlight != nil {
		b["highlight"] = s.Highlight
	}
	return b
}

// MaxNeighbours is the most neighbours one vector search may ask for.
const MaxNeighbours = 10000

// KNN is the query of the vector retriever: the k nearest neighbours of a vector among
// what KNNFilter lets through, in the field of an embedding configuration. The
// error is a *library.Error for a vector that the index would refuse.
func (s *Search) KNN(config string, vector []float32, k int) (map[string]any, error) {
	libErr := func(code, format string, args ...any) error {
		return library.Invalid(library.FieldError{Field: "query_vector", Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if k < 1 || k > MaxNeighbours {
		return nil, library.Invalid(library.FieldError{Field: "limit", Code: "range", Message: fmt.Sprintf("Between 1 and %d neighbours are allowed.", MaxNeighbours)})
	}
	if len(vector) == 0 {
		return nil, libErr("length", "The vector is empty; send one number per dimension of the embedding configuration.")
	}
	sum := 0.0
	for i, x := range vector {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, libErr("format", "Number %d of the vector is not finite.", i)
		}
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return nil, libErr("range", "The vector is all zero; it has no direction to compare.")
	}
	field := mappings.VectorField(config)
	if s.exact {
		return oneByOne(s.KNNFilter, field, vector), nil
	}
	return map[string]any{"knn": map[string]any{field: map[string]any{"vector": vector, "k": k, "filter": s.KNNFilter}}}, nil
}

// oneByOne compares a vector with those of all assets that a filter lets through.
// In an index of many tenants a graph would be one of everybody's vectors, and what
// it finds, of which some is always missed, would depend on others' assets.
func oneByOne(filter clause, field string, vector []float32) clause {
	return clause{"script_score": clause{
		"query":  clause{"bool": clause{"filter": []clause{filter, exists(field)}}},
		"script": clause{"lang": "knn", "source": "knn_score", "params": clause{"field": field, "query_value": vector, "space_type": "cosinesimil"}},
	}}
}
