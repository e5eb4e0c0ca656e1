package run

import (
	"context"
	"encoding/json"

	"vitrine/library"
	"vitrine/query"
)

// Meaning is a vector to search by, in the field of an embedding configuration.
type Meaning struct {
	Config string
	Vector []float32
	Chance float64 // neighbours whose cosine is not above this are none; -1 keeps them all
}

// How is what a search needs beside the compiled query. The zero value is a
// search by words of what the index holds now.
type How struct {
	Meaning *Meaning // words and meaning; nil: words only
	Point   string   // read from this point instead of now

	// What an earlier page of the same walk found out.
	Head    []library.AssetHash // its Page.Head
	After   json.RawMessage     // go on after the hit with these Sort values, instead of at From
	Counted bool                // the total is known: it is not counted again
}

// Find runs a search by words, or by words and meaning. With a meaning, in order
// of relevance, the answer begins with a head in which both arms are fused,
// followed by what else the words find; in any other order, and for facets, the
// answer is what the words find joined with the nearest neighbours. Page.Head has
// the hits that a further page must know of.
//
// Where the index has no answer for the meaning, the words answer alone and
// Page.WordsOnly says so.
func (s *Searcher) Find(ctx context.Context, tenant library.TenantID, compiled *query.Search, how How) (Page, error) {
	switch {
	case how.Meaning == nil && how.Head == nil && how.Point == "":
		return s.Search(ctx, tenant, compiled)
	case compiled.MatchesNothing && compiled.Aggs == nil:
		return Page{Hits: []Hit{}}, nil
	case how.Meaning == nil && how.Head == nil:
		return s.plain(ctx, tenant, compiled, how)
	case !compiled.Ranked || compiled.Aggs != nil:
		return s.joined(ctx, tenant, compiled, how)
	}
	return s.fused(ctx, tenant, compiled, how)
}

// plain answers a compiled query as it is, at the place that how says.
func (s *Searcher) plain(ctx context.Context, tenant library.TenantID, compiled *query.Search, how How) (Page, error) {
	a, err := s.at(ctx, tenant, how.Point, place(compiled, how))
	return a.page(), err
}

// place is the body of a search at the place that how says.
func place(compiled *query.Search, how How) map[string]any {
	body := Body(compiled)
	if how.Counted {
		body["track_total_hits"] = false
	}
	if how.After != nil {
		body["search_after"] = how.After
		delete(body, "from")
	}
	return body
}

// joined answers what the words find together with the nearest neighbours.
func (s *Searcher) joined(ctx context.Context, tenant library.TenantID, compiled *query.Search, how How) (Page, error) {
	head, took := how.Head, int64(0)
	if head == nil {
		near, err := compiled.Neighbours(how.Meaning.Config, how.Meaning.Vector, armSize)
		if err != nil {
			return Page{}, err
		}
		parts, err := s.together(ctx, tenant, how.Point, NeighboursArm(near))
		if err != nil {
			return Page{}, err
		}
		if err := parts[0].err(how.Point); err != nil {
			p, err := s.plain(ctx, tenant, compiled, how)
			p.WordsOnly = true
			return p, err
		}
		head, took = how.Meaning.alike(parts[0].answer).hashes(), parts[0].Took
	}
	p, err := s.plain(ctx, tenant, compiled.Joined(head), how)
	p.Head, p.TookMS = head, p.TookMS+took
	return p, err
}

// fused answers in order of relevance: the fused head, then what else the words find.
func (s *Searcher) fused(ctx context.Context, tenant library.TenantID, compiled *query.Search, how How) (Page, error) {
	h := fusion{hashes: how.Head}
	if h.hashes == nil {
		var err error
		if h, err = s.fuse(ctx, tenant, compiled, how); err != nil {
			return Page{}, err
		}
		if h.wordsOnly {
			p, err := s.plain(ctx, tenant, compiled, how)
			p.WordsOnly = true
			return p, err
		}
	}
	page, err := s.slice(ctx, tenant, compiled, how, h)
	page.Head = h.hashes
	return page, err
}

// slice gives the hits of a page out of a head and what follows it.
func (s *Searcher) slice(ctx context.Context, tenant library.TenantID, compiled *query.Search, how How, h fusion) (Page, error) {
	from := min(compiled.From, len(h.hashes))
	if how.After != nil {
		from = len(h.hashes)
	}
	shown := h.hashes[from:min(from+compiled.Size, len(h.hashes))]
	out := Page{Hits: make([]Hit, 0, compiled.Size), Total: h.total, Words: h.words, TookMS: h.took}
	var parts []request
	if len(shown) > 0 {
		parts = append(parts, request{Body(compiled.Fetch(shown)), func(a answer) {
			out.Hits = append(out.Hits, h.order(shown, from, a.page().Hits)...)
		}})
	}
	if rest := compiled.Size - len(shown); rest > 0 && !h.complete {
		beyond := compiled.Beyond(h.hashes)
		beyond.From, beyond.Size = max(0, compiled.From-len(h.hashes)), rest
		parts = append(parts, request{place(beyond, How{After: how.After, Counted: true}), func(a answer) {
			out.Hits = append(out.Hits, behind(a.page().Hits, max(compiled.From, len(h.hashes)))...)
		}})
	}
	if len(h.uncounted) > 0 {
		parts = append(parts, request{Body(compiled.Among(h.uncounted)), func(a answer) { out.Total -= a.Total }})
	}
	err := s.each(ctx, tenant, how.Point, &out.TookMS, parts) // fills the hits
	return out, err
}

// request is one of several searches that go out together, and what takes its
// answer. They are taken in their order.
type request struct {
	body map[string]any
	take func(answer)
}

func (s *Searcher) each(ctx context.Context, tenant library.TenantID, point string, took *int64, list []request) error {
	if len(list) == 0 {
		return nil
	}
	bodies := make([]map[string]any, len(list))
	for i, r := range list {
		bodies[i] = r.body
	}
	parts, err := s.together(ctx, tenant, point, bodies...)
	if err != nil {
		return err
	}
	longest := int64(0)
	for i := range parts {
		if err := parts[i].err(point); err != nil {
			return err
		}
		longest = max(longest, parts[i].Took)
		list[i].take(parts[i].answer)
	}
	*took += longest
	return nil
}

// behind gives hits that come after the head scores that say so; place is that of
// the first.
func behind(hits []Hit, place int) []Hit {
	for i := range hits {
		score := rankScore(place + i)
		hits[i].Score = &score
	}
	return hits
}
