package search

import (
	"context"
	"slices"

	"vitrine/library"
	"vitrine/query"
)

// weights returns how much each term of a search counts: the more, the rarer it is
// among what the caller may see. Counts may be five minutes old. They are the
// caller's alone, so nobody else's assets change an order or a score.
func (s *Service) weights(ctx context.Context, actor library.Actor, compiled *query.Search) (query.TermWeights, error) {
	terms := compiled.Terms()
	if len(terms) == 0 || compiled.MatchesNothing {
		return query.TermWeights{}, nil
	}
	known, who := s.cache.caches().counts, viewerKey(actor)
	counts := make([]int64, len(terms)+1) // the last: of all assets
	var open []int
	var ask []*query.Search
	for i := range counts {
		name, at := "", -1
		if i < len(terms) {
			name, at = terms[i], i
		}
		n, ok := known.get(who + name)
		if counts[i] = n; !ok {
			open, ask = append(open, i), append(ask, compiled.CountOf(at))
		}
	}
	if len(ask) > 0 {
		found, err := s.Searcher.Count(ctx, actor.Tenant, ask)
		if err != nil {
			return query.TermWeights{}, err
		}
		for i, n := range found {
			counts[open[i]] = n
			known.add(who+slices.Concat(terms, []string{""})[open[i]], n)
		}
	}
	return query.WeighTerms(counts[:len(terms)], counts[len(terms)]), nil
}

// weigh ranks a search by the weights of its terms.
func (s *Service) weigh(ctx context.Context, actor library.Actor, compiled *query.Search) (*query.Search, error) {
	weights, err := s.weights(ctx, actor, compiled)
	if err != nil {
		return nil, err
	}
	return compiled.Weigh(weights), nil
}
