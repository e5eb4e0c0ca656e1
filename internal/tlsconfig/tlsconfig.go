// Package tlsconfig makes the TLS configuration of a client from files in PEM format.
package tlsconfig

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// Files name what a client trusts and how it proves who it is. The zero value trusts
// the system's authorities and has no certificate.
type Files struct {
	CA   string // certificates of the authorities to trust instead of the system's
	Cert string // the client's certificate, with those between it and its authority
	Key  string // its private key
}

// Config reads the files. The client's certificate is read again for every connection,
// so that one that was renewed is used without a restart.
func (f Files) Config() (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.CA != "" {
		pem, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, fmt.Errorf("reading the certificates to trust: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM format", f.CA)
		}
	}
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("a client certificate and its private key are set together or not at all")
	}
	if f.Cert == "" {
		return c, nil
	}
	if _, err := f.load(); err != nil {
		return nil, err
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return f.load() }
	return c, nil
}

func (f Files) load() (*tls.Certificate, error) {
	cert, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the client certificate: %w", err)
	}
	return &cert, nil
}
