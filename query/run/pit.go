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

// PITKeepAlive is how long a PIT can be read from after it was last read from.
const PITKeepAlive = 3 * time.Minute

// serverKeepAlive is PITKeepAlive as OpenSearch takes it, with time for a page on its way.
const serverKeepAlive = "200s"

// CodeTooManyCursors is the code of the error that the index keeps no more PITs
// for anybody.
const CodeTooManyCursors = "TOO_MANY_CURSORS"

// CodeCursorExpired is the code of the error that a PIT is not there any more.
const CodeCursorExpired = "CURSOR_EXPIRED"

// A PIT (point in time) is a moment of the index that several requests read from, whatever is
// written meanwhile. OpenSearch keeps it in memory, so it is given back when it is
// not needed any more.

// OpenPIT opens a PIT of what a tenant has now.
func (s *Searcher) OpenPIT(ctx context.Context, tenant library.TenantID) (string, error) {
	q := url.Values{"routing": {string(tenant)}, "keep_alive": {serverKeepAlive}, "allow_partial_pit_creation": {"false"}}
	var out struct {
		ID string `json:"pit_id"`
	}
	err := s.call(ctx, tenant, http.MethodPost, "/"+s.home(tenant).alias+"/_search/point_in_time?"+q.Encode(), nil, &out)
	var refused *opensearch.ResponseError
	if errors.As(err, &refused) && refused.Status == http.StatusTooManyRequests {
		return "", &library.Error{Kind: library.KindUnavailable, Code: CodeTooManyCursors, RetryAfter: 30 * time.Second, Cause: err,
			Detail: "Too many cursors are open. Page through the open ones to the end, or start again in a minute; pages by offset still work."}
	}
	return out.ID, opensearch.Unavailable(err)
}

// ClosePIT closes a PIT. One that is gone already is no error.
func (s *Searcher) ClosePIT(ctx context.Context, pit string) error {
	err := opensearch.Call(ctx, s.client, http.MethodDelete, "/_search/point_in_time", map[string]any{"pit_id": []string{pit}}, nil)
	if opensearch.IsResponseError(err, pitMissing) {
		return nil
	}
	return err
}

const pitMissing = "search_context_missing_exception"

// CursorExpired is the error that the PIT of a cursor is not there any more.
func CursorExpired() error {
	f := library.Invalid(library.FieldError{Field: "cursor", Code: "expired", Message: "It has expired: a cursor is valid for three minutes.",
		Hint: `Start again with cursor "*".`})
	f.Code = CodeCursorExpired
	return f
}
