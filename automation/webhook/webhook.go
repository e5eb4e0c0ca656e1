// Package webhook signs messages by Standard Webhooks 1.0 and sends them.
//
// In comes a message, the URL of an endpoint and its secrets; out comes what the endpoint
// answered. Whoever names the URL may want to reach what only this machine reaches, so the
// address of every connection is checked while it is dialled. The package keeps nothing and
// decides when a message is sent again by Next alone.
package webhook

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"vitrine/internal/publicnet"
)

// Config is which endpoints can be reached. Its zero value allows public addresses.
type Config struct {
	// AllowPrivate are networks that are dialled although they are not public, for receivers
	// on the operator's own network.
	AllowPrivate []netip.Prefix
	RootCAs      *x509.CertPool // certificate authorities to trust; nil: those of the machine
	Resolver     *net.Resolver  // what names are asked of; nil: that of the machine
}

// Sender sends messages. Make it with NewSender; it is safe for concurrent use.
type Sender struct{ client *http.Client }

const (
	maxResponse  = 64 << 10 // bytes that are read of a response
	keptResponse = 500      // characters of it that are kept
)

// network is what is dialled.
func (cfg Config) network() publicnet.Config {
	return publicnet.Config{Allow: cfg.AllowPrivate, RootCAs: cfg.RootCAs, Resolver: cfg.Resolver}
}

// NewSender returns a sender.
func NewSender(cfg Config) *Sender {
	return &Sender{&http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     cfg.network().Transport(),
	}}
}

// Message is what is sent.
type Message struct {
	ID      string // the same for every attempt
	Body    []byte // JSON
	Secrets []string
	URL     string
	Timeout time.Duration
}

// Response is what became of an attempt.
type Response struct {
	At         time.Time
	Took       time.Duration
	Status     int           // 0: there was no response
	Body       string        // how it begins
	RetryAfter time.Duration // 0: the endpoint does not say
	Err        string        // why it failed; empty: the endpoint took the message
	Forbidden  bool          // the address is not one that may be dialled
}

// Delivered reports whether the endpoint took the message.
func (r Response) Delivered() bool { return r.Err == "" }

// Gone reports whether the endpoint wants no more messages.
func (r Response) Gone() bool { return r.Status == http.StatusGone }

// Send sends a message once. An error is that of ctx, or of a message that cannot be signed;
// whatever the endpoint does is a Response.
func (s *Sender) Send(ctx context.Context, m Message) (Response, error) {
	r := Response{At: time.Now()}
	limited, cancel := context.WithTimeout(ctx, m.Timeout)
	defer cancel()
	req, err := request(limited, m, r.At)
	if err != nil {
		return r, err
	}
	res, err := s.client.Do(req)
	r.Took = time.Since(r.At)
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		r.Err, r.Forbidden = explain(err, limited.Err() != nil, m.Timeout)
		return r, nil
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxResponse))
	r.Took, r.Status, r.Body = time.Since(r.At), res.StatusCode, printable(body)
	if res.StatusCode < 200 || res.StatusCode > 299 {
		r.Err, r.RetryAfter = refusal(res.StatusCode), retryAfter(res.Header, r.At)
	}
	return r, nil
}

// request makes the request of an attempt, signed with every secret.
func request(ctx context.Context, m Message, at time.Time) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return nil, err
	}
	var signatures []string
	for _, secret := range m.Secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, err
		}
		signature, err := signer.Sign(m.ID, at, m.Body)
		if err != nil {
			return nil, err
		}
		signatures = append(signatures, signature)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "vitrine-webhooks/1")
	req.Header.Set(standardwebhooks.HeaderWebhookID, m.ID)
	req.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	req.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return req, nil
}

func explain(err error, timedOut bool, limit time.Duration) (words string, forbidden bool) {
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	switch {
	case publicnet.IsForbidden(err):
		return "the address of the host is not a public one", true
	case timedOut:
		return fmt.Sprintf("no response within %d ms", limit.Milliseconds()), false
	case errors.As(err, &certificate):
		return "the certificate of the host is not valid: " + printable([]byte(certificate.Err.Error())), false
	case errors.As(err, &name):
		return "the name of the host cannot be resolved", false
	}
	return "the host cannot be reached, or broke the connection off", false
}

func refusal(status int) string {
	switch {
	case status >= 300 && status < 400:
		return fmt.Sprintf("status %d: redirects are not followed; register the URL that it leads to", status)
	case status == http.StatusGone:
		return "status 410: the endpoint wants no more messages"
	}
	return fmt.Sprintf("status %d: only 2xx is a success", status)
}

// maxRetryAfter bounds how long an endpoint may ask to wait.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads the header Retry-After: seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Duration(min(max(seconds, 0), int64(maxRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}

// printable returns the beginning of a text of anybody's, as it can be stored and shown.
func printable(raw []byte) string {
	text := []rune(strings.ToValidUTF8(string(raw[:min(len(raw), 4*keptResponse)]), ""))
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' {
			return r
		}
		return -1
	}, string(text[:min(len(text), keptResponse)]))
}

// NewSecret returns a random secret in the form that verifiers take: whsec_ and 32 bytes in base64.
func NewSecret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails: it ends the program instead
	return "whsec_" + base64.StdEncoding.EncodeToString(b)
}

// CheckURL returns why a URL cannot be an endpoint; empty: it can. Its host's address is looked at
// only when it is written out: a name is resolved, and checked, whenever it is dialled.
func (cfg Config) CheckURL(raw string) string {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return "It is not a URL."
	case u.Scheme != "https":
		return "Only https URLs are called."
	case u.User != nil:
		return "It must not contain a user name or a password: messages are signed instead."
	case u.Fragment != "":
		return "It must not have a fragment."
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	address, err := netip.ParseAddr(host)
	if err != nil {
		if host == "localhost" || strings.HasSuffix(host, ".localhost") || !strings.Contains(host, ".") || looksLikeAddress(host) {
			return "The host is not one of the public internet."
		}
		return ""
	}
	if !cfg.network().Allows(address) {
		return "The address is not a public one."
	}
	return ""
}

// looksLikeAddress reports whether a resolver may take a name for an address: its last label
// begins with a digit, as in 127.1 or 0x7f.1.
func looksLikeAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last == "" || last[0] >= '0' && last[0] <= '9'
}
