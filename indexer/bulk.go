package indexer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"vitrine/internal/opensearch"
	"vitrine/mappings"
)

// bulkWriter sends bulk requests. Its pace is shared by everything that writes
// through it, so a rebuild and the live stream slow down together.
type bulkWriter struct {
	client  *opensearch.Client
	timeout time.Duration
	metrics *Metrics
	slots   chan struct{} // maxInFlight of them
	size    bulkSize
}

func newBulkWriter(client *opensearch.Client, cfg Config, m *Metrics) *bulkWriter {
	w := &bulkWriter{client: client, timeout: cfg.BulkTimeout, metrics: m, slots: make(chan struct{}, maxInFlight)}
	w.size = bulkSize{max: cfg.BulkBytes, current: cfg.BulkBytes, gauge: m.bulkBytes.Set}
	m.bulkBytes.Set(float64(cfg.BulkBytes))
	return w
}

// slowBulk is the time from which a bulk request counts as a sign of overload.
const slowBulk = 2 * time.Second

// minBulkSize is how far the size of a request goes down under overload.
const minBulkSize = 64 << 10

// bulkSize is the size of a bulk request to aim for: halved at every sign of
// overload, raised by a sixteenth of the most with every good answer.
type bulkSize struct {
	mu           sync.Mutex
	max, current int
	gauge        func(float64)
}

func (p *bulkSize) get() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

func (p *bulkSize) adjust(overload bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if overload {
		p.current = max(p.current/2, min(minBulkSize, p.max))
	} else {
		p.current = min(p.current+p.max/16, p.max)
	}
	p.gauge(float64(p.current))
}

// itemResult is what OpenSearch says of one document.
type itemResult struct {
	status int
	kind   string
	reason string
}

func (v itemResult) accepted() bool { return v.status >= 200 && v.status < 300 }

// conflict means that the index has this version or a newer one.
func (v itemResult) conflict() bool { return v.status == http.StatusConflict }

// current is the version that the index has, as a conflict names it, or 0.
func (v itemResult) current() int64 {
	_, rest, _ := strings.Cut(v.reason, "current version [")
	number, _, _ := strings.Cut(rest, "]")
	n, _ := strconv.ParseInt(number, 10, 64) // 0 for what is no number
	return n
}

// retryable means that the same document may be accepted later, whatever it holds:
// overload, a shard that is not there, a block such as the one of a full disk, an index
// that somebody closed, or a right that the login lacks.
func (v itemResult) retryable() bool {
	return v.status == http.StatusTooManyRequests || v.status == http.StatusServiceUnavailable ||
		v.kind == opensearch.TypeSecurity || v.kind == "cluster_block_exception" || v.kind == "index_closed_exception"
}

// errSplit means that a request must be cut in two to find the document that
// OpenSearch refuses it for.
var errSplit = errors.New("the bulk request is refused as a whole")

// send writes some items of a batch to an index in one request and gives one
// itemResult per item. An error means that nothing is known of any of them.
func (w *bulkWriter) send(ctx context.Context, index string, b *batch, items []*item) ([]itemResult, error) {
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w.metrics.inFlight.Inc()
	defer w.metrics.inFlight.Dec()

	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	body := &bulkBody{arena: b.buffer}
	for _, it := range items {
		body.add(it.line)
	}
	began := time.Now()
	answer, err := w.post(ctx, index, body)
	took := time.Since(began)
	w.metrics.bulkSeconds.Observe(took.Seconds())
	w.metrics.bulkRequests.WithLabelValues(strconv.Itoa(statusOf(err))).Inc()
	if err != nil {
		b.inUse = true
		return w.requestError(err, items)
	}
	results, err := parseItemResults(answer, len(items))
	if err != nil {
		return nil, err
	}
	w.size.adjust(took > slowBulk || anyThrottled(results))
	return results, nil
}

func anyThrottled(results []itemResult) bool {
	for _, v := range results {
		if v.status == http.StatusTooManyRequests {
			return true
		}
	}
	return false
}

