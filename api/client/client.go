// Package client calls a Vitrine service over REST.
//
// Every operation of the service is a method of Client, with its input and output
// as plain structs: client.SearchAssets is POST /api/v1/assets/search. Methods and
// structs are generated from the definitions of the operations (files *.gen.go).
// An error that the service returned is an *Error, with its stable code and the
// fields that are wrong; a service that does not respond is an *Unreachable.
//
// The package imports nothing else of the product, so a program that uses it links
// no more than an HTTP client.
package client

//go:generate go run vitrine/internal/clientgen/generate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Client is one service and the key it is called with. It is safe for concurrent
// use; its fields must not change while it is in use.
type Client struct {
	Base   string       // http://host:port, without a slash at its end
	Key    string       // API key
	Tenant string       // the tenant of calls that name none; empty: the key's default tenant
	HTTP   *http.Client // nil: DefaultHTTP

	// Patience is how long a call is repeated while it fails for a reason that
	// passes: the service does not respond, or responds that it is unavailable or
	// with an error of its own. 0 means DefaultPatience for errors that the service
	// calls retryable and no repeats for others; a negative value means no repeats.
	// A call over the rate limit waits as the service demands, whatever Patience is.
	Patience time.Duration
	// OnRetry is called before each wait, with the reason; nil: nothing is called.
	OnRetry func(err error, wait time.Duration)
}

// DefaultPatience is how long a call is repeated while a part of the service is
// unavailable.
const DefaultPatience = 15 * time.Second

// DefaultHTTP keeps connections for many requests at once and sets no overall
// time limit: uploads may take long. Contexts bound what must be bounded.
var DefaultHTTP = &http.Client{Transport: &http.Transport{
	Proxy:                 http.ProxyFromEnvironment,
	DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	MaxIdleConnsPerHost:   32,
	IdleConnTimeout:       90 * time.Second,
	TLSHandshakeTimeout:   10 * time.Second,
	ResponseHeaderTimeout: 2 * time.Minute,
}}

// Operation is the route of one operation.
type Operation struct {
	Name   string // SearchAssets
	Method string // HTTP method
	Path   string // with {name} for arguments: /api/v1/assets/{asset_h}
	Writes bool   // whether calls carry an idempotency key
}

// Attachment is a binary part of an output.
type Attachment struct {
	MIMEType string `json:"mime_type"`
	Data     []byte `json:"data_base64"`
}

// Option changes one call.
type Option func(*options)

type options struct{ idempotencyKey string }

// WithIdempotencyKey names a write. A later call with the same key, from this
// process or another, returns the response of the first for 24 hours instead of
// writing again. Without it each call gets a key of its own, which its retries share.
// Calls that only read ignore it.
func WithIdempotencyKey(key string) Option { return func(o *options) { o.idempotencyKey = key } }

// Do calls an operation. in is a struct or map of its arguments, or nil for none;
// the response is decoded into out unless that is nil, numbers of free-form values
// as json.Number. With a *json.RawMessage as out it is returned as it came.
//
// The generated methods are Do with types; use it for operations that are known at
// run time only.
func (c *Client) Do(ctx context.Context, o Operation, in, out any, opts ...Option) error {
	req, err := c.prepare(o, in, opts)
	if err != nil {
		return err
	}
	return c.retry(ctx, o, func() error { return c.once(ctx, req, out) })
}

// call is Do for a generated method.
func call[O any](ctx context.Context, c *Client, o Operation, in any, opts []Option) (out O, err error) {
	err = c.Do(ctx, o, in, &out, opts...)
	return out, err
}

// request is a call that can be sent any number of times.
type request struct {
	method, url string
	body        []byte // JSON; nil: none
	key         string // idempotency key; empty: none
}

func (c *Client) once(ctx context.Context, r request, out any) error {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, body)
	if err != nil {
		return err
	}
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	if c.Key != "" {
		req.Header.Set("X-API-Key", c.Key)
	}
	if c.Tenant != "" {
		req.Header.Set("X-Tenant-ID", c.Tenant)
	}
	return c.send(req, out)
}

// Put sends size bytes to a signed URL, such as CreateUploadUrl returns. It is not
// repeated: the body can be read once.
func (c *Client) Put(ctx context.Context, url, contentType string, body io.Reader, size int64) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, url, body)
	if err != nil {
		return err
	}
	req.ContentLength = size
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return c.send(req, nil)
}

// send performs a request, and decodes the response into out unless that is nil.
func (c *Client) send(req *http.Request, out any) error {
	h := c.HTTP
	if h == nil {
		h = DefaultHTTP
	}
	res, err := h.Do(req)
	if err != nil {
		if ended := context.Cause(req.Context()); ended != nil {
			return ended
		}
		return &Unreachable{Base: c.Base, Err: rootCause(err)}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return &Unreachable{Base: c.Base, Err: err}
	case res.StatusCode >= 300:
		return responseError(res, body)
	}
	if err := decode(body, out); err != nil {
		return fmt.Errorf("decoding the response of %s: %w", c.Base, err)
	}
	return nil
}

func decode(body []byte, out any) error {
	switch out := out.(type) {
	case nil:
		return nil
	case *json.RawMessage:
		*out = body
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return d.Decode(out)
}

// rootCause drops the wrapping that repeats the URL, which may be a signed one.
func rootCause(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
