package search

import (
	"context"

	"vitrine/library"
	"vitrine/query/run"
)

// maxSimilarPrompts is how many prompts a search of prompts finds by their meaning alone.
const maxSimilarPrompts = 50

// SimilarPrompts returns the prompts of a tenant whose meaning is like that of a text, by how
// alike they are. Without an embedder, or while it or the index is away, there are none: searches
// go on by words.
func (s *Service) SimilarPrompts(ctx context.Context, tenant library.TenantID, text string) map[library.PromptHash]float64 {
	if s.Embedder == nil || text == "" {
		return nil
	}
	config := s.Embedder.ID()
	ctx, cancel := context.WithTimeout(ctx, embedTimeout)
	defer cancel()
	v := s.embed(ctx, config, text)
	if v == nil {
		return nil
	}
	near := run.QueryVector{Config: config, Vector: v, MinSimilarity: s.minSimilarity.get(ctx, s.Embedder, v), ShareOfBest: shareOfBest}
	list, err := s.Searcher.SimilarPrompts(ctx, tenant, near, maxSimilarPrompts)
	if err != nil {
		return nil
	}
	out := make(map[library.PromptHash]float64, len(list))
	for _, p := range list {
		out[p.Hash] = p.Cosine
	}
	return out
}
