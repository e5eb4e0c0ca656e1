package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// answer is what all sides of a comparison decode an answer into, each from its
// own form: as much of it as a program that shows results would use.
type answer struct {
	total int64
	items int // hits, or values of facets
}

// asked is one timed request.
type asked struct {
	answer
	took time.Duration
}

// viaREST asks the service over REST.
func (e *env) viaREST(ctx context.Context, q *question) (asked, error) {
	return timed(func() (answer, error) {
		raw, err := e.callREST(ctx, http.MethodPost, q.path, q.rest)
		if err != nil {
			return answer{}, err
		}
		var response results
		err = json.Unmarshal(raw, &response)
		return response.answer(), err
	})
}

func timed(ask func() (answer, error)) (asked, error) {
	began := time.Now()
	a, err := ask()
	return asked{a, time.Since(began)}, err
}

func (e *env) callREST(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, e.url()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-API-Key", e.key)
	return exchange(e.http, req)
}

// results is what SearchAssets and GetFacets give.
type results struct {
	Total int64 `json:"total"`
	Data  []struct {
		Hash        string    `json:"asset_h"`
		Title       string    `json:"title"`
		Description string    `json:"description"`
		Filename    string    `json:"filename"`
		MIMEType    string    `json:"mime_type"`
		Status      string    `json:"status"`
		Tags        []string  `json:"tags"`
		Score       float64   `json:"relevance_score"`
		Width       int       `json:"width"`
		Height      int       `json:"height"`
		Tool        string    `json:"tool"`
		Created     time.Time `json:"created_at"`
	} `json:"data"`
	Facets []struct {
		Name    string `json:"name"`
		Buckets []struct {
			Value string `json:"value"`
			Count int64  `json:"count"`
		} `json:"buckets"`
	} `json:"facets"`
}

func (r *results) answer() answer {
	a := answer{total: r.Total, items: len(r.Data)}
	for _, f := range r.Facets {
		a.items += len(f.Buckets)
	}
	return a
}

// buckets is what an aggregation of OpenSearch counted.
type buckets struct {
	Buckets []struct {
		Key   any    `json:"key"`
		Text  string `json:"key_as_string"`
		Count int64  `json:"doc_count"`
	} `json:"buckets"`
}

// direct asks OpenSearch what the service would ask it.
func (e *env) direct(ctx context.Context, q *question) (asked, error) {
	return timed(func() (answer, error) {
		var response struct {
			Hits struct {
				Total struct {
					Value int64 `json:"value"`
				} `json:"total"`
				Hits []struct {
					Score  *float64 `json:"_score"`
					Source struct {
						Hash        string    `json:"asset_h"`
						Title       string    `json:"title"`
						Description string    `json:"description"`
						Filename    string    `json:"filename"`
						MIMEType    string    `json:"mime_type"`
						Status      string    `json:"status"`
						Tags        []string  `json:"tags"`
						Width       int       `json:"width"`
						Height      int       `json:"height"`
						Tool        string    `json:"tool"`
						Created     time.Time `json:"created"`
					} `json:"_source"`
				} `json:"hits"`
			} `json:"hits"`
			Aggregations map[string]struct {
				buckets         // of a facet that stands alone
				Values  buckets `json:"values"` // of one beside the selections of others
			} `json:"aggregations"`
		}
		err := e.index(ctx, http.MethodPost, e.Searcher.Path(e.tenant), q.dsl, &response)
		a := answer{total: response.Hits.Total.Value, items: len(response.Hits.Hits)}
		for _, f := range response.Aggregations {
			a.items += len(f.Buckets) + len(f.Values.Buckets)
		}
		return a, err
	})
}

// mcpRevision is the revision of the protocol that the benchmark speaks: the one
// without sessions, in which every request stands alone.
const mcpRevision = "2026-07-28"

// viaMCP asks the service over MCP.
func (e *env) viaMCP(ctx context.Context, q *question) (asked, error) {
	message, err := mcpMessage("tools/call", map[string]any{"name": q.tool, "arguments": q.args})
	if err != nil {
		return asked{}, err
	}
	return timed(func() (answer, error) {
		response, err := callMCP[results](ctx, e, q.tool, message)
		return response.answer(), err
	})
}

func mcpMessage(method string, params map[string]any) ([]byte, error) {
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": mcpRevision, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

// callMCP calls a tool and decodes its structured result.
func callMCP[T any](ctx context.Context, e *env, tool string, message []byte) (result T, err error) {
	raw, err := e.postMCP(ctx, "tools/call", tool, message)
	if err != nil {
		return result, err
	}
	var response struct {
		Result struct {
			Structured *T   `json:"structuredContent"`
			IsError    bool `json:"isError"`
		} `json:"result"`
	}
	if err := json.Unmarshal(raw, &response); err != nil {
		return result, err
	}
	if response.Result.IsError || response.Result.Structured == nil {
		return result, fmt.Errorf("the tool %s answers %.300s", tool, raw)
	}
	return *response.Result.Structured, nil
}

// readResource reads a resource over MCP and returns its text.
func (e *env) readResource(ctx context.Context, uri string) (string, error) {
	message, err := mcpMessage("resources/read", map[string]any{"uri": uri})
	if err != nil {
		return "", err
	}
	raw, err := e.postMCP(ctx, "resources/read", uri, message)
	if err != nil {
		return "", err
	}
	var response struct {
		Result struct {
			Contents []struct {
				Text string `json:"text"`
			} `json:"contents"`
		} `json:"result"`
	}
	if err := json.Unmarshal(raw, &response); err != nil {
		return "", err
	}
	if len(response.Result.Contents) != 1 {
		return "", fmt.Errorf("reading %s answers %.300s", uri, raw)
	}
	return response.Result.Contents[0].Text, nil
}

// postMCP sends a message and returns the response to it. name is what the message is about.
func (e *env) postMCP(ctx context.Context, method, name string, message []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url()+"/mcp", bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Authorization": "Bearer " + e.key, "MCP-Protocol-Version": mcpRevision, "Mcp-Method": method, "Mcp-Name": name} {
		req.Header.Set(k, v)
	}
	raw, err := exchange(e.http, req)
	if i := bytes.LastIndex(raw, []byte("data: ")); !bytes.HasPrefix(raw, []byte("{")) && i >= 0 {
		raw = raw[i+len("data: "):] // a stream of events, of which the last is the result
	}
	return raw, err
}
