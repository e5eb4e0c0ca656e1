package run

import (
	"context"
	"errors"
	"time"

	"vitrine/library"
	"vitrine/query"
)

// scanPage is how many assets one request of Scan asks for.
const scanPage = 2000

// Scan calls each with the assets that a compiled search finds by its words and conditions,
// page by page in its order, and stops after limit of them; 0 means all. It reads from one
// moment of the index, whatever is written meanwhile. It returns how many assets the search
// finds.
func (s *Searcher) Scan(ctx context.Context, tenant library.TenantID, compiled *query.Search, limit int64, each func([]library.AssetHash) error) (total int64, err error) {
	if compiled.MatchesNothing {
		return 0, nil
	}
	opts := SearchOptions{}
	if limit == 0 || limit > scanPage {
		if opts.PIT, err = s.OpenPIT(ctx, tenant); err != nil {
			return 0, err
		}
		defer func() { _ = s.ClosePIT(context.WithoutCancel(ctx), opts.PIT) }()
	}
	for seen := int64(0); ; {
		body := pageBody(compiled, opts)
		body["_source"], body["size"] = []string{"asset_h"}, scanPage
		if limit > 0 {
			body["size"] = min(scanPage, limit-seen)
		}
		delete(body, "highlight")
		answer, err := s.searchAt(ctx, tenant, opts.PIT, body)
		if err != nil {
			return total, scanError(err)
		}
		if !opts.SkipTotal {
			total = answer.Total
		}
		hits := answer.page().Hits
		if len(hits) == 0 {
			return total, nil
		}
		assets := make([]library.AssetHash, len(hits))
		for i, h := range hits {
			assets[i] = h.Document.AssetH
		}
		if err := each(assets); err != nil {
			return total, err
		}
		seen += int64(len(hits))
		if opts.After, opts.SkipTotal = hits[len(hits)-1].Sort, true; limit > 0 && seen >= limit || opts.PIT == "" {
			return total, nil
		}
	}
}

// scanError reports of a moment of the index that was lost that the scan can begin anew.
func scanError(err error) error {
	var known *library.Error
	if errors.As(err, &known) && known.Code == CodeCursorExpired {
		return &library.Error{Kind: library.KindUnavailable, Code: library.CodeIndexUnavailable, RetryAfter: time.Second, Cause: err, Detail: "The index lost the moment that was read from. Begin again."}
	}
	return err
}
