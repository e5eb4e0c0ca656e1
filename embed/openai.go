package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"vitrine/library"
)

// provider asks a server that speaks the OpenAI embeddings protocol, as many
// hosted and local model servers do: POST {URL}/embeddings.
type provider struct {
	cfg    Config
	url    string
	client *http.Client
	rest   breaker
	// Callers with less patience than a request may take have a breaker of their
	// own besides: that the provider is too slow for a search says nothing to those
	// who can wait.
	hurry breaker
}

const (
	providerTimeout = 30 * time.Second
	providerBatch   = 64 // texts of one request
	providerTries   = 3  // of one request
	longestPause    = 10 * time.Second
	maxAnswer       = 64 << 20 // bytes
)

func openProvider(cfg Config) (Embedder, error) {
	var errs []library.FieldError
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		errs = append(errs, library.FieldError{Field: "embed_url", Code: "format", Message: "It must be an http or https address without user and password, such as https://api.openai.com/v1."})
	}
	if cfg.Model == "" {
		errs = append(errs, library.FieldError{Field: "embed_model", Code: "required", Message: "The embedding backend openai needs the name of a model."})
	}
	if !within(cfg.Dimensions, 16000) {
		errs = append(errs, library.FieldError{Field: "embed_dimensions", Code: "range", Message: "The embedding backend openai needs the dimension of the model's vectors, 1 to 16000."})
	}
	if len(errs) > 0 {
		return nil, library.Invalid(errs...)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = providerTimeout
	}
	return &provider{cfg: cfg, url: strings.TrimSuffix(strings.TrimRight(cfg.URL, "/"), "/embeddings") + "/embeddings",
		// A redirect would take the texts to a place that nobody configured.
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

func (p *provider) Dimensions() int { return p.cfg.Dimensions }
func (p *provider) Info() Info      { return Info{Driver: OpenAI, Model: p.cfg.Model} }

// ID leaves the address out: the same model at another address makes the same vectors.
func (p *provider) ID() string {
	return identity("openai", p.cfg.Model, strconv.Itoa(p.cfg.Dimensions))
}

func (p *provider) Close() error {
	p.client.CloseIdleConnections()
	return nil
}

// Embed implements Embedder.
func (p *provider) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(providerBatch, len(texts))
		vectors, err := p.batch(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		out, texts = append(out, vectors...), texts[n:]
	}
	return out, nil
}

// batch embeds the texts of one request. A request that is refused for what it
// holds is cut in two until the text it is refused for stands alone. When no text
// of several is taken the error is not theirs.
func (p *provider) batch(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := p.ask(ctx, texts)
	var refusal *statusError
	if !errors.As(err, &refusal) || !refusal.aboutContent() {
		return vectors, err
	}
	if len(texts) == 1 {
		return [][]float32{nil}, nil
	}
	half := len(texts) / 2
	left, err1 := p.batch(ctx, texts[:half])
	right, err2 := p.batch(ctx, texts[half:])
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	both := append(left, right...)
	for _, v := range both {
		if v != nil {
			return both, nil
		}
	}
	return nil, err
}

// ask makes one request, again where that may help, unless the provider rests.
func (p *provider) ask(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(map[string]any{"model": p.cfg.Model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	deadline, has := ctx.Deadline()
	hurried := has && time.Until(deadline) < p.cfg.Timeout
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 200*time.Millisecond, longestPause
	return backoff.Retry(ctx, func() ([][]float32, error) {
		if wait, ok := p.allow(hurried); !ok {
			return nil, backoff.Permanent(p.unavailable(wait, errResting))
		}
		vectors, err := p.try(ctx, body, len(texts))
		p.recordOutcome(ctx, hurried, err)
		if err == nil {
			return vectors, nil
		}
		return nil, p.again(ctx, err)
	}, backoff.WithBackOff(pause), backoff.WithMaxTries(providerTries))
}

// recordOutcome records an outcome with the breakers. Of a caller who went away they learn nothing.
func (p *provider) recordOutcome(ctx context.Context, hurried bool, err error) {
	var refusal *statusError
	good := err == nil || errors.As(err, &refusal) && refusal.aboutContent()
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return
	case hurried && ctx.Err() != nil:
		p.hurry.record(time.Now(), false)
		return
	case hurried && good:
		p.hurry.record(time.Now(), true)
	}
	p.rest.record(time.Now(), good)
}

// again words a failure, and says whether and when the request may be repeated.
func (p *provider) again(ctx context.Context, err error) error {
	var refusal *statusError
	isRefusal := errors.As(err, &refusal)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return backoff.Permanent(ctx.Err())
	case ctx.Err() != nil, isRefusal && !refusal.mayPass():
		return backoff.Permanent(p.unavailable(0, err))
	case isRefusal && refusal.after > longestPause:
		return backoff.Permanent(p.unavailable(refusal.after, err))
	case isRefusal && refusal.after > 0:
		return &backoff.RetryAfterError{Duration: refusal.after}
	}
	return p.unavailable(0, err)
}

// allow asks the breakers that a caller heeds.
func (p *provider) allow(hurried bool) (wait time.Duration, ok bool) {
	if hurried {
		if wait, ok := p.hurry.allow(time.Now()); !ok {
			return wait, false
		}
	}
	return p.rest.allow(time.Now())
}

var errResting = errors.New("the circuit breaker is open after repeated failures")

// unavailable words what a caller may know. The key is nowhere in it.
func (p *provider) unavailable(after time.Duration, cause error) error {
	return &library.Error{Kind: library.KindUnavailable, Code: CodeUnavailable, RetryAfter: after, Cause: cause,
		Detail: "The embedding provider does not return a usable response. Search by words, or try again later."}
}

// try makes one HTTP request.
func (p *provider) try(ctx context.Context, body []byte, count int) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if p.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+p.cfg.Key)
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		_, _ = io.CopyN(io.Discard, res.Body, 1<<16) // lets the connection be used again
		return nil, &statusError{status: res.StatusCode, after: retryAfter(res.Header)}
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	return p.read(raw, count)
}

// read takes the vectors out of an answer and holds them to what was configured.
func (p *provider) read(raw []byte, count int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if len(answer.Data) != count {
		return nil, fmt.Errorf("%d texts were sent and %d vectors came back", count, len(answer.Data))
	}
	out := make([][]float32, count)
	for _, d := range answer.Data {
		switch {
		case d.Index < 0 || d.Index >= count || out[d.Index] != nil:
			return nil, errors.New("the answer does not say which vector belongs to which text")
		case len(d.Embedding) != p.cfg.Dimensions:
			return nil, fmt.Errorf("the model gives vectors of length %d, and embed_dimensions says %d", len(d.Embedding), p.cfg.Dimensions)
		case !normalize(d.Embedding):
			return nil, errors.New("a vector is zero or holds no number")
		}
		out[d.Index] = d.Embedding
	}
	return out, nil
}

// statusError is an answer other than 200. Its body is not kept: it may repeat
// what was sent.
type statusError struct {
	status int
	after  time.Duration
}

func (e *statusError) Error() string { return "the provider answered " + strconv.Itoa(e.status) }

// aboutContent means that other texts may be taken.
func (e *statusError) aboutContent() bool {
	return e.status == http.StatusBadRequest || e.status == http.StatusRequestEntityTooLarge || e.status == http.StatusUnprocessableEntity
}

func (e *statusError) mayPass() bool {
	return e.status == http.StatusTooManyRequests || e.status == http.StatusRequestTimeout || e.status >= 500
}

func retryAfter(h http.Header) time.Duration {
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil && s > 0 {
		return time.Duration(min(s, 3600)) * time.Second
	}
	return 0
}
