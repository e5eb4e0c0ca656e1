package run

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/library"
)

// PointValid is how long a point can be read from after it was last read from.
const PointValid = 3 * time.Minute

// pointKeep is PointValid as OpenSearch takes it, with time for a page on its way.
const pointKeep = "200s"

// CodeTooManyWalks is the code of the error that the index keeps no more points
// for anybody.
const CodeTooManyWalks = "TOO_MANY_WALKS"

// CodePointGone is the code of the error that a point is not there any more.
const CodePointGone = "CURSOR_EXPIRED"

// A point is a moment of the index that several requests read from, whatever is
// written meanwhile. OpenSearch keeps it in memory, so it is given back when it is
// not needed any more.

// OpenPoint makes a point of what a tenant has now.
func (s *Searcher) OpenPoint(ctx context.Context, tenant library.TenantID) (string, error) {
	q := url.Values{"routing": {string(tenant)}, "keep_alive": {pointKeep}, "allow_partial_pit_creation": {"false"}}
	var out struct {
		ID string `json:"pit_id"`
	}
	err := s.call(ctx, http.MethodPost, "/"+s.alias+"/_search/point_in_time?"+q.Encode(), nil, &out)
	var refused *opensearch.ResponseError
	if errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests {
		return "", &library.Error{Kind: library.KindUnavailable, Code: CodeTooManyWalks, RetryAfter: 30 * time.Second, Cause: err,
			Detail: "Too many walks through results are open. Walk those that are begun to their end, or begin again in a minute; pages by offset work meanwhile."}
	}
	return out.ID, opensearch.Unavailable(err)
}

// ClosePoint gives a point back. One that is gone already is no error.
func (s *Searcher) ClosePoint(ctx context.Context, point string) error {
	err := opensearch.Call(ctx, s.client, http.MethodDelete, "/_search/point_in_time", map[string]any{"pit_id": []string{point}}, nil)
	if opensearch.IsResponseError(err, pointMissing) {
		return nil
	}
	return err
}

const pointMissing = "search_context_missing_exception"

// Expired is the error that the point of a walk is not there any more.
func Expired() error {
	f := library.Invalid(library.FieldError{Field: "cursor", Code: "expired", Message: "It has expired: a cursor is good for three minutes.",
		Hint: `Begin again with "*".`})
	f.Code = CodePointGone
	return f
}
