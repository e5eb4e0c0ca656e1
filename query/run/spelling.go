package run

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/query"
)

// CorrectSpelling finds better spellings of words that do not occur among what the caller
// may see: for each the closest word that does; of equally close ones the one that
// more assets have beside the query's other words, then the most frequent. all is
// a compiled search for everything that the caller may see, words are among those of
// the query.
func (s *Searcher) CorrectSpelling(ctx context.Context, tenant library.TenantID, all *query.Search, q *query.Query, words []string) (map[string]string, error) {
	if len(words) == 0 {
		return nil, nil
	}
	candidates, err := s.candidates(ctx, tenant, words)
	if err != nil {
		return nil, err
	}
	every := slices.Clone(words)
	for _, list := range candidates {
		every = append(every, list...)
	}
	counts, err := s.CountWords(ctx, tenant, all, every)
	if err != nil {
		return nil, err
	}
	closest := map[string][]string{}
	for _, w := range words {
		if list := closestCandidates(w, candidates[w], counts); counts[w] == 0 && len(list) > 0 {
			closest[w] = list
		}
	}
	beside, err := s.countCooccurrences(ctx, tenant, all, q.Words(), closest)
	if err != nil {
		return nil, err
	}
	better := map[string]string{}
	for w, list := range closest {
		better[w] = slices.MinFunc(list, func(a, b string) int {
			return cmp.Or(cmp.Compare(beside[b], beside[a]), cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
		})
	}
	return better, nil
}

// closestCandidates returns the candidates that occur and are as close to a word as any.
func closestCandidates(w string, candidates []string, counts map[string]int64) []string {
	list := slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return counts[c] == 0 })
	if len(list) == 0 {
		return nil
	}
	best := slices.MinFunc(list, func(a, b string) int { return query.CompareSpelling(w, a, b) })
	return slices.DeleteFunc(list, func(c string) bool { return query.CompareSpelling(w, best, c) < 0 })
}

// countCooccurrences counts, for the spellings of words that have several, the assets
// that have the spelling beside any other word of the query or a spelling of it:
// "staned glas" is no gas where there is stained glass.
func (s *Searcher) countCooccurrences(ctx context.Context, tenant library.TenantID, all *query.Search, queried []string, closest map[string][]string) (map[string]int64, error) {
	open := map[string][]string{}
	for w, list := range closest {
		var others []string
		for _, other := range queried {
			if other != w {
				others = append(append(others, other), closest[other]...)
			}
		}
		if len(list) < 2 || len(others) == 0 {
			continue
		}
		for _, c := range list {
			open[c] = others
		}
	}
	if len(open) == 0 {
		return nil, nil
	}
	return s.counts(ctx, tenant, all.CountCooccurrences(open), slices.Collect(maps.Keys(open)))
}

// CountWords counts in how many assets each word occurs, among what all finds: a
// compiled search for everything that the caller may see.
func (s *Searcher) CountWords(ctx context.Context, tenant library.TenantID, all *query.Search, words []string) (map[string]int64, error) {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	return s.counts(ctx, tenant, all.CountWords(words), words)
}

// CountConditions counts how many assets each condition finds, as query.ConditionText writes it,
// among what all finds.
func (s *Searcher) CountConditions(ctx context.Context, tenant library.TenantID, all *query.Search, terms []string) (map[string]int64, error) {
	search, err := all.CountConditions(terms)
	if err != nil {
		return nil, err
	}
	return s.counts(ctx, tenant, search, terms)
}

// counts reads how many assets a search counts for each word.
func (s *Searcher) counts(ctx context.Context, tenant library.TenantID, search *query.Search, words []string) (map[string]int64, error) {
	page, err := s.Search(ctx, tenant, search)
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int64, len(words))
	for _, w := range words {
		var a struct {
			Count int64 `json:"doc_count"`
		}
		if err := json.Unmarshal(page.Aggs[w], &a); err != nil {
			return nil, opensearch.Unavailable(err)
		}
		counts[w] = a.Count
	}
	return counts, nil
}

func (s *Searcher) candidates(ctx context.Context, tenant library.TenantID, words []string) (map[string][]string, error) {
	var answer struct {
		Suggest map[string][]struct {
			Options []struct {
				Text string `json:"text"`
			} `json:"options"`
		} `json:"suggest"`
	}
	if err := s.call(ctx, tenant, http.MethodPost, s.Path(tenant), query.SpellingCandidates(tenant, words), &answer); err != nil {
		return nil, opensearch.Unavailable(err)
	}
	out := map[string][]string{}
	own := mappings.VocabularyPrefix(tenant)
	for word, entries := range answer.Suggest {
		for _, e := range entries {
			for _, o := range e.Options {
				if text, ok := strings.CutPrefix(o.Text, own); ok && text != word {
					out[word] = append(out[word], text)
				}
			}
		}
	}
	return out, nil
}

// Count counts what each of several searches finds.
func (s *Searcher) Count(ctx context.Context, tenant library.TenantID, searches []*query.Search) ([]int64, error) {
	bodies := make([]map[string]any, len(searches))
	for i, search := range searches {
		bodies[i] = CountRequest(search)
	}
	parts, err := s.msearch(ctx, tenant, "", bodies...)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(parts))
	for i := range parts {
		if err := parts[i].err(""); err != nil {
			return nil, err
		}
		counts[i] = parts[i].Total
	}
	return counts, nil
}

// Top lists the hashes of the first hits of a search, at most most.
func (s *Searcher) Top(ctx context.Context, tenant library.TenantID, search *query.Search, most int) ([]library.AssetHash, error) {
	body := retrieverBody(search)
	body["size"] = most
	a, err := s.searchAt(ctx, tenant, "", body)
	return a.hashes(), err
}
