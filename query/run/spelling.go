package run

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"vitrine/internal/engine"
	"vitrine/library"
	"vitrine/query"
)

// Respell finds better spellings of words that do not occur among what the caller
// may see: for each the closest word that does, of equally close ones the most
// frequent. all is a compiled search for everything that the caller may see.
func (s *Searcher) Respell(ctx context.Context, tenant library.TenantID, all *query.Search, words []string) (map[string]string, error) {
	if len(words) == 0 {
		return nil, nil
	}
	candidates, err := s.candidates(ctx, tenant, words)
	if err != nil {
		return nil, err
	}
	var every []string
	for w, list := range candidates {
		every = append(append(every, w), list...)
	}
	counts, err := s.Occurrences(ctx, tenant, all, every)
	if err != nil {
		return nil, err
	}
	better := map[string]string{}
	for w, list := range candidates {
		if counts[w] > 0 {
			continue
		}
		list = slices.DeleteFunc(list, func(c string) bool { return counts[c] == 0 })
		if len(list) > 0 {
			better[w] = slices.MinFunc(list, func(a, b string) int {
				return cmp.Or(query.Closer(w, a, b), cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
			})
		}
	}
	return better, nil
}

// Occurrences counts in how many assets each word occurs, among what all finds: a
// compiled search for everything that the caller may see.
func (s *Searcher) Occurrences(ctx context.Context, tenant library.TenantID, all *query.Search, words []string) (map[string]int64, error) {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	page, err := s.Search(ctx, tenant, all.Occurring(words))
	if err != nil {
		return nil, err
	}
	counts := make(map[string]int64, len(words))
	for _, w := range words {
		var a struct {
			Count int64 `json:"doc_count"`
		}
		if err := json.Unmarshal(page.Aggs[w], &a); err != nil {
			return nil, engine.Unavailable(err)
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
	if err := engine.Call(ctx, s.client, http.MethodPost, s.Path(tenant), query.Candidates(words), &answer); err != nil {
		return nil, engine.Unavailable(err)
	}
	out := map[string][]string{}
	for name, entries := range answer.Suggest {
		word, _, _ := strings.Cut(name, " ")
		for _, e := range entries {
			for _, o := range e.Options {
				if !slices.Contains(out[word], o.Text) && o.Text != word {
					out[word] = append(out[word], o.Text)
				}
			}
		}
	}
	return out, nil
}
