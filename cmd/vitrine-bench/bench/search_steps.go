package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"vitrine/library"
	"vitrine/query"
)

// spans are times by class, one list per side.
type spans map[string][][]time.Duration

func (s spans) row(class string, floor, ours int) Row {
	r := Row{Name: class, Unit: "ms", Ours: milliseconds(s[class][ours]), Floor: milliseconds(s[class][floor])}
	r.Ratio = r.Ours.P50 / r.Floor.P50
	return r
}

// all joins the times of the classes that are searches of their own.
func (s spans) all() spans {
	joined := spans{}
	for class, sides := range s {
		if class == cachedFacets {
			continue
		}
		if joined[mixOfAll] == nil {
			joined[mixOfAll] = make([][]time.Duration, len(sides))
		}
		for i, times := range sides {
			joined[mixOfAll][i] = append(joined[mixOfAll][i], times...)
		}
	}
	return joined
}

const mixOfAll = "the mix of all below"

// rounds is how often every question is asked on every side, and what of the
// answers must be the same on all of them: nil is nothing.
type rounds struct {
	warmUp, counted int
	agree           func(a, b answer) bool
}

// warmed are rounds that begin with as many as bring code and caches to speed.
func warmed(counted int, agree func(a, b answer) bool) rounds {
	return rounds{1 + counted/3, counted, agree}
}

func sameAnswer(a, b answer) bool { return a == b }
func sameTotal(a, b answer) bool  { return a.total == b.total }

// turns asks every question on every side, in an order that is drawn anew every
// time: none always comes first, and none always finds what another has warmed.
func (e *env) turns(ctx context.Context, r *rand.Rand, n rounds, list []question, sides []side) (spans, error) {
	times := spans{}
	if n.agree != nil {
		var err error
		if list, err = e.withAllWords(ctx, list); err != nil {
			return nil, err
		}
	}
	for round := range n.warmUp + n.counted {
		for _, i := range r.Perm(len(list)) {
			q := &list[i]
			if times[q.class] == nil {
				times[q.class] = make([][]time.Duration, len(sides))
			}
			var other *answer
			for _, side := range r.Perm(len(sides)) {
				if err := e.clearFacetCache(ctx, q); err != nil {
					return nil, err
				}
				got, err := e.patiently(ctx, sides[side], q)
				if err != nil {
					return nil, err
				}
				if other != nil && n.agree != nil && !n.agree(got.answer, *other) {
					return nil, fmt.Errorf("%s, %q: %+v found where another side found %+v; they do not measure the same", sides[side].name, q.text, got.answer, *other)
				}
				other = &got.answer
				if round >= n.warmUp {
					times[q.class][side] = append(times[q.class][side], got.took)
				}
			}
		}
	}
	return times, nil
}

// withAllWords returns the questions that the service asks the index as they are. Where no
// asset has all words, which happens in a small library, it searches again without some
// of them, and one request to the index is no measure of that.
func (e *env) withAllWords(ctx context.Context, list []question) (kept []question, err error) {
	for _, q := range list {
		raw, err := e.callREST(ctx, http.MethodPost, q.path, q.rest)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", q.text, err)
		}
		var response struct {
			Relaxed json.RawMessage `json:"relaxed"`
		}
		if err := json.Unmarshal(raw, &response); err != nil {
			return nil, err
		}
		if response.Relaxed == nil {
			kept = append(kept, q)
		}
	}
	return kept, nil
}

// measureWords compares searches by words and filters with the same requests sent
// to OpenSearch.
func (e *env) measureWords(ctx context.Context, r *rand.Rand) ([]Figure, error) {
	list, err := e.wordSearches(wordQueries())
	if err != nil {
		return nil, err
	}
	e.Step("Searching by words: %d searches, %d times each, on 2 sides", len(list), e.Repeats)
	times, err := e.turns(ctx, r, warmed(e.Repeats, sameTotal), list, []side{{"OpenSearch", e.direct}, {"REST", e.viaREST}})
	if err != nil {
		return nil, err
	}
	f := Figure{Key: KeyWords, Rows: []Row{times.all().row(mixOfAll, 0, 1)}}
	for _, a := range wordQueries() {
		f.Rows = append(f.Rows, times.row(a.class, 0, 1))
	}
	f.Value, f.Repeats = f.Rows[0].Ratio, f.Rows[0].Ours.N
	return []Figure{f}, nil
}

