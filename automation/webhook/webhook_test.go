package webhook_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"vitrine/automation/webhook"
	"vitrine/internal/nodetest"
	"vitrine/internal/testenv"
	"vitrine/media/fetch/fetchtest"
)

// world is a sender and an https server that it may reach.
type world struct {
	*fetchtest.Web
	cfg  webhook.Config
	send *webhook.Sender
}

func newWorld(t *testing.T) world {
	w := fetchtest.New(t)
	w.Resolve("hooks.example.com", fetchtest.Public)
	cfg := webhook.Config{AllowPrivate: fetchtest.Reachable(), RootCAs: w.Roots, Resolver: w.Resolver}
	return world{w, cfg, webhook.NewSender(cfg)}
}

func (w world) url(host string) string {
	return "https://" + host + ":" + strconv.Itoa(int(w.Port)) + "/in"
}

func (w world) message(host string) webhook.Message {
	return webhook.Message{ID: "msg-1", Body: []byte(`{"type":"test.ping","data":{"name":"Füchse"}}`), Secrets: []string{webhook.NewSecret()}, URL: w.url(host), Timeout: 5 * time.Second}
}

func (w world) try(t *testing.T, m webhook.Message) webhook.Response {
	t.Helper()
	r, err := w.send.Send(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// received is a request as it came.
type received struct {
	header http.Header
	body   []byte
}

func (w world) receive(status int) *received {
	var got received
	w.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		got.header = r.Header
		got.body, _ = io.ReadAll(r.Body)
		out.WriteHeader(status)
	})
	return &got
}

// verifiers are programs that use the public libraries of Standard Webhooks: they read the body and
// print "good", or why it is not.
const (
	pythonVerifier = `
import os, sys
from standardwebhooks.webhooks import Webhook
headers = {"webhook-id": os.environ["ID"], "webhook-timestamp": os.environ["TIMESTAMP"], "webhook-signature": os.environ["SIGNATURE"]}
try:
    Webhook(os.environ["SECRET"]).verify(sys.stdin.buffer.read(), headers)
    print("good")
except Exception as e:
    print("bad:", e)
`
	nodeVerifier = `
import { Webhook } from "standardwebhooks";
let body = "";
for await (const chunk of process.stdin.setEncoding("utf8")) body += chunk;
const headers = { "webhook-id": process.env.ID, "webhook-timestamp": process.env.TIMESTAMP, "webhook-signature": process.env.SIGNATURE };
try {
  new Webhook(process.env.SECRET).verify(body, headers);
  console.log("good");
} catch (e) {
  console.log("bad: " + e);
}
`
)

// verdicts asks the libraries of three languages whether a request is signed with a secret.
func verdicts(t *testing.T, got *received, secret string, body []byte) map[string]bool {
	t.Helper()
	env := []string{"ID=" + got.header.Get("webhook-id"), "TIMESTAMP=" + got.header.Get("webhook-timestamp"), "SIGNATURE=" + got.header.Get("webhook-signature"), "SECRET=" + secret}
	python := exec.CommandContext(t.Context(), testenv.Tool(t, "standardwebhooks-python"), "-c", pythonVerifier)
	python.Env, python.Stdin, python.Stderr = append(os.Environ(), env...), bytes.NewReader(body), os.Stderr
	out, err := python.Output()
	if err != nil {
		t.Fatal(err)
	}
	script := nodetest.Run(t, "standardwebhooks-javascript", []byte(nodeVerifier), body, env...)
	goVerifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]bool{"Python": string(out) == "good\n", "JavaScript": string(script) == "good\n", "Go": goVerifier.Verify(body, got.header) == nil}
}

