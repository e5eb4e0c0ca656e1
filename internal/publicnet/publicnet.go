// Package publicnet connects to servers on the public internet that somebody else has named, and
// to no other address: a name that resolves to one of the operator's own network is refused when
// it is dialled.
package publicnet

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"code.dny.dev/ssrf"
)

// connectLimit bounds one attempt to connect, and the handshake.
const connectLimit = 10 * time.Second

// Config is what may be dialled. Its zero value allows every port of public addresses.
type Config struct {
	Ports    []uint16       // nil: any
	Allow    []netip.Prefix // networks that are dialled although they are not public
	RootCAs  *x509.CertPool // certificate authorities to trust; nil: those of the machine
	Resolver *net.Resolver  // what names are asked of; nil: that of the machine
}

func (cfg Config) guard() *ssrf.Guardian {
	var v4, v6 []netip.Prefix
	for _, p := range cfg.Allow {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	ports := ssrf.WithAnyPort()
	if len(cfg.Ports) > 0 {
		ports = ssrf.WithPorts(cfg.Ports...)
	}
	return ssrf.New(ports, ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...))
}

// Allows reports whether an address may be dialled.
func (cfg Config) Allows(a netip.Addr) bool { return cfg.guard().SafeAddr(a.Unmap()) == nil }

// Transport returns a transport for HTTP/1.1 that checks the address of every connection, uses no
// proxy, and never shares a connection between requests, which may be of different tenants.
func (cfg Config) Transport() *http.Transport {
	dialer := &net.Dialer{Timeout: connectLimit, Resolver: cfg.Resolver, Control: cfg.guard().Safe}
	return &http.Transport{
		Proxy: nil, DialContext: dialer.DialContext, TLSHandshakeTimeout: connectLimit, TLSClientConfig: &tls.Config{RootCAs: cfg.RootCAs, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
	}
}

// IsForbidden reports whether an error of a request is that an address may not be dialled.
func IsForbidden(err error) bool {
	return errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedPort) || errors.Is(err, ssrf.ErrProhibitedNetwork)
}
