// Package client talks to a Vitrine service over REST.
//
// In go a method, a path and a value; out comes the decoded answer or the
// service's problem as a *library.Error-like error. The command line uses it; so
// can other programs. It knows the transport, not the operations.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"vitrine/op"
)

// Client is one service and the key it is asked with. It is safe for concurrent use.
type Client struct {
	Base string // http://host:port, without a slash at its end
	Key  string
	HTTP *http.Client // nil: DefaultHTTP
}

// DefaultHTTP keeps connections for many requests at once and sets no overall
// time limit: uploads may take long. Contexts bound what must be bounded.
var DefaultHTTP = &http.Client{Transport: &http.Transport{
	DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
	MaxIdleConnsPerHost:   32,
	IdleConnTimeout:       90 * time.Second,
	ResponseHeaderTimeout: 2 * time.Minute,
}}

// Error is a problem that the service answered.
type Error struct{ op.Problem }

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Detail)
	for _, f := range e.Errors {
		fmt.Fprintf(&b, "\n  %s: %s", f.Field, f.Message)
		if f.Hint != "" {
			b.WriteString(" " + f.Hint)
		}
	}
	fmt.Fprintf(&b, " (%s)", e.Code)
	return b.String()
}

// IsCode reports whether err is a problem with this code.
func IsCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// Unreachable means that the service did not answer at all.
type Unreachable struct {
	Base string
	Err  error
}

func (e *Unreachable) Error() string {
	return fmt.Sprintf("no service answers at %s (%v); start one with vitrine serve, or name another with --server", e.Base, e.Err)
}

func (e *Unreachable) Unwrap() error { return e.Err }

// Call sends a JSON request and reads the JSON answer into out. in nil sends no
// body; out may be nil. Over its budget, the client waits as the service says
// and asks again.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	for {
		err := c.once(ctx, method, path, body, in != nil, out)
		var e *Error
		if !errors.As(err, &e) || e.Status != http.StatusTooManyRequests || e.RetryAfter <= 0 {
			return err
		}
		select {
		case <-time.After(time.Duration(e.RetryAfter) * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *Client) once(ctx context.Context, method, path string, body []byte, hasBody bool, out any) error {
	var payload io.Reader
	if hasBody {
		payload = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.Base+path, payload)
	if err != nil {
		return err
	}
	if hasBody {
		req.Header.Set("Content-Type", "application/json")
	}
	return c.do(req, out)
}

// Put sends size bytes to a signed URL.
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

func (c *Client) do(req *http.Request, out any) error {
	if c.Key != "" {
		req.Header.Set("X-API-Key", c.Key)
	}
	return c.send(req, out)
}

func (c *Client) send(req *http.Request, out any) error {
	h := c.HTTP
	if h == nil {
		h = DefaultHTTP
	}
	res, err := h.Do(req)
	if err != nil {
		if ctx := req.Context().Err(); ctx != nil {
			return ctx
		}
		return &Unreachable{Base: c.Base, Err: rootCause(err)}
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return &Unreachable{Base: c.Base, Err: err}
	}
	if res.StatusCode >= 300 {
		return problem(res, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", c.Base, err)
	}
	return nil
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

func problem(res *http.Response, answer []byte) error {
	e := &Error{}
	if json.Unmarshal(answer, &e.Problem) != nil || e.Code == "" {
		e.Problem = op.Problem{Status: res.StatusCode, Code: "HTTP_" + strconv.Itoa(res.StatusCode), Detail: "The answer is " + res.Status + " and no problem of Vitrine's; is this its address?"}
	}
	if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && e.RetryAfter == 0 {
		e.RetryAfter = n
	}
	return e
}
