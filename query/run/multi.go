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

// part is the answer to one search of several that go out together.
type part struct {
	answer
	Status int
	Error  *struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
	}
}

func (p *part) member(r *jsonscan.Reader, key string) error {
	switch key {
	case "status":
		return r.Into(&p.Status)
	case "error":
		return r.Into(&p.Error)
	}
	return p.answer.member(r, key)
}

// parts are the answers to searches that went out together, in their order.
type parts []part

// ReadJSON reads a reply to _msearch.
func (l *parts) ReadJSON(doc []byte) error {
	r := jsonscan.New(doc)
	return r.Object(func(key string) error {
		if key != "responses" {
			return nil
		}
		return r.Array(func() error {
			var p part
			err := r.Object(func(key string) error { return p.member(r, key) })
			*l = append(*l, p)
			return err
		})
	})
}

// err gives why a part has no hits, or nil.
func (p *part) err(point string) error {
	switch {
	case p.Error != nil && point != "" && p.Status == http.StatusNotFound:
		return Expired()
	case p.Error != nil:
		return opensearch.Unavailable(&opensearch.ResponseError{Status: p.Status, Type: p.Error.Type, Reason: opensearch.TruncateReason(p.Error.Reason)})
	case p.TimedOut:
		return tooSlow()
	}
	return nil
}

// at sends one search, to a point where one is given.
func (s *Searcher) at(ctx context.Context, tenant library.TenantID, point string, body map[string]any) (answer, error) {
	var out answer
	path := s.Path(tenant)
	if point != "" {
		path = "/_search?" + url.Values{"allow_partial_search_results": {"false"}, "cancel_after_time_interval": {cancelLimit}}.Encode()
		pin(body, point)
	}
	err := s.call(ctx, http.MethodPost, path, body, &out)
	var refused *opensearch.ResponseError
	switch {
	case point != "" && errors.As(err, &refused) && refused.Status == http.StatusNotFound:
		return out, Expired()
	case err != nil:
		return out, opensearch.Unavailable(err)
	case out.TimedOut:
		return out, tooSlow()
	}
	return out, s.believe(ctx, part{answer: out})
}

// together sends several searches in one request. The answers have their order;
// each may have failed alone.
func (s *Searcher) together(ctx context.Context, tenant library.TenantID, point string, bodies ...map[string]any) (parts, error) {
	head := map[string]any{"allow_partial_search_results": false, "cancel_after_time_interval": cancelLimit}
	if point == "" {
		head["index"], head["routing"] = s.alias, string(tenant)
	}
	lines := make([]byte, 0, 16<<10)
	for _, body := range bodies {
		if point != "" {
			pin(body, point)
		}
		for _, line := range []map[string]any{head, body} {
			var err error
			if lines, err = jsonscan.Append(lines, line); err != nil {
				return nil, err
			}
			lines = append(lines, '\n')
		}
	}
	var out parts
	if err := s.call(ctx, http.MethodPost, "/_msearch", lines, &out); err != nil {
		return nil, opensearch.Unavailable(err)
	}
	if len(out) != len(bodies) {
		return nil, opensearch.Unavailable(errors.New("OpenSearch answers another number of searches than were sent"))
	}
	return out, s.believe(ctx, out...)
}

func pin(body map[string]any, point string) {
	body["pit"] = map[string]any{"id": point, "keep_alive": pointKeep}
}
