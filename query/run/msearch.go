package run

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"vitrine/internal/jsonscan"
	"vitrine/internal/opensearch"
	"vitrine/library"
)

// msearchItem is the answer to one search of several that go out together.
type msearchItem struct {
	searchResponse
	Status int
	Error  *opensearch.Cause
}

func (p *msearchItem) member(r *jsonscan.Reader, key string) error {
	switch key {
	case "status":
		return r.Into(&p.Status)
	case "error":
		return r.Into(&p.Error)
	}
	return p.searchResponse.member(r, key)
}

// msearchResponse are the answers to searches that went out together, in their order.
type msearchResponse []msearchItem

// ReadJSON reads a reply to _msearch.
func (l *msearchResponse) ReadJSON(doc []byte) error {
	r := jsonscan.New(doc)
	return r.Object(func(key string) error {
		if key != "responses" {
			return nil
		}
		return r.Array(func() error {
			var p msearchItem
			err := r.Object(func(key string) error { return p.member(r, key) })
			*l = append(*l, p)
			return err
		})
	})
}

// err returns why a part has no hits, or nil.
func (p *msearchItem) err(pit string) error {
	switch {
	case p.Error != nil && pit != "" && p.Status == http.StatusNotFound:
		return CursorExpired()
	case p.Error != nil && cancelled(p.Error.ResponseError(p.Status)):
		return tooSlow()
	case p.Error != nil:
		return opensearch.Unavailable(beyond(p.Error.ResponseError(p.Status)))
	case p.TimedOut:
		return tooSlow()
	}
	return nil
}

// searchAt sends one search, to a PIT where one is given.
func (s *Searcher) searchAt(ctx context.Context, tenant library.TenantID, pit string, body map[string]any) (searchResponse, error) {
	var out searchResponse
	path := s.Path(tenant)
	if pit != "" {
		path = "/_search?" + url.Values{"allow_partial_search_results": {"false"}, "cancel_after_time_interval": {s.cancelAfter()}}.Encode()
		setPIT(body, pit)
	}
	err := s.call(ctx, tenant, http.MethodPost, path, s.limited(body), &out)
	var refused *opensearch.ResponseError
	switch {
	case pit != "" && errors.As(err, &refused) && refused.Status == http.StatusNotFound:
		return out, CursorExpired()
	case err != nil:
		return out, opensearch.Unavailable(err)
	case out.TimedOut:
		return out, tooSlow()
	}
	return out, s.verifyIndex(ctx, tenant, msearchItem{searchResponse: out})
}

// msearch sends several searches in one request. The answers have their order;
// each may have failed alone.
func (s *Searcher) msearch(ctx context.Context, tenant library.TenantID, pit string, bodies ...map[string]any) (msearchResponse, error) {
	header := map[string]any{"allow_partial_search_results": false, "cancel_after_time_interval": s.cancelAfter()}
	if pit == "" {
		header["index"], header["routing"] = s.home(tenant).alias, string(tenant)
	}
	lines := make([]byte, 0, 16<<10)
	for _, body := range bodies {
		if pit != "" {
			setPIT(body, pit)
		}
		for _, line := range []map[string]any{header, s.limited(body)} {
			var err error
			if lines, err = jsonscan.Append(lines, line); err != nil {
				return nil, err
			}
			lines = append(lines, '\n')
		}
	}
	var out msearchResponse
	if err := s.call(ctx, tenant, http.MethodPost, "/_msearch", lines, &out); err != nil {
		return nil, opensearch.Unavailable(err)
	}
	if len(out) != len(bodies) {
		return nil, opensearch.Unavailable(errors.New("OpenSearch answers another number of searches than were sent"))
	}
	return out, s.verifyIndex(ctx, tenant, out...)
}

func setPIT(body map[string]any, pit string) {
	body["pit"] = map[string]any{"id": pit, "keep_alive": serverKeepAlive}
}
