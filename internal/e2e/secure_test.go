package e2e

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/internal/stack"
	"vitrine/internal/testenv"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
)

// authority signs certificates for a test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.pem, _, a.key = a.sign(a.cert)
	return a
}

// sign returns a certificate and its key in PEM format.
func (a *authority) sign(c *x509.Certificate) (cert, key string, private *ecdsa.PrivateKey) {
	a.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	signer := a.key
	if c == a.cert {
		signer = private
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &private.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})), private
}

// issue returns a certificate for 127.0.0.1 and its key.
func (a *authority) issue() (cert, key string) {
	a.t.Helper()
	cert, key, _ = a.sign(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "vitrine"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
	return cert, key
}

// files writes PEM texts into a folder and returns their paths.
func (a *authority) files(texts ...string) (paths []string) {
	a.t.Helper()
	dir := a.t.TempDir()
	for i, text := range texts {
		path := filepath.Join(dir, string(rune('a'+i))+".pem")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			a.t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// guardOpenSearch puts TLS, a client certificate and a login before OpenSearch, as its
// security plugin and reverse proxies do, and returns the address.
func (a *authority) guardOpenSearch(target, user, password string) string {
	a.t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		a.t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(to)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			return
		}
		r.Header.Del("Authorization")
		forward.ServeHTTP(w, r)
	}))
	cert, key := a.issue()
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		a.t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM([]byte(a.pem))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: trusted, ClientAuth: tls.RequireAndVerifyClientCert}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are refused on purpose
	s.StartTLS()
	a.t.Cleanup(s.Close)
	return s.URL
}

// secureServers starts PostgreSQL and Kafka that want TLS and a password.
func (a *authority) secureServers(user, password string) stack.Endpoints {
	a.t.Helper()
	testenv.Stack(a.t) // so that the downloads are there
	cert, key := a.issue()
	servers := stack.Config{Dir: filepath.Join(a.t.TempDir(), ".run"), CacheDir: testenv.StackConfig(a.t).CacheDir, ShortLived: true, KafkaHeap: "192m",
		Secure: &stack.Secure{CA: a.pem, Cert: cert, Key: key, User: user, Password: password}}
	a.t.Cleanup(func() {
		if err := stack.Reset(context.Background(), servers, io.Discard); err != nil {
			a.t.Errorf("resetting the servers: %v", err)
		}
	})
	for _, name := range []string{stack.Postgres, stack.Kafka} {
		if err := stack.Start(a.t.Context(), servers, name); err != nil {
			a.t.Fatal(err)
		}
	}
	at, err := stack.Addresses(servers)
	if err != nil {
		a.t.Fatal(err)
	}
	return at
}

// TestSecureServers_AreReachedByTLSWithALogin runs the product on servers that let
// nobody in without TLS and a password, two of them not without a client certificate.
func TestSecureServers_AreReachedByTLSWithALogin(t *testing.T) {
	t.Parallel()
	const user, password = "library", "secret42"
	a := newAuthority(t)
	at := a.secureServers(user, password)
	cfg := servicetest.Config(t) // for its folder, its prefix and its address
	cfg.PostgresURL, cfg.Brokers = at.PostgresURL, at.KafkaBrokers
	cfg.OpenSearchURL = []string{a.guardOpenSearch(testenv.Stack(t).OpenSearchURL, user, password)}
	cert, key := a.issue()
	files := a.files(a.pem, cert, key, newAuthority(t).pem)
	s := secured{t: t, cfg: cfg}
	for name, value := range map[string]string{"CA_FILE": files[0], "CERT_FILE": files[1], "KEY_FILE": files[2], "USER": user, "PASSWORD": password} {
		s.set("VITRINE_KAFKA_"+name, value)
		s.set("VITRINE_OPENSEARCH_"+name, value)
	}
	s.set("VITRINE_KAFKA_SASL", "scram-sha-512")
	if _, err := store.Migrate(t.Context(), store.Config{URL: at.PostgresURL}); err != nil {
		t.Fatal(err)
	}
	k := newKilledAt(t, cfg)
	p := serve(t, cfg, "")
	first := k.add(1, "winter")
	k.shows("tag:winter", first)
	p.stop()

	s.explainsWrongSettings(files[3])

	// A login that is wrong for a time costs no document.
	s.set("VITRINE_OPENSEARCH_PASSWORD", "wrong")
	p = serve(t, cfg, "")
	later := k.add(2, "winter")
	if res, err := http.Get(k.api.Base + "/readyz"); err != nil || res.Body.Close() != nil || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("ready with a wrong password: %v, error %v", res, err)
	}
	status, _, err := k.search("tag:winter")
	if status != http.StatusServiceUnavailable || err != nil {
		t.Errorf("a search with a wrong password of the index: %d, error %v", status, err)
	}
	p.stop()
	if strings.Contains(p.out.String(), password) {
		t.Error("the log shows the password")
	}
	s.set("VITRINE_OPENSEARCH_PASSWORD", password)
	p = serve(t, cfg, "")
	k.shows("tag:winter", first, later)
	p.stop()
	s.doctor(0, "2 documents for 2 assets")
}

