package run

import (
	"context"
	"encoding/json"

	"vitrine/library"
	"vitrine/query"
)

// QueryVector is a vector to search by, in the field of an embedding configuration.
type QueryVector struct {
	Config        string
	Vector        []float32
	MinSimilarity float64 // neighbours whose cosine is not above this are none; -1 keeps them all
	ShareOfBest   float64 // nor are those whose cosine is below this share of the nearest one's
}

// SearchOptions is what a search needs beside the compiled query. The zero value is a
// search by words of what the index holds now.
type SearchOptions struct {
	QueryVector *QueryVector // words and meaning; nil: words only
	PIT         string       // read from this point in time instead of now

	// What an earlier page of the same cursor found out.
	TopK      []library.AssetHash // its Page.TopK
	Similar   []bool              // its Page.Similar
	After     json.RawMessage     // go on after the hit with these Sort values, instead of at From
	SkipTotal bool                // the total is known: it is not counted again
}

// SearchWith runs a search by words, or by words and meaning. With a meaning, in order
// of relevance, the answer begins with a head in which both retrievers are fused,
// followed by what else the words find; in any other order, and for facets, the
// answer is what the words find joined with the nearest neighbours. Page.TopK has
// the hits that a further page must know of.
//
// Where the index has no answer for the meaning, the words answer alone and
// Page.LexicalOnly says so.
func (s *Searcher) SearchWith(ctx context.Context, tenant library.TenantID, compiled *query.Search, opts SearchOptions) (Page, error) {
	switch {
	case opts.QueryVector == nil && opts.TopK == nil && opts.PIT == "":
		return s.Search(ctx, tenant, compiled)
	case compiled.MatchesNothing && compiled.Aggs == nil:
		return Page{Hits: []Hit{}}, nil
	case opts.QueryVector == nil && opts.TopK == nil:
		return s.searchLexical(ctx, tenant, compiled, opts)
	case !compiled.Ranked || compiled.Aggs != nil:
		return s.searchUnion(ctx, tenant, compiled, opts)
	}
	return s.searchHybrid(ctx, tenant, compiled, opts)
}

// searchLexical answers a compiled query as it is, at the place that how says.
func (s *Searcher) searchLexical(ctx context.Context, tenant library.TenantID, compiled *query.Search, opts SearchOptions) (Page, error) {
	a, err := s.searchAt(ctx, tenant, opts.PIT, pageBody(compiled, opts))
	return a.page().byWords(compiled), err
}

// pageBody is the body of a search at the place that how says.
func pageBody(compiled *query.Search, opts SearchOptions) map[string]any {
	body := Body(compiled)
	if opts.SkipTotal {
		body["track_total_hits"] = false
	}
	if opts.After != nil {
		body["search_after"] = opts.After
		delete(body, "from")
	}
	return body
}

// searchUnion answers what the words find together with the nearest neighbours.
func (s *Searcher) searchUnion(ctx context.Context, tenant library.TenantID, compiled *query.Search, opts SearchOptions) (Page, error) {
	topK, took, byWords := opts.TopK, int64(0), int64(0)
	if topK == nil {
		near, err := compiled.Neighbours(opts.QueryVector.Config, opts.QueryVector.Vector, retrieverSize)
		if err != nil {
			return Page{}, err
		}
		parts, err := s.msearch(ctx, tenant, opts.PIT, KNNRetriever(near), CountRequest(compiled))
		if err != nil {
			return Page{}, err
		}
		if err := parts[0].err(opts.PIT); err != nil {
			p, err := s.searchLexical(ctx, tenant, compiled, opts)
			p.LexicalOnly = true
			return p, err
		}
		if err := parts[1].err(opts.PIT); err != nil {
			return Page{}, err
		}
		topK, took = opts.QueryVector.aboveMinSimilarity(parts[0].searchResponse).hashes(), max(parts[0].Took, parts[1].Took)
		byWords = parts[1].Total
	}
	a, err := s.searchAt(ctx, tenant, opts.PIT, pageBody(compiled.Union(topK), opts))
	p := a.page()
	p.TopK, p.TookMS, p.LexicalTotal, p.ByVector = topK, p.TookMS+took, byWords, true
	return p, err
}

