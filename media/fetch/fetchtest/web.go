// Package fetchtest is a small internet for tests of what fetches from it: a name server,
// and an https server that listens on every address of this machine.
package fetchtest

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Web is the servers. The certificate is good for example.com and the names below it. Only
// Public counts as a public address.
type Web struct {
	Port     uint16
	Roots    *x509.CertPool
	Resolver *net.Resolver
	Conns    atomic.Int64 // that reached the server
	Private  atomic.Int64 // of those, on an address that is not public
	Asked    atomic.Int64 // of the name server
	Handler  http.Handler // of every host; set it before the first request

	mu        sync.Mutex
	addresses map[string][]string // of a host; each answer moves on to the next, the last stays
}

// Public is the address that counts as a public one.
const Public = "127.0.0.1"

// Reachable returns Public as a network.
func Reachable() []netip.Prefix { return []netip.Prefix{netip.MustParsePrefix(Public + "/32")} }

// New runs the servers until the test ends.
func New(t testing.TB) *Web {
	t.Helper()
	w := &Web{addresses: map[string][]string{}, Roots: x509.NewCertPool(), Handler: http.NotFoundHandler()}
	l, err := net.Listen("tcp", "[::]:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { w.Handler.ServeHTTP(out, r) }))
	s.Listener.Close()
	s.Listener = l
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state != http.StateNew {
			return
		}
		w.Conns.Add(1)
		if at, err := netip.ParseAddrPort(c.LocalAddr().String()); err != nil || at.Addr().Unmap().String() != Public {
			w.Private.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	w.Port = uint16(l.Addr().(*net.TCPAddr).Port)
	w.Roots.AddCert(s.Certificate())
	w.listenForNames(t)
	return w
}

// listenForNames runs the name server.
func (w *Web) listenForNames(t testing.TB) {
	names, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { names.Close() })
	go w.serveNames(names)
	w.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", names.LocalAddr().String())
	}}
}

// Resolve sets the addresses of a host. Each answer moves on to the next, the last stays.
func (w *Web) Resolve(host string, addresses ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.addresses[host+"."] = addresses
}

func (w *Web) serveNames(c net.PacketConn) {
	buf := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		var q dnsmessage.Message
		if q.Unpack(buf[:n]) != nil || len(q.Questions) != 1 {
			continue
		}
		w.Asked.Add(1)
		q.Response, q.Additionals = true, nil
		if a, ok := w.answer(q.Questions[0]); ok {
			q.Answers = []dnsmessage.Resource{a}
		}
		if packed, err := q.Pack(); err == nil {
			_, _ = c.WriteTo(packed, from)
		}
	}
}

func (w *Web) answer(q dnsmessage.Question) (dnsmessage.Resource, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.addresses[q.Name.String()]
	if len(list) == 0 {
		return dnsmessage.Resource{}, false
	}
	address := netip.MustParseAddr(list[0])
	h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
	switch {
	case q.Type == dnsmessage.TypeA && address.Is4():
		if len(list) > 1 {
			w.addresses[q.Name.String()] = list[1:]
		}
		return dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: address.As4()}}, true
	case q.Type == dnsmessage.TypeAAAA && address.Is6():
		return dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: address.As16()}}, true
	}
	return dnsmessage.Resource{}, false
}