// requestError sorts the refusals of a whole request. A single document that is too
// large, or that makes the request unreadable, is refused like one that does not
// fit the mapping.
func (w *bulkWriter) requestError(err error, items []*item) ([]itemResult, error) {
	var refusal *opensearch.ResponseError
	if !errors.As(err, &refusal) {
		return nil, err
	}
	switch refusal.Status {
	case http.StatusTooManyRequests:
		w.size.adjust(true)
	case http.StatusRequestEntityTooLarge, http.StatusBadRequest:
		if len(items) > 1 {
			return nil, errSplit
		}
		return []itemResult{{status: http.StatusBadRequest, kind: refusal.Type, reason: refusal.Reason}}, nil
	}
	return nil, err
}

// statusOf is 200 for no error, the status of a refusal, and 0 for no answer.
func statusOf(err error) int {
	var refusal *opensearch.ResponseError
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &refusal):
		return refusal.Status
	}
	return 0
}

// bulkFilterPath is the part of the answer that we ask for.
const bulkFilterPath = "took,errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.error.caused_by.reason"

func (w *bulkWriter) post(ctx context.Context, index string, body *bulkBody) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "/"+mappings.Writer(index)+"/_bulk?require_alias=true&filter_path="+bulkFilterPath, body)
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(body.left)
	req.GetBody = func() (io.ReadCloser, error) { return body.rewind(), nil }
	req.Header.Set("Content-Type", "application/x-ndjson")
	return opensearch.Do(w.client, req)
}

// parseItemResults reads the answer of a bulk request. Without errors the items need
// not be looked at.
func parseItemResults(answer []byte, n int) ([]itemResult, error) {
	var reply struct {
		Errors bool            `json:"errors"`
		Items  json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil {
		return nil, fmt.Errorf("reading the answer of a bulk request: %w", err)
	}
	results := make([]itemResult, n)
	if !reply.Errors {
		for i := range results {
			results[i].status = http.StatusOK
		}
		return results, nil
	}
	var items []struct {
		Index struct {
			Status int `json:"status"`
			Error  struct {
				Type   string `json:"type"`
				Reason string `json:"reason"`
				Cause  struct {
					Reason string `json:"reason"`
				} `json:"caused_by"`
			} `json:"error"`
		} `json:"index"`
	}
	if err := json.Unmarshal(reply.Items, &items); err != nil || len(items) != n {
		return nil, fmt.Errorf("the answer of a bulk request of %d documents tells of %d: %w", n, len(items), errors.Join(err, errMalformedResponse))
	}
	for i, it := range items {
		results[i] = itemResult{status: it.Index.Status, kind: it.Index.Error.Type, reason: it.Index.Error.Reason}
		if c := it.Index.Error.Cause.Reason; c != "" {
			results[i].reason += "; " + c
		}
	}
	return results, nil
}

var errMalformedResponse = errors.New("unreadable answer")

// bulkBody reads spans of an arena one after the other, without copying them into
// one buffer first.
type bulkBody struct {
	arena []byte
	spans []span
	at    int // span being read
	pos   int // within it
	left  int
}

// add appends a span, as part of the last one where they touch.
func (l *bulkBody) add(s span) {
	l.left += s.len()
	if n := len(l.spans); n > 0 && l.spans[n-1].to == s.from {
		l.spans[n-1].to = s.to
		return
	}
	l.spans = append(l.spans, s)
}

// rewind returns the same lines from the start.
func (l *bulkBody) rewind() *bulkBody {
	fresh := &bulkBody{arena: l.arena, spans: l.spans}
	for _, s := range l.spans {
		fresh.left += s.len()
	}
	return fresh
}

// Read implements io.Reader.
func (l *bulkBody) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && l.at < len(l.spans) {
		s := l.spans[l.at]
		c := copy(p[n:], l.arena[s.from+l.pos:s.to])
		n, l.pos = n+c, l.pos+c
		if l.pos == s.len() {
			l.at, l.pos = l.at+1, 0
		}
	}
	l.left -= n
	if n == 0 && l.at == len(l.spans) {
		return 0, io.EOF
	}
	return n, nil
}

// Close implements io.Closer.
func (l *bulkBody) Close() error { return nil }
