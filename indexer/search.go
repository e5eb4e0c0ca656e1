package indexer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/opensearch-project/opensearch-go/v4"
)

// searchError is OpenSearch's refusal of a request.
type searchError struct {
	status int
	kind   string // OpenSearch's type, for example index_not_found_exception
	reason string
}

func (e *searchError) Error() string {
	return fmt.Sprintf("OpenSearch answers %d %s: %s", e.status, e.kind, shorten(e.reason))
}

// isSearchError reports whether OpenSearch refused with this type.
func isSearchError(err error, kind string) bool {
	var e *searchError
	return errors.As(err, &e) && e.kind == kind
}

const indexNotFound = "index_not_found_exception"

// maxReason bounds OpenSearch's words where we keep or show them; they may
// repeat a value of the document.
const maxReason = 300

func shorten(s string) string {
	s = strings.ToValidUTF8(s, "")
	if len(s) <= maxReason {
		return s
	}
	return strings.ToValidUTF8(s[:maxReason], "") + "…"
}

// call sends a JSON request and reads the JSON answer into out, which may be nil.
func call(ctx context.Context, client *opensearch.Client, method, path string, body, out any) error {
	var payload io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		payload = bytes.NewReader(b)
	default:
		j, err := json.Marshal(b)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(j)
	}
	req, err := http.NewRequestWithContext(ctx, method, path, payload)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := perform(client, req)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("reading OpenSearch's answer: %w", err)
	}
	return nil
}

// perform sends a request and gives the body of a 2xx answer; any other answer
// is a searchError.
func perform(client *opensearch.Client, req *http.Request) ([]byte, error) {
	res, err := client.Stream(req)
	if res == nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("reading OpenSearch's answer: %w", err)
	}
	if res.StatusCode < 300 {
		return answer, nil
	}
	var told struct {
		Error struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
		} `json:"error"`
	}
	_ = json.Unmarshal(answer, &told) // a proxy in between answers in any form
	return nil, &searchError{status: res.StatusCode, kind: told.Error.Type, reason: told.Error.Reason}
}
