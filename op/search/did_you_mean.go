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

// spellingSuggestion is a query that finds something where the one asked finds little.
type spellingSuggestion struct {
	Query string `json:"query" doc:"Send it as query."`
	Total int64  `json:"total" doc:"Assets that match its words, more than 0."`
}

// didYouMean looks for another spelling of a query whose words find little, or of
// which a word occurs nowhere while the others find enough. A suggestion is a
// nicety: where none can be made, for whatever reason, there is none.
func (s *Service) didYouMean(ctx context.Context, actor library.Actor, q *query.Query, req query.Request, page run.Page, relaxed *relaxation) *spellingSuggestion {
	words, names := q.Words(), q.NameWords()
	several := max(len(words), len(names)) > 1
	if len(words)+len(names) == 0 || req.Offset > 0 || page.LexicalTotal > 0 && (!several || !anyWord[req.Mode]) {
		return nil // no word to spell, or all occur in what was found
	}
	enough := page.LexicalTotal >= fewResults
	if enough {
		if words = s.dropKnownWords(actor, words); len(words) == 0 {
			return nil
		}
		names = words
	}
	all, err := s.matchAll(ctx, actor)
	if err != nil {
		return nil
	}
	unknown, err := s.unknownWords(ctx, actor, all, slices.Concat(words, names))
	if err != nil {
		return nil
	}
	conditions, err := s.nameConditions(ctx, actor, all, intersect(names, unknown))
	if err != nil {
		return nil
	}
	words = slices.DeleteFunc(intersect(words, unknown), func(w string) bool { return conditions[w] != "" })
	better, err := s.Searcher.CorrectSpelling(ctx, actor.Tenant, all, q, words)
	if err != nil {
		return nil
	}
	if enough {
		if err := s.dropUnlikely(ctx, actor, all, better); err != nil {
			return nil
		}
	}
	if len(better)+len(conditions) == 0 {
		return nil
	}
	other, err := q.WithSpelling(better)
	if err != nil {
		return nil
	}
	if other, err = other.WithConditions(conditions); err != nil {
		return nil
	}
	req.Limit, req.Highlight = 0, false
	text := query.Print(other.Tree)
	_, compiled, err := s.compile(ctx, actor, text, req)
	if err != nil {
		return nil
	}
	found, again, err := s.findRelaxed(ctx, actor, text, req, compiled, func(c *query.Search) (run.Page, error) { return s.Searcher.Search(ctx, actor.Tenant, c) })
	if err != nil || found.Total == 0 || !enough && found.Total <= page.LexicalTotal && again.without() >= relaxed.without() {
		return nil
	}
	return &spellingSuggestion{Query: text, Total: found.Total}
}

// intersect returns the words of a list that are in the other too.
func intersect(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(w string) bool { return !slices.Contains(other, w) })
}

// nameConditions finds which words, of those that occur in no text, are names or parts of
// them, of models above all, and gives the condition that finds them. "flux" is not a
// slip of "full" where there is flux1-dev.
func (s *Service) nameConditions(ctx context.Context, actor library.Actor, all *query.Search, words []string) (map[string]string, error) {
	var open []string
	for _, w := range words {
		open = append(open, query.NameConditions(w)...)
	}
	if len(open) == 0 {
		return nil, nil
	}
	counts, err := s.Searcher.CountConditions(ctx, actor.Tenant, all, open)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, w := range words {
		if i := slices.IndexFunc(query.NameConditions(w), func(term string) bool { return counts[term] > 0 }); i >= 0 {
			out[w] = query.NameConditions(w)[i]
		}
	}
	return out, nil
}

// dropUnlikely leaves out spellings that are not worth a suggestion to somebody who found
// enough: too far off, or of so few assets that they may be slips themselves.
func (s *Service) dropUnlikely(ctx context.Context, actor library.Actor, all *query.Search, better map[string]string) error {
	maps.DeleteFunc(better, func(w, meant string) bool { return !query.PlausibleTypo(w, meant) })
	if len(better) == 0 {
		return nil
	}
	counts, err := s.Searcher.CountWords(ctx, actor.Tenant, all, slices.Collect(maps.Values(better)))
	maps.DeleteFunc(better, func(_, meant string) bool { return counts[meant] < fewResults })
	return err
}

// dropKnownWords leaves out the words that were found lately to occur among what the caller
// may see.
func (s *Service) dropKnownWords(actor library.Actor, words []string) []string {
	known, who := s.cache.caches().knownWords, viewerKey(actor)
	return slices.DeleteFunc(words, func(w string) bool {
		_, ok := known.get(who + w)
		return ok
	})
}

// unknownWords returns the words that occur nowhere among what the caller may see, which
// all is a compiled search for, and remembers the others.
func (s *Service) unknownWords(ctx context.Context, actor library.Actor, all *query.Search, words []string) ([]string, error) {
	counts, err := s.Searcher.CountWords(ctx, actor.Tenant, all, words)
	if err != nil {
		return nil, err
	}
	known, who := s.cache.caches().knownWords, viewerKey(actor)
	return slices.DeleteFunc(words, func(w string) bool {
		if counts[w] > 0 {
			known.add(who+w, struct{}{})
		}
		return counts[w] > 0
	}), nil
}
