// Package run sends a compiled search to OpenSearch and reads the answer: hits,
// total, facets, highlights.
//
// In comes a query.Search and the tenant it was compiled for; out comes a page
// of documents. It changes nothing about the query, and it never talks to
// PostgreSQL: a search answers from the index alone.
package run

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/query"
)

// Page is the answer to a search.
type Page struct {
	Hits   []Hit
	Total  int64
	Aggs   map[string]json.RawMessage // by facet name; see Facet
	TookMS int64                      // inside OpenSearch

	LexicalTotal int64               // of Total, what the words find
	TopK         []library.AssetHash // of a search by meaning: see SearchOptions
	Similar      []bool              // of TopK, in its order: that it is near in meaning
	LexicalOnly  bool                // the index could not search by meaning
	ByVector     bool                // it was searched by meaning too
	Partial      bool                // the counts are of a part of what was found, as time ran out
}

// Hit is one asset that matched. Document has the fields of a list only.
type Hit struct {
	Document   mappings.Document
	Score      *float64             // nil where the order is not by score
	ByWords    bool                 // the words of the query find it, with all that is required of them
	ByMeaning  bool                 // it is near the query in meaning
	Highlights map[string]Highlight // by field: title, description, prompt
	Sort       json.RawMessage      // the values it was sorted by; the next page begins after them
}

// listFields are what a list shows of a document; the rest stays in the index.
var listFields = []string{"tenant_id", "asset_h", "title", "description", "filename", "mime_type", "status", "tags",
	"width", "height", "size_bytes", "created", "tool", "visibility", "doc_version", "prompt", "model_names", "checkpoint_names", "lora_names"}

// Body returns the request that Search sends, as a value to marshal. Benchmarks
// and explanations show it.
func Body(s *query.Search) map[string]any {
	body := s.Body()
	body["_source"] = listFields
	if s.Scored {
		body["track_scores"] = true // also where the order is not by score
	}
	if s.Size == 0 {
		delete(body, "sort")
	}
	return body
}

// Path returns the address that Search sends to. Documents are routed by tenant,
// so one shard answers.
func (s *Searcher) Path(tenant library.TenantID) string {
	q := url.Values{"routing": {string(tenant)}, "allow_partial_search_results": {"false"}, "cancel_after_time_interval": {s.cancelAfter()}}
	return "/" + s.home(tenant).alias + "/_search?" + q.Encode()
}

// Search runs a compiled search for the tenant it was compiled for. The index
// being away is an INDEX_UNAVAILABLE error.
func (s *Searcher) Search(ctx context.Context, tenant library.TenantID, compiled *query.Search) (Page, error) {
	if compiled.MatchesNothing && compiled.Aggs == nil {
		return Page{Hits: []Hit{}}, nil
	}
	var answer searchResponse
	if err := s.call(ctx, tenant, http.MethodPost, s.Path(tenant), s.limited(Body(compiled)), &answer); err != nil {
		return Page{}, opensearch.Unavailable(err)
	}
	if answer.TimedOut && !counts(compiled) {
		return Page{}, tooSlow()
	}
	return answer.page().byWords(compiled), s.verifyIndex(ctx, tenant, msearchItem{searchResponse: answer})
}

// byWords notes that all hits of a search by words are found by them. A search without
// words is by conditions alone.
func (p Page) byWords(compiled *query.Search) Page {
	for i := range p.Hits {
		p.Hits[i].ByWords = compiled.Scored
	}
	return p
}

// counts reports whether a search is for facets alone: of these, counts of a part of
// what it finds are better than none.
func counts(compiled *query.Search) bool { return compiled.Aggs != nil && compiled.Size == 0 }

// TooSlow reports whether a search was stopped because of its time.
func TooSlow(err error) bool {
	var e *library.Error
	return errors.As(err, &e) && e.Kind == library.KindUnprocessable && e.Code == library.CodeQueryTooComplex
}

func tooSlow() error {
	return library.NewError(library.KindUnprocessable, library.CodeQueryTooComplex,
		"The search took too long and was stopped. Narrow it with filters, or use fewer wildcards and facets.")
}

func (a searchResponse) page() Page {
	p := Page{Hits: make([]Hit, len(a.Hits)), Total: a.Total, LexicalTotal: a.Total, Aggs: a.Aggs, TookMS: a.Took, Partial: a.TimedOut}
	for i, h := range a.Hits {
		p.Hits[i] = Hit{Score: h.Score, Sort: h.Sort, ByWords: slices.Contains(h.Matched, query.ByWords), ByMeaning: slices.Contains(h.Matched, query.ByMeaning)}
		if h.Source != nil {
			p.Hits[i].Document, p.Hits[i].Highlights = *h.Source, parseHighlights(h.Highlight, h.Source)
		}
	}
	return p
}

// Ping reports whether the index answers searches.
func (s *Searcher) Ping(ctx context.Context) error {
	return opensearch.Unavailable(s.call(ctx, "", http.MethodGet, "/"+s.shared.alias+"/_settings?filter_path=*.settings.index.uuid", nil, nil))
}
