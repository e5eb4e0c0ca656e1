package run

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
)

// ProspectSearch is what is searched for among prospects. Empty members do not narrow it.
type ProspectSearch struct {
	Words    string // all of them; the last may be the beginning of one
	Campaign string
	Vertical string
	Account  string // any part of it, in any case
	Owner    string
	Sequence string // not_started, active, replied or exhausted; of those that are not suppressed
	MinICP   *float64
	DueBy    *time.Time // the next step is due by then
	Pipeline string     // only contacts in it
	Stage    string     // of that pipeline
	Part     string     // of the name or the address on LinkedIn, in any case

	Suppressed  SuppressedProspects
	Today       string // YYYY-MM-DD: suppressions up to this day have lapsed
	OrderBy     string // a field; empty: by relevance where there are words, else the latest change first
	Descending  bool
	From, Size  int
	Facets      []string // fields whose values are counted
	FacetValues int      // of each
}

// SuppressedProspects is how a search treats prospects that are suppressed.
type SuppressedProspects int

// Whether suppressed prospects are found.
const (
	WithoutSuppressed SuppressedProspects = iota
	WithSuppressed
	OnlySuppressed
)

// ProspectPage is what a search of prospects found.
type ProspectPage struct {
	Data   []mappings.ProspectDocument
	Total  int64
	Facets map[string][]ProspectCount
	TookMS int64
}

// ProspectCount is how many prospects have a value.
type ProspectCount struct {
	Value string
	Count int64
}

// Prospects is where waiting for writes of prospects looks; see indexer.Locate.
func (s *Searcher) Prospects(context.Context, library.TenantID) (alias string, shared bool, err error) {
	return s.prospects, true, nil
}

