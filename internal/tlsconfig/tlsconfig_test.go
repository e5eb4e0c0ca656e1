package tlsconfig

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// write makes a certificate with this serial number, which signs itself.
func write(t *testing.T, f Files, serial int64) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{f.Cert: {Type: "CERTIFICATE", Bytes: cert}, f.Key: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestConfig_ACertificateThatIsRenewedIsUsedForTheNextConnection(t *testing.T) {
	dir := t.TempDir()
	f := Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	write(t, f, 1)
	c, err := f.Config()
	if err != nil {
		t.Fatal(err)
	}
	for serial := int64(1); serial < 3; serial++ {
		write(t, f, serial)
		got, err := c.GetClientCertificate(nil)
		if err != nil || got.Leaf.SerialNumber.Int64() != serial {
			t.Errorf("the certificate is %v, not number %d, error %v", got, serial, err)
		}
	}
}

func TestConfig_RefusesFilesThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	f := Files{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	write(t, f, 1)
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]Files{
		"no file to trust":        {CA: filepath.Join(dir, "missing.pem")},
		"no certificate to trust": {CA: empty},
		"no key":                  {Cert: f.Cert},
		"no certificate":          {Key: f.Key},
		"not a key":               {Cert: f.Cert, Key: empty},
	} {
		if _, err := f.Config(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
