// Package search holds the operations that find assets and show them. One file
// per operation.
package search

import (
	"context"
	"strings"
	"time"

	"vitrine/embed"
	"vitrine/library"
	"vitrine/media/preview"
	"vitrine/op"
	"vitrine/op/assets"
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
	Await    func(ctx context.Context, tenant library.TenantID, versions []indexstate.DocumentVersion, limit time.Duration) bool
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

// awaitTimeout is how long a search waits for a write it must see.
const awaitTimeout = 2 * time.Second

// awaitWrite makes a search see the write that gave the token. A write that the index has
// not shown in time degrades the answer; it is no error, because the search itself is
// good. A token that no write of the tenant gave is one: nothing can be waited for.
func (s *Service) awaitWrite(ctx context.Context, actor library.Actor, token string) (behind bool, err error) {
	if token == "" {
		return false, nil
	}
	token = strings.ToLower(token)
	versions, err := s.Store.Operations.Versions(ctx, actor.Tenant, indexstate.AssetIndex, token)
	if err != nil {
		return true, err
	}
	if len(versions) > 0 {
		return s.Await == nil || !s.Await(ctx, actor.Tenant, versions, awaitTimeout), nil
	}
	known, err := s.Store.Operations.Has(ctx, actor.Tenant, token)
	if err == nil && !known {
		err = library.Invalid(library.FieldError{Field: "min_index_token", Code: "unknown", Message: "No write of this tenant returned this index_token.",
			Hint: "Send the index_token of a write as it came, or leave min_index_token out. Writes of more than a minute ago are in the index."})
	}
	return false, err
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
