// Package fetch downloads files from addresses that users name.
//
// In comes an https URL of a host on a list; out come the bytes, at most so many and for at
// most so long. Whoever names the URL may be hostile, and so may be whoever answers it or its
// name server: the scheme, the port and the host are checked for the URL and for every
// redirect, and the address of every connection is checked after the name was resolved,
// while it is dialled. No proxy, no cookie, no credential and no Referer takes part. The
// package knows nothing of assets.
package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"golang.org/x/sync/semaphore"

	"vitrine/internal/publicnet"
	"vitrine/library"
)

// Config is what may be fetched. Its zero value allows the built-in hosts.
type Config struct {
	// Allow adds hosts to the built-in ones: a name such as media.example.com, or
	// *.example.com for every name below example.com.
	Allow []string
	// MaxBytes bounds one file; 0 means DefaultMaxBytes.
	MaxBytes int64

	// Port is the only port that is dialled; 0 means 443. RootCAs are the certificate
	// authorities to trust, Resolver what names are asked of, and Reachable are networks that
	// are dialled although they are private: tests set these four.
	Port      uint16
	RootCAs   *x509.CertPool
	Resolver  *net.Resolver
	Reachable []netip.Prefix
}

const (
	// DefaultMaxBytes bounds one file.
	DefaultMaxBytes = 100 << 20
	// maxRedirects is how many redirects are followed.
	maxRedirects = 3
	// atOnce is how many files are fetched at the same time; others wait for as long as
	// their time lasts.
	atOnce = 32
)

// Fetcher downloads files. Make it with New; it is safe for concurrent use.
type Fetcher struct {
	hosts    hosts
	maxBytes int64
	port     uint16
	client   *http.Client
	slots    *semaphore.Weighted
}

// New returns a fetcher, or an error that names the entry of Allow that is no host.
func New(cfg Config) (*Fetcher, error) {
	f := &Fetcher{maxBytes: cfg.MaxBytes, port: cfg.Port, slots: semaphore.NewWeighted(atOnce)}
	if f.maxBytes == 0 {
		f.maxBytes = DefaultMaxBytes
	}
	if f.port == 0 {
		f.port = 443
	}
	var err error
	if f.hosts, err = newHosts(cfg.Allow); err != nil {
		return nil, err
	}
	transport := publicnet.Config{Ports: []uint16{f.port}, Allow: cfg.Reachable, RootCAs: cfg.RootCAs, Resolver: cfg.Resolver}.Transport()
	transport.DisableCompression = true // the bytes that are counted are the bytes that are kept
	transport.ForceAttemptHTTP2 = true
	f.client = &http.Client{CheckRedirect: f.checkRedirect, Transport: transport}
	return f, nil
}

// MaxBytes returns the size limit in force.
func (f *Fetcher) MaxBytes() int64 { return f.maxBytes }

// File is a file on its way. Close it.
type File struct {
	ContentType string          // as the host names it; it may be empty
	Size        int64           // as the host announces it; -1: unknown
	ctx         context.Context // of the transfer
	body        io.ReadCloser
	read, limit int64
	explain     func(error) error
	release     func()
}

// Read implements io.Reader. Its errors are those of Get.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.body.Read(p)
	if f.read += int64(n); f.read > f.limit {
		return 0, tooLarge(f.limit)
	}
	// A host that notices how the connection ends may end its answer as if it were whole.
	if err != nil && (!errors.Is(err, io.EOF) || f.ctx.Err() != nil) {
		err = f.explain(err)
	}
	return n, err
}

// Close ends the transfer.
func (f *File) Close() error {
	defer f.release()
	return f.body.Close()
}

// Get begins to fetch a URL; timeout bounds all of it, up to the last byte read. Errors are
// *library.Error with the codes URL_EXPIRED, URL_FORBIDDEN_HOST, URL_TOO_LARGE,
// URL_FETCH_TIMEOUT and URL_FETCH_FAILED; ctx ending is none of them.
func (f *Fetcher) Get(ctx context.Context, raw string, timeout time.Duration) (*File, error) {
	u, err := f.Check(raw)
	if err != nil {
		return nil, err
	}
	if expired(u, time.Now()) {
		return nil, Expired(nil)
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	explain := func(err error) error { return explained(ctx, limited, timeout, err) }
	if err := f.slots.Acquire(limited, 1); err != nil {
		err = explain(err) // before cancel, which would look like a timeout
		cancel()
		return nil, err
	}
	release := func() { cancel(); f.slots.Release(1) }
	file, err := f.get(limited, u)
	if err != nil {
		err = explain(err)
		release()
		return nil, err
	}
	file.explain, file.release = explain, release
	return file, nil
}

func (f *Fetcher) get(ctx context.Context, u *url.URL) (*File, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "vitrine")
	res, err := f.client.Do(req)
	if err != nil {
		return nil, err
	}
	switch {
	case res.StatusCode != http.StatusOK:
		err = refused(res)
	case res.ContentLength > f.maxBytes:
		err = tooLarge(f.maxBytes)
	default:
		return &File{ctx: ctx, ContentType: res.Header.Get("Content-Type"), Size: res.ContentLength, body: res.Body, limit: f.maxBytes}, nil
	}
	return nil, errors.Join(err, res.Body.Close())
}

// checkRedirect holds a redirect against the rules of the first URL, and keeps that from
// the next host: it may carry a signature.
func (f *Fetcher) checkRedirect(req *http.Request, via []*http.Request) error {
	req.Header.Del("Referer")
	if len(via) > maxRedirects {
		return Failed(nil, "it redirects more than %d times", maxRedirects)
	}
	u, err := f.Check(req.URL.String())
	if err == nil {
		req.URL = u
	}
	return err
}

// explained returns what a caller is told of an error of the transport.
func explained(caller, limited context.Context, timeout time.Duration, err error) error {
	var known *library.Error
	switch {
	case errors.As(err, &known):
		return known
	case caller.Err() != nil: // nobody waits any more
		return caller.Err()
	case limited.Err() != nil:
		return &library.Error{Kind: library.KindUnprocessable, Code: library.CodeURLTimeout, Cause: err,
			Detail: fmt.Sprintf("The file did not arrive from asset_data_url within %d seconds; nothing was stored. Repeat the request with a larger timeout_seconds (up to 300), "+
				"or download the file and send it to a URL from CreateUploadUrl.", int(timeout.Seconds()))}
	case publicnet.IsForbidden(err):
		return forbidden(err, "the host's address is not a public one")
	}
	return Failed(err, "the host cannot be reached, or broke the transfer off")
}
