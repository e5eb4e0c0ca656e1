// Package search holds the operations that find assets and show them. One file
// per operation.
package search

import (
	"context"

	"vitrine/embed"
	"vitrine/library"
	"vitrine/media/preview"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/op/indextoken"
	"vitrine/query"
	"vitrine/query/run"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// Service is what the operations of this package work with.
type Service struct {
	Store    *store.Store
	Previews *preview.Maker
	Searcher *run.Searcher
	Links    assets.Links
	// Await waits until the index has these versions of assets, at most so long, and
	// reports whether it has. Nil: nothing is waited for.
	Await    indextoken.Shown
	Embedder embed.Embedder // nil: searches are by words only
	Key      []byte         // signs cursors; at least 32 random bytes, the same in every process

	cache         searchCache
	minSimilarity minSimilarity
	openPITs      openPITs
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{s.searchAssets(), s.getAssetDetails(), s.getFacets(), s.findDuplicates(), s.unlinkDuplicates(), s.explainQuery(), s.suggestQuery(),
		s.listSavedSearches(), s.createSavedSearch(), s.getSavedSearch(), s.updateSavedSearch(), s.runSavedSearch(), s.deleteSavedSearch()}
}

// awaitWrite makes a search see the write that returned the token.
func (s *Service) awaitWrite(ctx context.Context, actor library.Actor, token string) (behind bool, err error) {
	return indextoken.Await(ctx, s.Store, indexstate.AssetIndex, s.Await, actor.Tenant, token)
}

// filtersInput narrows a search.
type filtersInput struct {
	Tags          []string `json:"tags,omitempty" maxItems:"50" doc:"All of these tags."`
	Status        string   `json:"status,omitempty" enum:"Draft,PendingApproval,Approved,Rejected,Archived"`
	MIMEType      string   `json:"mime_type,omitempty" maxLength:"255" doc:"Such as image/png or image/*."`
	CreatedAfter  string   `json:"created_after,omitempty" maxLength:"40" doc:"YYYY-MM-DD or RFC 3339, inclusive."`
	CreatedBefore string   `json:"created_before,omitempty" maxLength:"40" doc:"Exclusive. A date (YYYY-MM-DD) or a time (RFC 3339)."`
}

func (f *filtersInput) compile() query.Filters {
	if f == nil {
		return query.Filters{}
	}
	out := query.Filters{Tags: f.Tags, CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore}
	if f.Status != "" {
		out.Status = []string{f.Status}
	}
	if f.MIMEType != "" {
		out.MIMEType = []string{f.MIMEType}
	}
	return out
}

// interpretation is how a query text was read.
type interpretation struct {
	Query    string          `json:"query" doc:"The parsed query in canonical notation."`
	Warnings []query.Warning `json:"warnings" doc:"What was corrected or ignored: code, position, what is allowed, a suggestion."`
}

func interpret(q *query.Query, compiled *query.Search) interpretation {
	return interpretation{Query: q.Canonical(), Warnings: append(append([]query.Warning{}, q.Warnings...), compiled.Warnings...)}
}