func TestSend_PublicLibrariesVerifyTheSignatureAndNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.receive(204)
	m := w.message("hooks.example.com")
	old := webhook.NewSecret()
	m.Secrets = append(m.Secrets, old) // during a rotation
	if r := w.try(t, m); !r.Delivered() || r.Status != 204 {
		t.Fatalf("%+v", r)
	}
	if !bytes.Equal(got.body, m.Body) || got.header.Get("webhook-id") != m.ID || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("it came as %q with %v", got.body, got.header)
	}
	if n := len(strings.Fields(got.header.Get("webhook-signature"))); n != 2 {
		t.Errorf("%d signatures for two secrets", n)
	}
	for what, c := range map[string]struct {
		secret string
		body   []byte
		good   bool
	}{
		"the new secret": {m.Secrets[0], m.Body, true}, "the old secret": {old, m.Body, true},
		"another secret": {webhook.NewSecret(), m.Body, false}, "another body": {m.Secrets[0], []byte(`{"type":"test.pong"}`), false},
	} {
		for language, good := range verdicts(t, got, c.secret, c.body) {
			if good != c.good {
				t.Errorf("%s: the library for %s says %v", what, language, good)
			}
		}
	}
}

func TestSend_ReportsWhatTheEndpointDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for status, delivered := range map[int]bool{200: true, 202: true, 299: true, 300: false, 302: false, 400: false, 410: false, 429: false, 500: false, 503: false} {
		reached := 0
		w.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			reached++
			out.Header().Set("Location", w.url("hooks.example.com")+"/other")
			out.Header().Set("Retry-After", "120")
			out.WriteHeader(status)
			_, _ = out.Write(bytes.Repeat([]byte("na\x00\x1b[31m "), 100_000))
		})
		r := w.try(t, w.message("hooks.example.com"))
		if r.Delivered() != delivered || r.Status != status || reached != 1 || r.Gone() != (status == 410) {
			t.Errorf("%d: %+v, reached %d times", status, r, reached)
		}
		if want := map[bool]time.Duration{false: 2 * time.Minute}[delivered]; r.RetryAfter != want {
			t.Errorf("%d: retry after %s, want %s", status, r.RetryAfter, want)
		}
		if len(r.Body) > 600 || strings.ContainsAny(r.Body, "\x00\x1b") {
			t.Errorf("%d: the response is kept as %q", status, r.Body)
		}
	}
}

func TestSend_ASlowEndpointIsLeftInTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server notices that its client has left once it has read the request
		<-r.Context().Done()
	})
	m := w.message("hooks.example.com")
	m.Timeout = 300 * time.Millisecond
	if r := w.try(t, m); r.Delivered() || r.Status != 0 || !strings.Contains(r.Err, "300 ms") || r.Took > 3*time.Second {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.send.Send(ctx, m); err == nil {
		t.Error("a send that was called off is no error")
	}
}

// private are addresses that nobody outside of a network should be led to.
var private = []string{"127.0.0.2", "10.0.0.1", "172.16.5.4", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "192.0.0.192", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
	"::1", "::", "fc00::1", "fe80::1", "ff02::1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::1", "::ffff:10.0.0.1", "fec0::1", "3fff::1", "5f00::1"}

func TestSend_NoPrivateAddressIsDialled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.receive(200)
	for _, address := range private {
		w.Resolve("inside.example.com", address)
		if r := w.try(t, w.message("inside.example.com")); r.Delivered() || !r.Forbidden {
			t.Errorf("%s: %+v", address, r)
		}
		ip := netip.MustParseAddr(address)
		host := address
		if ip.Is6() {
			host = "[" + address + "]"
		}
		if why := (webhook.Config{}).CheckURL("https://" + host + "/in"); why == "" {
			t.Errorf("%s may be registered", host)
		}
	}
	// A name that changes its address once it was looked up gains nothing.
	w.Resolve("rebind.example.com", "93.184.216.34", "127.0.0.2")
	for range 3 {
		w.send = webhook.NewSender(w.cfg)
		m := w.message("rebind.example.com")
		m.Timeout = 500 * time.Millisecond // the public address does not answer here
		if r := w.try(t, m); r.Delivered() {
			t.Errorf("%+v", r)
		}
	}
	if n := w.Private.Load(); n != 0 {
		t.Errorf("%d connections to addresses that are not public", n)
	}
	none := webhook.NewSender(webhook.Config{RootCAs: w.Roots, Resolver: w.Resolver})
	if r, err := none.Send(t.Context(), w.message("hooks.example.com")); err != nil || !r.Forbidden {
		t.Errorf("without a setting the own network is reached: %+v %v", r, err)
	}
}