// The sides of a search by words and meaning.
const (
	sideWords = iota
	sideMeaning
	sideBoth
	sidePage
	sideServedWords
	sideServedMeaning
	sideREST
)

// measureMeaning compares searches by words and meaning with the slower of their
// two retrievers. The service has the vectors of the texts from the warm-up.
func (e *env) measureMeaning(ctx context.Context, r *rand.Rand, c *corpus) ([]Figure, error) {
	list, err := e.meaningSearches(ctx, c)
	if err != nil {
		return nil, err
	}
	e.Step("Searching by meaning: %d searches, %d times each, on 7 sides", len(list), e.Repeats)
	questions := make([]question, len(list))
	parts := map[*question]*partsOf{}
	for i := range list {
		questions[i] = list[i].smart
		parts[&questions[i]] = &list[i]
	}
	direct := func(name string, part func(*partsOf) *question) side {
		return side{name, func(ctx context.Context, q *question) (asked, error) { return e.direct(ctx, part(parts[q])) }}
	}
	times, err := e.turns(ctx, r, warmed(e.Repeats, nil), questions, []side{
		sideWords:         direct("words", func(p *partsOf) *question { return &p.words }),
		sideMeaning:       direct("meaning", func(p *partsOf) *question { return &p.meaning }),
		sideBoth:          {"both", func(ctx context.Context, q *question) (asked, error) { return e.atOnce(ctx, parts[q].both) }},
		sidePage:          direct("page", func(p *partsOf) *question { return &p.page }),
		sideServedWords:   direct("served words", func(p *partsOf) *question { return &p.servedWords }),
		sideServedMeaning: direct("served meaning", func(p *partsOf) *question { return &p.servedMeaning }),
		sideREST:          {"REST", e.viaREST},
	})
	if err != nil {
		return nil, err
	}
	all := times.all()
	f := Figure{Key: KeyMeaning, Rows: []Row{slowerRetriever(all, mixOfAll)}}
	f.Rows = append(f.Rows, slowerRetriever(times, "words alone"), slowerRetriever(times, "words and filter"))
	for side, name := range []string{"the retriever by words", "the retriever by meaning", "both retrievers in one request", "fetching the page by its ids",
		"the retriever by words as the service asks for it", "the retriever by meaning as the service asks for it"} {
		row := all.row(mixOfAll, side, sideREST)
		row.Name = "the mix, over " + name
		f.Rows = append(f.Rows, row)
	}
	f.Value, f.Repeats = f.Rows[0].Ratio, f.Rows[0].Ours.N
	return []Figure{f}, nil
}

// atOnce asks OpenSearch for both retrievers in one request.
func (e *env) atOnce(ctx context.Context, lines []byte) (asked, error) {
	return timed(func() (a answer, err error) {
		var response struct {
			Responses []struct {
				Hits struct {
					Hits []struct {
						ID string `json:"_id"`
					} `json:"hits"`
				} `json:"hits"`
				Error json.RawMessage `json:"error"`
			} `json:"responses"`
		}
		err = e.index(ctx, http.MethodPost, "/_msearch", lines, &response)
		for _, r := range response.Responses {
			if r.Error != nil {
				err = fmt.Errorf("a retriever is answered with %.200s", r.Error)
			}
			a.items += len(r.Hits.Hits)
		}
		return a, err
	})
}

// slowerRetriever compares the service with the retriever whose median is the greater.
func slowerRetriever(s spans, class string) Row {
	words, meaning := s.row(class, sideWords, sideREST), s.row(class, sideMeaning, sideREST)
	if words.Floor.P50 > meaning.Floor.P50 {
		return words
	}
	return meaning
}

// understood returns what a search finds and makes sure that it goes by meaning:
// one that falls back to words would be measured as a fast one.
func (e *env) understood(ctx context.Context, q *question) ([]library.AssetHash, error) {
	hits, degraded, err := e.found(ctx, q)
	if err == nil && len(degraded) > 0 {
		err = fmt.Errorf("the search %q lacks %v", q.text, degraded)
	}
	return hits, err
}

