package search

import (
	"context"

	"vitrine/library"
	"vitrine/query"
	"vitrine/query/run"
)

// relaxation is what a search was answered without.
type relaxation struct {
	LeftOut []string `json:"left_out" doc:"Words of the query that results need not have."`
}

// without returns how many words a search was answered without.
func (r *relaxation) without() int {
	if r == nil {
		return 0
	}
	return len(r.LeftOut)
}

// findRelaxed runs a search. Where nothing has all of its words, it is run again without
// some of them, which the relaxation names.
func (s *Service) findRelaxed(ctx context.Context, actor library.Actor, text string, req query.Request, compiled *query.Search,
	find func(*query.Search) (run.Page, error)) (run.Page, *relaxation, error) {
	page, err := find(compiled)
	if err != nil || page.LexicalTotal > 0 || page.Partial || len(req.LeftOut) > 0 || compiled.MatchesNothing {
		return page, nil, err
	}
	again, leftOut, err := s.relax(ctx, actor, text, req, compiled)
	if err != nil || again == nil {
		return page, nil, err
	}
	if page, err = find(again); err != nil {
		return page, nil, err
	}
	return page, &relaxation{leftOut}, nil
}

// singlesOut is how many assets must be left by conditions before words that all of them
// have count as no reason to find them by their words.
const singlesOut = 5

// relax reads a query again without the fewest words that must be left out for something to
// have the others; nil where nothing has any. In smart mode that something must be
// less than all that the conditions of the query leave: where a LoRA is named
// neon_haze, all of its pictures have the word neon.
func (s *Service) relax(ctx context.Context, actor library.Actor, text string, req query.Request, compiled *query.Search) (*query.Search, []string, error) {
	words := compiled.Relaxable()
	if len(words) == 0 {
		return nil, nil, nil
	}
	counts, err := s.Searcher.Count(ctx, actor.Tenant, compiled.CountRelaxable())
	if err != nil {
		return nil, nil, err
	}
	all := counts[len(words)]
	steps := append(query.LeftOutSteps(words, counts[:len(words)]), words) // the last leaves what is quoted or grouped, if anything
	readings := make([]*query.Search, len(steps))
	for i, leftOut := range steps {
		req.LeftOut = leftOut
		if _, readings[i], err = s.compile(ctx, actor, text, req); err != nil {
			return nil, nil, err
		}
	}
	if counts, err = s.Searcher.Count(ctx, actor.Tenant, append(readings, compiled)); err != nil {
		return nil, nil, err
	}
	if counts[len(steps)] > 0 { // only the selections of facets leave nothing
		return nil, nil, nil
	}
	for i, n := range counts[:len(steps)] {
		if n > 0 && (req.Mode != query.Smart || !compiled.Conditional() || n < all || all < singlesOut) {
			return readings[i], steps[i], nil
		}
	}
	return nil, nil, nil
}
