// Package opensearch talks to OpenSearch: JSON requests in, JSON responses out, and
// error responses as typed errors.
//
// It is the thin layer between the official client, which pools and retries
// connections, and the packages that know what to ask. It knows nothing of
// assets or queries.
package opensearch

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	opensearchgo "github.com/opensearch-project/opensearch-go/v4"

	"vitrine/internal/jsonscan"
	"vitrine/library"
)

// Client is the official client, which pools and retries connections.
type Client = opensearchgo.Client

// Cluster is how a cluster is connected to.
type Cluster struct {
	Addresses []string // URLs of nodes
	Security
}

// Security is what connections to a cluster need. The zero value is a plain
// connection, or TLS with the system's authorities, without a login.
type Security struct {
	TLS            *tls.Config // for addresses with https; nil: the system's authorities
	User, Password string      // of HTTP basic authentication; "" for no login
}

// NewClient returns a client for one cluster that needs no login. See Cluster.NewClient.
func NewClient(addresses ...string) (*Client, error) {
	return Cluster{Addresses: addresses}.NewClient()
}

// NewClientWithHealthCheck is Cluster.NewClientWithHealthCheck without a login.
func NewClientWithHealthCheck(addresses ...string) (*Client, error) {
	return Cluster{Addresses: addresses}.NewClientWithHealthCheck()
}

// NewClient returns a client. It connects lazily: a cluster that is down now may be up
// at the first request. Requests are never repeated by the client itself; callers
// know which ones may be.
func (c Cluster) NewClient() (*Client, error) { return c.open(transport(c.TLS)) }

// NewClientWithHealthCheck returns a client for requests that people wait for. While a
// node takes connections but does not answer, its requests fail within two seconds,
// and all further ones at once, until it answers again.
func (c Cluster) NewClientWithHealthCheck() (*Client, error) {
	return c.open(newHealthTransport(transport(c.TLS)))
}

func (c Cluster) open(transport http.RoundTripper) (*Client, error) {
	return opensearchgo.NewClient(opensearchgo.Config{Addresses: c.Addresses, Username: c.User, Password: c.Password, DisableRetry: true, Transport: transport})
}

func transport(security *tls.Config) *http.Transport {
	return &http.Transport{
		TLSClientConfig:     security,
		TLSHandshakeTimeout: 5 * time.Second,
		DialContext:         (&net.Dialer{Timeout: time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConns:        64,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true,     // the engine is near; compressing costs more than it saves
		WriteBufferSize:     16 << 10, // most queries, and most answers, pass in one system call
		ReadBufferSize:      64 << 10,
	}
}

// ResponseError is an answer other than 2xx.
type ResponseError struct {
	Status int
	Type   string // OpenSearch's type, for example index_not_found_exception
	Reason string // shortened: it may repeat a value of a document
}

func (e *ResponseError) Error() string {
	if e.LoginRefused() {
		return fmt.Sprintf("OpenSearch refuses the login (%d %s %s): VITRINE_OPENSEARCH_USER and VITRINE_OPENSEARCH_PASSWORD, or the rights of that user", e.Status, e.Type, e.Reason)
	}
	return fmt.Sprintf("OpenSearch answers %d %s: %s", e.Status, e.Type, e.Reason)
}

// LoginRefused reports whether the login is wrong or lacks a right. A proxy before
// OpenSearch names no type.
func (e *ResponseError) LoginRefused() bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden && (e.Type == "" || e.Type == TypeSecurity)
}

// TypeSecurity is the type of a refusal for a lack of rights.
const TypeSecurity = "security_exception"

// IsResponseError reports whether OpenSearch refused with this type.
func IsResponseError(err error, kind string) bool {
	var e *ResponseError
	return errors.As(err, &e) && e.Type == kind
}

// TypeIndexNotFound is the type of a refusal for an index or alias that does not exist.
const TypeIndexNotFound = "index_not_found_exception"

// JSONReader reads itself out of JSON, faster than encoding/json does.
type JSONReader interface {
	ReadJSON(doc []byte) error
}

// Call sends a JSON request and reads the JSON answer into out, which may be an
// Answer. A body of type []byte is sent as it is, nil sends none; out may be nil.
func Call(ctx context.Context, client *Client, method, path string, body, out any) error {
	raw, isRaw := body.([]byte)
	if body != nil && !isRaw {
		var err error
		if raw, err = jsonscan.Append(make([]byte, 0, 4<<10), body); err != nil {
			return err
		}
	}
	var payload io.Reader
	if raw != nil {
		payload = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, path, payload)
	if err != nil {
		return err
	}
	if raw != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := Do(client, req)
	if err != nil || out == nil {
		return err
	}
	if a, ok := out.(JSONReader); ok {
		err = a.ReadJSON(answer)
	} else {
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		return fmt.Errorf("reading OpenSearch's answer: %w", err)
	}
	return nil
}

// Do sends a request and gives the body of a 2xx answer; any other is a *Refusal.
func Do(client *Client, req *http.Request) ([]byte, error) {
	res, err := client.Stream(req)
	if res == nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := readBody(req.Method, res)
	if err != nil {
		return nil, fmt.Errorf("reading OpenSearch's answer: %w", err)
	}
	if res.StatusCode < 300 {
		return answer, nil
	}
	return nil, readRefusal(res.StatusCode, answer)
}

// Cause is why OpenSearch refuses, as it says so in an answer.
type Cause struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
	Root   []struct {
		Type   string `json:"type"`
		Reason string `json:"reason"`
	} `json:"root_cause"`
}