// SearchProspects finds prospects of a tenant.
func (s *Searcher) SearchProspects(ctx context.Context, tenant library.TenantID, q ProspectSearch) (ProspectPage, error) {
	body := q.Body(tenant)
	var answer struct {
		Took int64 `json:"took"`
		Hits struct {
			Total struct {
				Value int64 `json:"value"`
			} `json:"total"`
			Hits []struct {
				Source mappings.ProspectDocument `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
		Aggregations map[string]struct {
			Buckets json.RawMessage `json:"buckets"`
		} `json:"aggregations"`
	}
	path := "/" + s.prospects + "/_search?routing=" + mappings.Routing(tenant)
	if err := opensearch.Call(ctx, s.client, http.MethodPost, path, body, &answer); err != nil {
		return ProspectPage{}, opensearch.Unavailable(err)
	}
	page := ProspectPage{Total: answer.Hits.Total.Value, TookMS: answer.Took, Facets: map[string][]ProspectCount{}}
	for _, h := range answer.Hits.Hits {
		page.Data = append(page.Data, h.Source)
	}
	for field, a := range answer.Aggregations {
		counts, err := readCounts(a.Buckets)
		if err != nil {
			return ProspectPage{}, err
		}
		page.Facets[field] = counts
	}
	return page, nil
}

// readCounts reads the buckets of an aggregation: a list, or an object of named filters.
func readCounts(raw json.RawMessage) ([]ProspectCount, error) {
	type bucket struct {
		Key   string `json:"key"`
		Count int64  `json:"doc_count"`
	}
	var list []bucket
	if json.Unmarshal(raw, &list) != nil {
		var named map[string]bucket
		if err := json.Unmarshal(raw, &named); err != nil {
			return nil, err
		}
		for name, b := range named {
			list = append(list, bucket{name, b.Count})
		}
		slices.SortFunc(list, func(a, b bucket) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key)) })
	}
	counts := make([]ProspectCount, 0, len(list))
	for _, b := range list {
		if b.Count > 0 {
			counts = append(counts, ProspectCount{b.Key, b.Count})
		}
	}
	return counts, nil
}

// Body returns the body of the search: what is asked of OpenSearch.
func (q *ProspectSearch) Body(tenant library.TenantID) map[string]any {
	must := map[string]any{"filter": q.filters(tenant), "must_not": q.excluded()}
	if q.Words != "" {
		words := func(field, operator string, boost float64) map[string]any {
			return map[string]any{"match_bool_prefix": map[string]any{field: map[string]any{"query": q.Words, "operator": operator, "boost": boost}}}
		}
		must["must"] = []any{words("text", "and", 1)}
		must["should"] = []any{words("name.text", "or", 3), words("account.text", "or", 2)}
	}
	body := map[string]any{"from": q.From, "size": q.Size, "track_total_hits": true, "_source": map[string]any{"excludes": []string{"text"}},
		"query": map[string]any{"bool": must}, "sort": q.sort()}
	if len(q.Facets) > 0 {
		counts := map[string]any{}
		for _, f := range q.Facets {
			counts[f] = map[string]any{"terms": map[string]any{"field": f, "size": q.FacetValues}}
			if f == StatusFacet {
				counts[f] = map[string]any{"filters": map[string]any{"filters": q.statuses()}}
			}
		}
		body["aggs"] = counts
	}
	return body
}

func term(field string, value any) map[string]any {
	return map[string]any{"term": map[string]any{field: value}}
}

func (q *ProspectSearch) filters(tenant library.TenantID) []any {
	list := []any{term("tenant_id", tenant)}
	for _, f := range []struct{ field, value string }{{"campaign", q.Campaign}, {"vertical", q.Vertical}, {"owner", q.Owner}, {"sequence", q.Sequence}} {
		if f.value != "" {
			list = append(list, term(f.field, f.value))
		}
	}
	if q.Account != "" {
		list = append(list, partOf("account.w", q.Account))
	}
	if q.MinICP != nil {
		list = append(list, map[string]any{"range": map[string]any{"icp_score": map[string]any{"gte": *q.MinICP}}})
	}
	if q.DueBy != nil {
		list = append(list, map[string]any{"range": map[string]any{"next_due_at": map[string]any{"lte": q.DueBy.UTC().Format(time.RFC3339)}}})
	}
	if q.Pipeline != "" {
		stage := map[string]any{"exists": map[string]any{"field": q.Pipeline + "_stage"}}
		if q.Stage != "" {
			stage = term(q.Pipeline+"_stage", q.Stage)
		}
		list = append(list, stage)
	}
	if q.Part != "" {
		list = append(list, map[string]any{"bool": map[string]any{"should": []any{partOf("name.w", q.Part), partOf("linkedin_url.w", q.Part)}, "minimum_should_match": 1}})
	}
	if q.Suppressed == OnlySuppressed {
		list = append(list, map[string]any{"bool": map[string]any{"should": q.suppressed(), "minimum_should_match": 1}})
	}
	return list
}

func (q *ProspectSearch) excluded() []any {
	list := []any{term("deleted", true)}
	if q.Suppressed == WithoutSuppressed {
		list = append(list, q.suppressed()...)
	}
	return list
}

// suppressed are the conditions of which one holds for who is suppressed today.
func (q *ProspectSearch) suppressed() []any {
	return []any{term("suppressed_for_good", true), map[string]any{"range": map[string]any{"suppressed_until": map[string]any{"gt": q.Today}}}}
}

// StatusFacet counts what is shown as the status of prospects: the state of the sequence, or
// suppressed.
const StatusFacet = "status"

func (q *ProspectSearch) statuses() map[string]any {
	named := map[string]any{"suppressed": map[string]any{"bool": map[string]any{"should": q.suppressed(), "minimum_should_match": 1}}}
	for _, state := range []string{"not_started", "active", "replied", "exhausted"} {
		named[state] = map[string]any{"bool": map[string]any{"filter": []any{term("sequence", state)}, "must_not": q.suppressed()}}
	}
	return named
}

// partOf finds a text anywhere in a value, in any case.
func partOf(field, part string) map[string]any {
	escaped := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(part)
	return map[string]any{"wildcard": map[string]any{field: map[string]any{"value": "*" + escaped + "*", "case_insensitive": true}}}
}

func (q *ProspectSearch) sort() []any {
	last := map[string]any{"prospect_h": "asc"}
	switch {
	case q.OrderBy != "":
		order := "asc"
		if q.Descending {
			order = "desc"
		}
		return []any{map[string]any{q.OrderBy: map[string]any{"order": order, "missing": "_last"}}, last}
	case q.Words != "":
		return []any{"_score", last}
	}
	return []any{map[string]any{"updated": "desc"}, last}
}