func TestSend_ACertificateOfNobodyIsNotTrusted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.receive(200)
	cfg := w.cfg
	cfg.RootCAs = nil
	r, err := webhook.NewSender(cfg).Send(t.Context(), w.message("hooks.example.com"))
	if err != nil || r.Delivered() || !strings.Contains(r.Err, "certificate") {
		t.Errorf("%+v %v", r, err)
	}
}

func TestCheckURL_TakesPublicHTTPSOnly(t *testing.T) {
	t.Parallel()
	for raw, good := range map[string]bool{
		"https://hooks.example.com/a?b=c": true, "https://example.com:8443": true, "https://93.184.216.34/": true, "https://[2606:4700::1111]/": true, "HTTPS://Example.COM": true,
		"http://example.com": false, "ftp://example.com": false, "https://": false, "https:example.com": false, "example.com": false, "https://user:pass@example.com": false, "https://example.com/#x": false,
		"https://localhost": false, "https://a.localhost": false, "https://intranet": false, "https://127.1": false, "https://0x7f.1": false, "https://2130706433": false, "https://localhost.": false,
		"https://exa mple.com": false, "https://%zz": false, "": false, "https://169.254.169.254/latest": false,
	} {
		if why := (webhook.Config{}).CheckURL(raw); (why == "") != good {
			t.Errorf("%q: %q", raw, why)
		}
	}
	lan := webhook.Config{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}
	if lan.CheckURL("https://10.1.2.3/in") != "" || lan.CheckURL("https://10.2.2.3/in") == "" {
		t.Error("networks that are allowed are not those that can be registered")
	}
}

func TestNext_TriesTenTimesInThreeDays(t *testing.T) {
	t.Parallel()
	total, attempts := time.Duration(0), 1
	for ; ; attempts++ {
		in, again := webhook.Next(attempts, 0)
		if !again {
			break
		}
		if d := webhook.Delays[attempts-1]; in < d || in > d+d/10 {
			t.Errorf("after attempt %d: %s, want %s and at most a tenth more", attempts, in, d)
		}
		total += in
	}
	if attempts != 10 || total < 75*time.Hour || total > 84*time.Hour {
		t.Errorf("%d attempts in %s", attempts, total)
	}
	if in, _ := webhook.Next(1, time.Hour); in < time.Hour {
		t.Errorf("an endpoint that asks for an hour is tried after %s", in)
	}
}

func TestSealer_OpensForTheSameEndpointAndKeyOnly(t *testing.T) {
	t.Parallel()
	s, err := webhook.NewSealer(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	secret := webhook.NewSecret()
	sealed := s.Seal(secret, "a/1")
	if got, err := s.Open(sealed, "a/1"); err != nil || got != secret {
		t.Errorf("%q %v", got, err)
	}
	if bytes.Contains(sealed, []byte(secret)) || bytes.Equal(sealed, s.Seal(secret, "a/1")) {
		t.Error("what is sealed can be read, or is the same twice")
	}
	other, err := webhook.NewSealer(bytes.Repeat([]byte{2}, 32))
	if err != nil {
		t.Fatal(err)
	}
	for what, open := range map[string]func() (string, error){
		"another endpoint": func() (string, error) { return s.Open(sealed, "b/1") }, "another key": func() (string, error) { return other.Open(sealed, "a/1") },
		"a part": func() (string, error) { return s.Open(sealed[:8], "a/1") },
	} {
		if got, err := open(); err == nil {
			t.Errorf("%s opens it: %q", what, got)
		}
	}
}