// searchHybrid answers in order of relevance: the fused head, then what else the words find.
func (s *Searcher) searchHybrid(ctx context.Context, tenant library.TenantID, compiled *query.Search, opts SearchOptions) (Page, error) {
	h := fusion{hashes: opts.TopK, similar: opts.Similar}
	if h.hashes == nil {
		var err error
		if h, err = s.fuse(ctx, tenant, compiled, opts); err != nil {
			return Page{}, err
		}
		if h.lexicalOnly {
			p, err := s.searchLexical(ctx, tenant, compiled, opts)
			p.LexicalOnly = true
			return p, err
		}
	}
	page, err := s.hybridPage(ctx, tenant, compiled, opts, h)
	page.TopK, page.Similar, page.ByVector = h.hashes, h.similar, true
	return page, err
}

// hybridPage returns the hits of a page out of a head and what follows it.
func (s *Searcher) hybridPage(ctx context.Context, tenant library.TenantID, compiled *query.Search, opts SearchOptions, h fusion) (Page, error) {
	from := min(compiled.From, len(h.hashes))
	if opts.After != nil {
		from = len(h.hashes)
	}
	shown := h.hashes[from:min(from+compiled.Size, len(h.hashes))]
	out := Page{Hits: make([]Hit, 0, compiled.Size), Total: h.total, LexicalTotal: h.lexicalTotal, TookMS: h.took}
	var parts []subrequest
	if len(shown) > 0 {
		parts = append(parts, subrequest{Body(compiled.Fetch(shown)), func(a searchResponse) {
			out.Hits = append(out.Hits, h.orderHits(shown, from, a.page().Hits)...)
		}})
	}
	if rest := compiled.Size - len(shown); rest > 0 && !h.complete {
		beyond := compiled.Excluding(h.hashes)
		beyond.From, beyond.Size = max(0, compiled.From-len(h.hashes)), rest
		parts = append(parts, subrequest{pageBody(beyond, SearchOptions{After: opts.After, SkipTotal: true}), func(a searchResponse) {
			out.Hits = append(out.Hits, scoreTail(a.page().byWords(compiled).Hits, max(compiled.From, len(h.hashes)))...)
		}})
	}
	if len(h.uncounted) > 0 {
		parts = append(parts, subrequest{Body(compiled.CountIn(h.uncounted)), func(a searchResponse) { out.Total -= a.Total }})
	}
	err := s.msearchEach(ctx, tenant, opts.PIT, &out.TookMS, parts) // fills the hits
	return out, err
}

// subrequest is one of several searches that go out together, and what takes its
// answer. They are taken in their order.
type subrequest struct {
	body map[string]any
	take func(searchResponse)
}

func (s *Searcher) msearchEach(ctx context.Context, tenant library.TenantID, pit string, took *int64, list []subrequest) error {
	if len(list) == 0 {
		return nil
	}
	bodies := make([]map[string]any, len(list))
	for i, r := range list {
		bodies[i] = r.body
	}
	parts, err := s.msearch(ctx, tenant, pit, bodies...)
	if err != nil {
		return err
	}
	longest := int64(0)
	for i := range parts {
		if err := parts[i].err(pit); err != nil {
			return err
		}
		longest = max(longest, parts[i].Took)
		list[i].take(parts[i].searchResponse)
	}
	*took += longest
	return nil
}

// scoreTail returns hits that come after the head scores that say so; place is that of
// the first.
func scoreTail(hits []Hit, place int) []Hit {
	for i := range hits {
		score := rankScore(place + i)
		hits[i].Score = &score
	}
	return hits
}
