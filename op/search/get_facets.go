package search

import (
	"context"
	"fmt"

	"vitrine/library"
	"vitrine/op"
	"vitrine/query"
	"vitrine/query/run"
)

type facetsInput struct {
	op.TenantInput
	Query         string              `json:"query,omitempty" id:"query" doc:"As in SearchAssets. Empty counts all."`
	SearchMode    string              `json:"search_mode,omitempty" enum:"exact,partial,fuzzy,fulltext,boolean,smart" default:"smart" tool:"open" doc:"As in SearchAssets."`
	Filters       *filtersInput       `json:"filters,omitempty" tool:"open" doc:"As in SearchAssets."`
	Facets        []string            `json:"facets,omitempty" maxItems:"12" doc:"model, lora, tool, sampler, status, tag, created:month, metadata.key, …. By default the most common ones."`
	Selections    map[string][]string `json:"selections,omitempty" doc:"Selected values by facet, for example {\"tag\":[\"fox\"]}. They filter the counts of all other facets, not of their own."`
	Size          int                 `json:"size,omitempty" minimum:"1" maximum:"200" default:"20" doc:"Values per facet."`
	MinIndexToken string              `json:"min_index_token,omitempty" tool:"-" id:"index_token" maxLength:"64" doc:"index_token of a write to wait for."`
}

// usualFacets are counted when the caller names none.
var usualFacets = []string{"tool", "checkpoint", "lora", "sampler", "status", "tag", "mime_type", "created:month"}

// Validate implements op.Validator.
func (in *facetsInput) Validate() []library.FieldError {
	if len(in.Facets) == 0 {
		in.Facets = usualFacets
	}
	var errs []library.FieldError
	for i, f := range in.Facets {
		if f == "created" || f == "updated" {
			in.Facets[i] = f + ":month"
		} else if f == "cfg_scale" {
			in.Facets[i] = "cfg"
		} else if !query.IsFacet(f) {
			errs = append(errs, query.UnknownFacet(fmt.Sprintf("facets[%d]", i)))
		}
	}
	return append(errs, in.Filters.validate()...)
}

type facetsOutput struct {
	Facets         []facetCounts  `json:"facets" doc:"One entry per facet, in the requested order."`
	Total          int64          `json:"total" doc:"Assets that match the query and all selections."`
	Relaxed        *relaxation    `json:"relaxed,omitempty" doc:"Set if no asset has all words of the query, as in SearchAssets."`
	Interpretation interpretation `json:"interpretation" doc:"How the query was parsed."`
	Degraded       []string       `json:"degraded" doc:"What is missing from the counts, as in SearchAssets; facets_partial: time ran out, and they are of a part of the assets or empty."`
	TookMS         int64          `json:"took_ms"`
}

type facetCounts struct {
	Name    string       `json:"name"`
	Buckets []facetCount `json:"buckets"`
	Other   int64        `json:"other" doc:"Occurrences of values that are not listed: an asset with three of them counts three times."`
	Missing int64        `json:"missing" doc:"Assets without a value."`
}

type facetCount struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

func (s *Service) getFacets() op.Operation {
	return op.Define(op.Meta{
		Name: "GetFacets", Title: "Count assets by facet", Domain: op.Search,
		Doc:    "Counts the assets that match a query by model, LoRA, tool, sampler, status, tag, month and more.",
		More:   "Gives an overview of a library in one call.",
		Method: "POST", Path: "/api/v1/assets/facets", Permission: library.PermSearch, Rate: op.RateSearch, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"query": "fox", "facets": []string{"tool", "checkpoint", "created:month"}, "size": 5},
	}, func(ctx context.Context, actor library.Actor, in facetsInput) (facetsOutput, error) {
		out := facetsOutput{Facets: []facetCounts{}, Degraded: []string{}}
		req := query.Request{Mode: query.Mode(in.SearchMode), Filters: in.Filters.compile(), Facets: in.Facets, FacetSize: in.Size, Selections: in.Selections}
		q, compiled, err := s.compile(ctx, actor, in.Query, req)
		if err != nil {
			return out, err
		}
		behind, err := s.awaitWrite(ctx, actor, in.MinIndexToken)
		if err != nil {
			return out, err
		}
		queryVector, degraded := s.queryVector(ctx, actor, query.Mode(in.SearchMode), compiled)
		page, relaxed, err := s.findRelaxed(ctx, actor, in.Query, req, compiled, func(compiled *query.Search) (run.Page, error) {
			page, err := s.Searcher.SearchWith(ctx, actor.Tenant, compiled, run.SearchOptions{QueryVector: queryVector})
			if run.TooSlow(err) { // not even a part could be counted
				page, err = run.Page{Partial: true}, nil
			}
			return page, err
		})
		if err != nil {
			return out, err
		}
		if page.Partial {
			out.Degraded = append(out.Degraded, "facets_partial")
		}
		if page.ByVector && s.semanticShare(ctx, actor) != nil {
			out.Degraded = append(out.Degraded, "semantic_partial")
		}
		if degraded || page.LexicalOnly {
			out.Degraded = append(out.Degraded, "semantic")
		}
		out.Degraded = append(out.Degraded, s.degradedBy(actor, behind)...)
		out.Total, out.Relaxed, out.TookMS, out.Interpretation = page.Total, relaxed, page.TookMS, interpret(q, compiled)
		for _, name := range in.Facets {
			f, err := page.Facet(name)
			if err != nil {
				return out, err
			}
			counts := facetCounts{Name: name, Buckets: []facetCount{}, Other: f.Other, Missing: f.Missing}
			for _, v := range f.Values {
				counts.Buckets = append(counts.Buckets, facetCount(v))
			}
			out.Facets = append(out.Facets, counts)
		}
		return out, nil
	})
}