// found asks the service and gives the hits and what the answer lacks.
func (e *env) found(ctx context.Context, q *question) (hits []library.AssetHash, degraded []string, err error) {
	raw, err := e.callREST(ctx, http.MethodPost, q.path, q.rest)
	if err != nil {
		return nil, nil, err
	}
	var response struct {
		Data []struct {
			Hash library.AssetHash `json:"asset_h"`
		} `json:"data"`
		Degraded []string `json:"degraded"`
	}
	err = json.Unmarshal(raw, &response)
	for _, d := range response.Data {
		hits = append(hits, d.Hash)
	}
	return hits, response.Degraded, err
}

// measureRival compares the service with PostgreSQL over the same rows.
func (e *env) measureRival(ctx context.Context, r *rand.Rand) (_ []Figure, err error) {
	e.Step("Building the table and the indices that PostgreSQL searches by")
	rival, err := e.openRival(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rival.close()) }()
	list, err := e.rivalSearches(rival.trigrams)
	if err != nil {
		return nil, err
	}
	repeats := max(1, e.Repeats/2)
	e.Step("Searching in PostgreSQL: %d searches, %d times each, on 2 sides", len(list), repeats)
	times, err := e.turns(ctx, r, warmed(repeats, sameTotal), list, []side{{"PostgreSQL", rival.ask}, {"REST", e.viaREST}})
	if err != nil {
		return nil, err
	}
	return []Figure{rivalFigure(times, list)}, nil
}

// rivalFigure returns how many times faster the service is. Its value is the
// geometric mean over the classes of facets: a median over all of them would say
// which class has the most searches.
func rivalFigure(times spans, list []question) Figure {
	f := Figure{Key: KeyRival}
	logs, facets := 0.0, 0
	var seen []string
	for _, q := range list {
		if slices.Contains(seen, q.class) {
			continue
		}
		seen = append(seen, q.class)
		row := times.row(q.class, 0, 1)
		row.Ratio = 1 / row.Ratio
		f.Rows = append(f.Rows, row)
		if q.tool == "GetFacets" {
			logs, facets, f.Repeats = logs+math.Log(row.Ratio), facets+1, f.Repeats+row.Ours.N
		}
	}
	f.Value = math.Exp(logs / float64(facets))
	return f
}

// growthSearches are the searches whose time is measured at two sizes.
func (e *env) growthSearches(c *corpus) (list []question, err error) {
	if list, err = e.wordSearches([]asks{
		{class: "selective text and filter", mode: query.FullText, queries: []string{"S40 A5 tool:comfyui", "S60 steps:>=30", "D70 sampler:euler", "S80 E9 mime_type:png"}},
		{class: "facets over everything", mode: query.FullText, facets: true, queries: []string{"", "media:image", "has:lineage", "created:2023.."}},
		{class: "words and meaning", mode: query.Smart, queries: []string{"S4 A3", "S12 E2", "S25 A10 E5", "S15 steps:>=20"}},
	}); err != nil {
		return nil, err
	}
	for _, text := range []string{"S7 A9", "S22 E3", "A8 S45 M4", "Y2 S90"} {
		q, err := e.nearestQuestion("nearest neighbours of a vector", c.vectorOf(some(text)), 0, 20)
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, nil
}

// measureSize times some searches at the size that the library has now.
func (e *env) measureSize(ctx context.Context, r *rand.Rand, c *corpus) (spans, error) {
	list, err := e.growthSearches(c)
	if err != nil {
		return nil, err
	}
	e.Step("Searching among %d assets: %d searches, %d times each", len(c.assets), len(list), e.Repeats)
	return e.turns(ctx, r, warmed(e.Repeats, nil), list, []side{{"REST", e.viaREST}})
}

// growth compares the times at two sizes.
func growth(small, large spans) Figure {
	f := Figure{Key: KeyGrowth}
	for _, class := range []string{"selective text and filter", "facets over everything", "words and meaning", "nearest neighbours of a vector"} {
		row := Row{Name: class, Unit: "ms", Ours: milliseconds(large[class][0]), Floor: milliseconds(small[class][0])}
		row.Ratio = row.Ours.P50 / row.Floor.P50
		f.Rows = append(f.Rows, row)
		f.Value, f.Repeats = max(f.Value, row.Ratio), f.Repeats+row.Ours.N
	}
	return f
}
