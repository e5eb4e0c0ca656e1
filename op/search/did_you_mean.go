package search

import (
	"context"
	"maps"
	"slices"

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

// didYouMean looks for another spelling of a query whose words find little, or of
// which a word occurs nowhere while the others find enough. A suggestion is a
// nicety: where none can be made, for whatever reason, there is none.
func (s *Service) didYouMean(ctx context.Context, actor library.Actor, q *query.Query, req query.Request, page run.Page) *respelling {
	words, names := q.Words(), q.Names()
	several := max(len(words), len(names)) > 1
	if len(words)+len(names) == 0 || req.Offset > 0 || page.Words > 0 && (!several || !anyWord[req.Mode]) {
		return nil // no word to spell, or all occur in what was found
	}
	enough := page.Words >= fewResults
	if enough {
		if words = s.unseen(actor, words); len(words) == 0 {
			return nil
		}
		names = words
	}
	all, err := s.everything(actor)
	if err != nil {
		return nil
	}
	strange, err := s.strange(ctx, actor, all, slices.Concat(words, names))
	if err != nil {
		return nil
	}
	conditions, err := s.named(ctx, actor, all, both(names, strange))
	if err != nil {
		return nil
	}
	words = slices.DeleteFunc(both(words, strange), func(w string) bool { return conditions[w] != "" })
	better, err := s.Searcher.Respell(ctx, actor.Tenant, all, q, words)
	if err != nil {
		return nil
	}
	if enough {
		if err := s.sure(ctx, actor, all, better); err != nil {
			return nil
		}
	}
	if len(better)+len(conditions) == 0 {
		return nil
	}
	other, err := q.Respelled(better)
	if err != nil {
		return nil
	}
	if other, err = other.Named(conditions); err != nil {
		return nil
	}
	req.Limit, req.Highlight = 0, false
	text := query.Print(other.Tree)
	_, compiled, err := s.compile(actor, text, req)
	if err != nil {
		return nil
	}
	found, err := s.Searcher.Search(ctx, actor.Tenant, compiled)
	if err != nil || found.Total == 0 || !enough && found.Total <= page.Words {
		return nil
	}
	return &respelling{Query: text, Total: found.Total}
}

// both gives the words of a list that are in the other too.
func both(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(w string) bool { return !slices.Contains(other, w) })
}

// named finds which words, of those that occur in no text, are names or parts of
// them, of models above all, and gives the condition that finds them. "flux" is not a
// slip of "full" where there is flux1-dev.
func (s *Service) named(ctx context.Context, actor library.Actor, all *query.Search, words []string) (map[string]string, error) {
	var open []string
	for _, w := range words {
		open = append(open, query.NameTerms(w)...)
	}
	if len(open) == 0 {
		return nil, nil
	}
	counts, err := s.Searcher.CountTerms(ctx, actor.Tenant, all, open)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, w := range words {
		if i := slices.IndexFunc(query.NameTerms(w), func(term string) bool { return counts[term] > 0 }); i >= 0 {
			out[w] = query.NameTerms(w)[i]
		}
	}
	return out, nil
}

// sure leaves out spellings that are not worth a suggestion to somebody who found
// enough: too far off, or of so few assets that they may be slips themselves.
func (s *Service) sure(ctx context.Context, actor library.Actor, all *query.Search, better map[string]string) error {
	maps.DeleteFunc(better, func(w, meant string) bool { return !query.Plausible(w, meant) })
	if len(better) == 0 {
		return nil
	}
	counts, err := s.Searcher.Occurrences(ctx, actor.Tenant, all, slices.Collect(maps.Values(better)))
	maps.DeleteFunc(better, func(_, meant string) bool { return counts[meant] < fewResults })
	return err
}

// unseen leaves out the words that were found lately to occur among what the caller
// may see.
func (s *Service) unseen(actor library.Actor, words []string) []string {
	known, who := s.recent.open().words, viewer(actor)
	return slices.DeleteFunc(words, func(w string) bool {
		_, ok := known.get(who + w)
		return ok
	})
}

// strange gives the words that occur nowhere among what the caller may see, which
// all is a compiled search for, and remembers the others.
func (s *Service) strange(ctx context.Context, actor library.Actor, all *query.Search, words []string) ([]string, error) {
	counts, err := s.Searcher.Occurrences(ctx, actor.Tenant, all, words)
	if err != nil {
		return nil, err
	}
	known, who := s.recent.open().words, viewer(actor)
	return slices.DeleteFunc(words, func(w string) bool {
		if counts[w] > 0 {
			known.add(who+w, struct{}{})
		}
		return counts[w] > 0
	}), nil
}
