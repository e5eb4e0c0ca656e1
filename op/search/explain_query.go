package search

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/query"
	"vitrine/query/run"
)

type explainInput struct {
	op.TenantInput
	Query      string `json:"query" id:"query" doc:"The query to explain."`
	SearchMode string `json:"search_mode,omitempty" enum:"exact,partial,fuzzy,fulltext,boolean,smart" default:"smart" doc:"How words match, as in SearchAssets."`
	Strict     bool   `json:"strict,omitempty" doc:"Strict syntax, as in the mode boolean and in pipelines: syntax errors are not corrected."`
}

type explainOutput struct {
	Query    string          `json:"query"`
	Tree     string          `json:"tree" doc:"The parsed query in canonical notation."`
	Warnings []query.Warning `json:"warnings"`
	Repaired string          `json:"repaired" doc:"The query with corrected syntax."`
	DSL      map[string]any  `json:"dsl" doc:"The request to OpenSearch."`
}

func (s *Service) explainQuery() op.Operation {
	return op.Define(op.Meta{
		Name: "ExplainQuery", Title: "Explain a query", Domain: op.Search,
		Doc:    "Shows how a query is parsed: its tree, warnings with positions and suggestions, and the request to OpenSearch.",
		Method: "POST", Path: "/api/v1/query/explain", Permission: library.PermSearch, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"query": "fox OR (tag:winter -lora:detail)"},
	}, func(ctx context.Context, actor library.Actor, in explainInput) (explainOutput, error) {
		mode := query.Mode(in.SearchMode)
		q, err := query.Parse(in.Query, query.Options{Strict: in.Strict || mode.Strict()})
		if err != nil {
			return explainOutput{}, err
		}
		req := query.Request{Mode: mode, Limit: 20}
		if req.Index, req.Shared, err = s.Searcher.Index(ctx, actor.Tenant); err != nil {
			return explainOutput{}, err
		}
		compiled, err := query.Compile(q, as(actor, req))
		if err != nil {
			return explainOutput{}, err
		}
		if compiled, err = s.weigh(ctx, actor, compiled); err != nil {
			return explainOutput{}, err
		}
		return explainOutput{Query: in.Query, Tree: q.Canonical(), Warnings: interpret(q, compiled).Warnings, Repaired: q.Repaired(), DSL: run.Body(compiled)}, nil
	})
}
