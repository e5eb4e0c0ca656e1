package search

import (
	"context"

	"vitrine/library"
	"vitrine/query"
	"vitrine/query/run"
)

// fewResults is below how many results a search looks for a better spelling.
const fewResults = 3

// anyWord are the modes in which a result need not have every word.
var anyWord = map[query.Mode]bool{query.Smart: true, query.FullText: true, query.Fuzzy: true}

// respelling is a query that finds something where the one asked finds little.
type respelling struct {
	Query string `json:"query" doc:"Send it as query."`
	Total int64  `json:"total" doc:"What its words find, more than 0."`
}

// didYouMean looks for another spelling of a query whose words find little. A
// suggestion is a nicety: where none can be made, for whatever reason, there is
// none.
func (s *Service) didYouMean(ctx context.Context, actor library.Actor, q *query.Query, req query.Request, page run.Page) *respelling {
	if page.Words >= fewResults || req.Offset > 0 {
		return nil
	}
	words := q.Words()
	if len(words) == 0 || page.Words > 0 && (len(words) == 1 || !anyWord[req.Mode]) {
		return nil // all words occur in what was found
	}
	_, all, err := s.compile(actor, "", query.Request{})
	if err != nil {
		return nil
	}
	better, err := s.Searcher.Respell(ctx, actor.Tenant, all, words)
	if err != nil || len(better) == 0 {
		return nil
	}
	other, err := q.Respelled(better)
	if err != nil {
		return nil
	}
	req.Limit, req.Highlight = 0, false
	text := query.Print(other.Tree)
	_, compiled, err := s.compile(actor, text, req)
	if err != nil {
		return nil
	}
	found, err := s.Searcher.Search(ctx, actor.Tenant, compiled)
	if err != nil || found.Total <= page.Words {
		return nil
	}
	return &respelling{Query: text, Total: found.Total}
}