// explainsWrongSettings sets one thing wrong after another, and compares what vitrine doctor says. foreign is the
// certificate of another authority.
func (s secured) explainsWrongSettings(foreign string) {
	s.t.Helper()
	for _, mechanism := range []string{"plain", "scram-sha-256"} {
		s.doctor(0, "ok    Kafka", "VITRINE_KAFKA_SASL", mechanism)
	}
	s.doctor(1, "SASL Authentication failed", "VITRINE_KAFKA_PASSWORD", "wrong")
	s.doctor(1, "VITRINE_KAFKA_SASL", "VITRINE_KAFKA_SASL", "")
	s.doctor(1, "certificate", "VITRINE_KAFKA_CA_FILE", foreign)
	s.doctor(1, "certificate", "VITRINE_KAFKA_CERT_FILE", "", "VITRINE_KAFKA_KEY_FILE", "")
	s.doctor(1, "set together", "VITRINE_KAFKA_KEY_FILE", "")
	s.doctor(1, "no such file", "VITRINE_OPENSEARCH_CA_FILE", "/nowhere.pem")
	s.doctor(1, "certificate signed by unknown authority", "VITRINE_OPENSEARCH_CA_FILE", "")
	s.doctor(1, "OpenSearch refuses the login (401", "VITRINE_OPENSEARCH_PASSWORD", "wrong")
	s.postgres("sslmode", "disable", "no encryption")
	s.postgres("sslrootcert", foreign, "certificate")
}

// secured is a deployment whose settings are changed one at a time.
type secured struct {
	t   *testing.T
	cfg service.Config
}

// settings returns a copy of the variables that its processes get.
func (s secured) settings() map[string]string {
	if of, ok := settings.Load(s.cfg.Prefix); ok {
		return maps.Clone(of.(map[string]string))
	}
	return map[string]string{}
}

// set sets one variable of the processes that start from now on.
func (s secured) set(name, value string) {
	all := s.settings()
	all[name] = value
	settings.Store(s.cfg.Prefix, all)
}

// doctor runs the command with other settings and looks for what it says.
func (s secured) doctor(code int, want string, changes ...string) {
	s.t.Helper()
	before := s.settings()
	for i := 0; i < len(changes); i += 2 {
		s.set(changes[i], changes[i+1])
	}
	got, out := said(s.t, s.cfg, "doctor")
	settings.Store(s.cfg.Prefix, before)
	if got != code || !strings.Contains(out, want) {
		s.t.Errorf("doctor with %v, not %d with %q: %d\n%s", changes, code, want, got, out)
	}
}

// postgres runs doctor with another parameter in the URL.
func (s secured) postgres(name, value, want string) {
	s.t.Helper()
	u, err := url.Parse(s.cfg.PostgresURL)
	if err != nil {
		s.t.Fatal(err)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = q.Encode()
	s.cfg.PostgresURL = u.String()
	s.doctor(1, want)
}

// search returns the status of a search.
func (k killed) search(query string) (status int, answer []byte, err error) {
	body := servicetest.JSON(map[string]any{"query": query})
	req, err := http.NewRequestWithContext(k.t.Context(), http.MethodPost, k.api.Base+"/api/v1/assets/search", bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("X-API-Key", k.api.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}
