package search

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/query"
	"vitrine/query/run"
)

// embedTimeout is how long a search waits for the vector of its words before it
// goes on without.
const embedTimeout = 1500 * time.Millisecond

// shareOfBest is the share of the nearest asset's cosine below which others are not
// similar: beside a picture of a butterfly, one of a flower is none.
const shareOfBest = 0.6

// queryVector returns the vector of a smart search's words. Without one, degraded tells
// whether that is a lack: a search without words has no meaning to look for.
func (s *Service) queryVector(ctx context.Context, actor library.Actor, mode query.Mode, compiled *query.Search) (m *run.QueryVector, degraded bool) {
	text := compiled.TextForEmbedding
	if mode != query.Smart || text == "" || compiled.MatchesNothing {
		return nil, false
	}
	if s.Embedder == nil {
		return nil, true
	}
	config := s.Embedder.ID()
	known, err := s.Searcher.Vectors(ctx, actor.Tenant)
	if err != nil || known[config] != s.Embedder.Dimensions() {
		return nil, true
	}
	ctx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	v := s.embed(ctx, config, text)
	if v == nil {
		return nil, true
	}
	return &run.QueryVector{Config: config, Vector: v, MinSimilarity: s.minSimilarity.get(ctx, s.Embedder, v), ShareOfBest: shareOfBest}, false
}

// semanticShare returns the share of a tenant's assets that can be found by meaning, nil
// where it is all of them or is not known.
func (s *Service) semanticShare(ctx context.Context, actor library.Actor) *float64 {
	if s.Embedder == nil {
		return nil
	}
	e, err := s.Searcher.Embedded(ctx, actor.Tenant, s.Embedder.ID())
	if err != nil || e.Done >= e.All {
		return nil
	}
	share := math.Floor(1000*e.Share()) / 1000
	return &share
}

// embed returns the vector of a text, or nil when none can be had before ctx ends.
func (s *Service) embed(ctx context.Context, config, text string) []float32 {
	known, key := s.cache.caches().vectors, config+" "+text
	if v, ok := known.get(key); ok {
		return v
	}
	made, err := s.Embedder.Embed(ctx, []string{text})
	if err != nil || len(made) != 1 || made[0] == nil {
		return nil
	}
	known.add(key, made[0])
	return made[0]
}

// maxNeighbours is how many neighbours a search by a vector alone has.
const maxNeighbours = 1000

// knnSearch returns the search for the neighbours of the vector, or of the asset,
// that a request names; nil when it names none.
func (s *Service) knnSearch(ctx context.Context, actor library.Actor, in searchInput, compiled *query.Search) (*query.Search, error) {
	if len(in.QueryVector) == 0 && compiled.SimilarTo == "" {
		return nil, nil
	}
	config, dims, err := s.embeddingConfiguration(ctx, actor, in.Embedding)
	if err != nil {
		return nil, err
	}
	var vector []float32
	if len(in.QueryVector) > 0 {
		if len(in.QueryVector) != dims {
			return nil, library.Invalid(library.FieldError{Field: "query_vector", Code: "length",
				Message: fmt.Sprintf("Send %d numbers, the dimensions of this embedding configuration.", dims)})
		}
		vector = make([]float32, dims)
		for i, x := range in.QueryVector {
			vector[i] = float32(x)
		}
	} else if vector, err = s.assetVector(ctx, actor, config, compiled.SimilarTo); err != nil {
		return nil, err
	}
	near, err := compiled.Neighbours(config, vector, maxNeighbours)
	if err != nil || compiled.Ranked || !compiled.Exhaustive() {
		return near, err
	}
	// In another order than nearness, the nearest are found out first.
	hashes, err := s.Searcher.Top(ctx, actor.Tenant, near.NearestFirst(), maxNeighbours)
	return compiled.Only(hashes), err
}

// embeddingConfiguration checks the embedding configuration that a request names. None
// means the active one, which similar: in a query goes by.
func (s *Service) embeddingConfiguration(ctx context.Context, actor library.Actor, name string) (string, int, error) {
	known, err := s.Searcher.Vectors(ctx, actor.Tenant)
	if err != nil {
		return "", 0, err
	}
	if name == "" && s.Embedder != nil {
		name = s.Embedder.ID()
	}
	name = strings.ToLower(name)
	if dims := known[name]; dims > 0 {
		return name, dims, nil
	}
	message := "This library has no embeddings. Search with query instead."
	if len(known) > 0 {
		message = "Known are " + strings.Join(slices.Sorted(maps.Keys(known)), ", ") + "."
	}
	return "", 0, library.Invalid(library.FieldError{Field: "embedding_configuration_h", Code: "enum", Message: message})
}

// CodeNoVector is the code of the error that an asset has no vector to compare.
const CodeNoVector = "NO_VECTOR"

func (s *Service) assetVector(ctx context.Context, actor library.Actor, config string, asset library.AssetHash) ([]float32, error) {
	all, err := s.matchAll(ctx, actor)
	if err != nil {
		return nil, err
	}
	v, err := s.Searcher.Vector(ctx, actor.Tenant, all, config, asset)
	if err == nil && v == nil {
		return nil, library.NewError(library.KindUnprocessable, CodeNoVector,
			"This asset has no vector under this embedding configuration: it has no title, prompt, description or tag to embed, or was not embedded yet. Try another asset, or search with query.")
	}
	return v, err
}

// configurationsLimit is how long the details of an asset wait for the index.
const configurationsLimit = 300 * time.Millisecond

// configurationsOf lists the embedding configurations under which an asset has a vector in
// the index; none where the index does not say so in time.
func (s *Service) configurationsOf(ctx context.Context, actor library.Actor, asset library.AssetHash) []string {
	list := []string{}
	if s.Searcher == nil {
		return list
	}
	ctx, cancel := context.WithTimeout(ctx, configurationsLimit)
	defer cancel()
	all, err := s.matchAll(ctx, actor)
	if err != nil {
		return list
	}
	found, err := s.Searcher.ConfigurationsOf(ctx, actor.Tenant, all, asset)
	if err != nil {
		return list
	}
	return append(list, found...)
}