// ResponseError returns the cause as an error. Of a search that failed on its shards, the
// reason is in its first root cause.
func (c Cause) ResponseError(status int) *ResponseError {
	reason := c.Reason
	if len(c.Root) > 0 && c.Root[0].Reason != reason {
		reason += ": " + c.Root[0].Type + ": " + c.Root[0].Reason
	}
	return &ResponseError{Status: status, Type: c.Type, Reason: TruncateReason(reason)}
}

func readRefusal(status int, answer []byte) *ResponseError {
	var told struct {
		Error Cause `json:"error"`
	}
	_ = json.Unmarshal(answer, &told) // a proxy in between answers in any form
	return told.Error.ResponseError(status)
}

// maxTrustedLength is the length of an answer that is believed before it was read.
const maxTrustedLength = 16 << 20

// readBody reads an answer into one piece of memory, where it tells its length.
func readBody(method string, res *http.Response) ([]byte, error) {
	if res.ContentLength < 0 || res.ContentLength > maxTrustedLength || method == http.MethodHead {
		return io.ReadAll(res.Body)
	}
	answer := make([]byte, res.ContentLength)
	_, err := io.ReadFull(res.Body, answer)
	return answer, err
}

const maxReason = 300

// TruncateReason bounds OpenSearch's words where they are kept or shown: they may repeat a
// value of a document.
func TruncateReason(s string) string {
	s = strings.ToValidUTF8(s, "")
	if len(s) <= maxReason {
		return s
	}
	return strings.ToValidUTF8(s[:maxReason], "") + "…"
}

// Unavailable turns an error of a search into what its caller may know: that the
// index cannot be asked right now, as when it refuses the service's login. A request
// that it refuses for what it says is a defect of ours and passes as it is, and so does
// the caller's own cancellation.
func Unavailable(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	var known *library.Error
	if errors.As(err, &known) {
		return err
	}
	var refused *ResponseError
	if errors.As(err, &refused) && refused.Status < 500 && refused.Status != http.StatusTooManyRequests && refused.Type != TypeIndexNotFound && !refused.LoginRefused() {
		return err
	}
	return &library.Error{Kind: library.KindUnavailable, Code: library.CodeIndexUnavailable, RetryAfter: 2 * time.Second, Cause: err,
		Detail: "The search index does not answer right now. Repeat the search in a moment; reading and storing assets go on working."}
}
