package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/media/fetch/fetchtest"
)

func read(t *testing.T, f *Fetcher, url string, timeout time.Duration) ([]byte, error) {
	t.Helper()
	file, err := f.Get(t.Context(), url, timeout)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// TestFetch_URLsThatNameNoAllowedHostConnectToNothing tries URLs that look like an allowed
// one, or that other programs read differently.
func TestFetch_URLsThatNameNoAllowedHostConnectToNothing(t *testing.T) {
	w := fetchtest.New(t)
	f := fetcherIn(t, w, "media.example.com", "*.tree.example.com")
	for _, host := range []string{"evil.example.com", "example.com", "localhost", "fal.media.evil.com"} {
		w.Resolve(host, public)
	}
	at := fmt.Sprintf(":%d", w.Port)
	urls := []string{
		"", "x", "//fal.media/a.png", "fal.media/a.png", "http://fal.media/a.png", "HTTP://fal.media/a.png", "ftp://fal.media/a.png", "file:///etc/passwd", "gopher://fal.media/_x",
		"data:image/png;base64,AAAA", "javascript:alert(1)", "https:fal.media/a", "https:///a.png", "https://", "https://fal.media:80/a.png", "https://fal.media:22/a.png", "https://fal.media:/a.png",
		"https://user@fal.media/a.png", "https://user:pass@fal.media/a.png", "https://fal.media@evil.example.com/", "https://fal.media" + at + "@evil.example.com/", "https://evil.example.com#@fal.media/",
		"https://evil.example.com\\@fal.media/a.png", "https://fal.media\\.evil.example.com/", "https://fal.media%00.evil.example.com/", "https://fal.media%2eevil.example.com/", "https://fal.media.evil.com/",
		"https://evilfal.media/a.png", "https://fal.media.evil.com/a.png", "https://xreplicate.delivery/a.png", "https://evil.example.com/fal.media", "https://evil.example.com?fal.media", "https://example.com/",
		"https://tree.example.com/", "https://xtree.example.com/", "https://media.example.com.evil.com/", "https://a.media.example.com/",
		"https://localhost/", "https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.0.0.1/", "https://0177.0.0.1/", "https://127.0.0.1./", "https://0/", "https://[::1]/",
		"https://[::ffff:127.0.0.1]/", "https://[::127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[fe80::1%25lo]/", "https://169.254.169.254/latest/meta-data/", "https://metadata.google.internal/", "https://①②⑦.⓪.⓪.①/",
		"https://10.0.0.1/", "https://192.168.1.1/", "https://172.16.0.1/", "https://100.64.0.1/", "https://8.8.8.8/",
		"https://s3.amazonaws.com/bucket/a.png", "https://s3.us-east-1.amazonaws.com/bucket/a.png", "https://bucket.s3.evil.com/a.png", "https://bucket.s3.amazonaws.com.evil.com/", "https://bucket.ec2.amazonaws.com/",
		"https://bucket.s3-website-us-east-1.amazonaws.com/", "https://x.s3.us-east-1.evil.amazonaws.com/", "https://.s3.amazonaws.com/", "https://fal..media/", "https://-fal.media/", "https://fal.media -x/",
		"https://" + strings.Repeat("a", 300) + ".fal.media/", "https://" + strings.Repeat("a.", 200) + "fal.media/", "https://fal_media.fal.media/", "https://\x00fal.media/", "https://fal.media\r\nHost: x/",
	}
	for _, url := range urls {
		if got := codeOf(t, f, url); got != library.CodeURLForbiddenHost {
			t.Errorf("%.80q is answered with %q", url, got)
		}
	}
	if w.Conns.Load() != 0 || w.Asked.Load() != 0 {
		t.Errorf("%d connections were made, and %d names asked for", w.Conns.Load(), w.Asked.Load())
	}
	t.Logf("%d URLs", len(urls))
}

func TestFetch_TheNamedFamiliesAndConfiguredHostsAreAllowed(t *testing.T) {
	f, err := New(Config{Allow: []string{"media.example.com", "*.tree.example.com", "BÜCHER.example.org"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"https://fal.media/x", "https://v3.fal.media/files/a/b.png", "https://replicate.delivery/pbxt/x/out.png", "https://pbxt.replicate.delivery/x/out-0.png",
		"https://cdn.midjourney.com/x/0_0.png", "https://image.civitai.com/x/y.jpeg", "https://cloud.comfy.org/api/view?filename=x.png", "https://my-bucket.s3.amazonaws.com/a.png",
		"https://my.dotted.bucket.s3.eu-west-1.amazonaws.com/a.png?X-Amz-Expires=1", "https://b-1.s3.dualstack.us-west-2.amazonaws.com/a", "https://bucket.s3-us-west-2.amazonaws.com/a", "https://bucket.s3.us-gov-west-1.amazonaws.com/a",
		"https://MEDIA.example.com/x", "https://media.example.com./x", "https://media.example.com:443/x", "https://a.b.tree.example.com/x", "https://bücher.example.org/x", "https://media.example.com/a b?q=ü#f"} {
		if _, err := f.Check(url); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, entry := range []string{"*", "*.com", "com", "https://media.example.com", "media.example.com:8443", "10.0.0.1", "a..b", "*.*.example.com"} {
		if _, err := New(Config{Allow: []string{entry}}); err == nil {
			t.Errorf("the entry %q is taken", entry)
		}
	}
}

// privateAddresses are one at least of every block that is not public.
var privateAddresses = []string{"127.0.0.2", "127.255.255.254", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "192.0.0.192", "192.0.2.1",
	"198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.2", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1",
	"2002:7f00:1::1", "2001:db8::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "5f00::1", "3fff::1"}

func TestFetch_AnAllowedHostWithAPrivateAddressIsNotDialled(t *testing.T) {
	w := fetchtest.New(t)
	f := fetcherIn(t, w, "*.example.com")
	for i, address := range privateAddresses {
		host := fmt.Sprintf("h%d.example.com", i)
		w.Resolve(host, address)
		if got := codeOf(t, f, "https://"+host+"/a.png"); got != library.CodeURLForbiddenHost {
			t.Errorf("a host at %s is answered with %q", address, got)
		}
	}
	if w.Conns.Load() != 0 {
		t.Errorf("%d connections were made", w.Conns.Load())
	}
	if w.Asked.Load() == 0 {
		t.Error("no name was resolved: the test looks at the wrong place")
	}
}

func TestFetch_EveryRedirectIsHeldAgainstTheSameRules(t *testing.T) {
	w := fetchtest.New(t)
	f := fetcherIn(t, w, "*.example.com")
	w.Resolve("a.example.com", public)
	w.Resolve("b.example.com", public)
	w.Resolve("inside.example.com", "127.0.0.2")
	w.Resolve("six.example.com", "::1")
	at := fmt.Sprintf(":%d", w.Port)
	var referer string
	w.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/file" {
			referer = r.Header.Get("Referer") + r.Header.Get("Authorization") + r.Header.Get("Cookie")
			fmt.Fprint(out, "the file")
			return
		}
		out.Header().Set("Set-Cookie", "a=b; Domain=example.com")
		http.Redirect(out, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	for _, to := range []string{"http://a.example.com" + at + "/file", "https://a.example.com/file:80", "http://127.0.0.1/", "https://127.0.0.2" + at + "/file", "https://[::1]" + at + "/file", "https://inside.example.com" + at + "/file",
		"https://six.example.com" + at + "/file", "https://u:p@b.example.com" + at + "/file", "https://b.example.com:22/file", "https://evil.com/file", "//evil.com/file", "https://169.254.169.254/latest", "file:///etc/passwd", "ftp://a.example.com/file"} {
		for _, hops := range []int{1, 2, 3} {
			url := to
			for range hops {
				url = "https://a.example.com" + at + "/to?to=" + escape(url)
			}
			if got := codeOf(t, f, url); got != library.CodeURLForbiddenHost && to != "https://a.example.com/file:80" {
				t.Errorf("%d redirects to %s are answered with %q", hops, to, got)
			}
		}
	}
	if w.Private.Load() != 0 {
		t.Errorf("%d connections reached private addresses", w.Private.Load())
	}
	for hops, want := range map[int]string{1: "", 3: "", 4: library.CodeURLFetchFailed, 20: library.CodeURLFetchFailed} {
		url := "/file"
		for range hops {
			url = "https://b.example.com" + at + "/to?to=" + escape(url)
		}
		if got := codeOf(t, f, url); got != want {
			t.Errorf("%d redirects are answered with %q, want %q", hops, got, want)
		}
	}
	if referer != "" {
		t.Errorf("the next host was sent %q", referer)
	}
}

func escape(s string) string {
	return strings.NewReplacer("%", "%25", "?", "%3F", "&", "%26", "#", "%23", "=", "%3D", ":", "%3A", "/", "%2F").Replace(s)
}

// TestFetch_ANameThatChangesItsAddressIsHeldAgainstEveryOne redirects a host to itself while
// its name server answers with another address.
func TestFetch_ANameThatChangesItsAddressIsHeldAgainstEveryOne(t *testing.T) {
	w := fetchtest.New(t)
	f := fetcherIn(t, w, "*.example.com")
	w.Resolve("a.example.com", public, "127.0.0.2")
	w.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { http.Redirect(out, r, "/again", http.StatusFound) })
	if got := codeOf(t, f, fmt.Sprintf("https://a.example.com:%d/", w.Port)); got != library.CodeURLForbiddenHost {
		t.Errorf("it is answered with %q", got)
	}
	if w.Conns.Load() != 1 || w.Private.Load() != 0 {
		t.Errorf("%d connections were made, %d of them to a private address", w.Conns.Load(), w.Private.Load())
	}
}

func TestFetch_EachFailureHasItsCode(t *testing.T) {
	w := fetchtest.New(t)
	f := fetcherIn(t, w, "*.example.com")
	w.Resolve("a.example.com", public)
	w.Resolve("pbxt.replicate.delivery", public)
	w.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { failure(out, r) })
	base := fmt.Sprintf("https://a.example.com:%d", w.Port)
	for path, want := range map[string]string{
		"/good": "", "/largest": "", "/chunked": "",
		"/gone": library.CodeURLExpired, "/s3": library.CodeURLExpired, "/good?X-Amz-Date=20240101T000000Z&X-Amz-Expires=3600": library.CodeURLExpired, "/good?Expires=1700000000": library.CodeURLExpired,
		"/good?se=2024-01-01T00:00:00Z&sig=x": library.CodeURLExpired, "/good?X-Goog-Date=20240101T000000Z&X-Goog-Expires=1": library.CodeURLExpired,
		"/good?Expires=x&X-Amz-Date=2024&X-Amz-Expires=-1": "", "/good?X-Amz-Date=29990101T000000Z&X-Amz-Expires=3600": "",
		"/announced": library.CodeURLTooLarge, "/endless": library.CodeURLTooLarge,
		"/late": library.CodeURLTimeout, "/stuck": library.CodeURLTimeout,
		"/missing": library.CodeURLFetchFailed, "/forbidden": library.CodeURLFetchFailed, "/broken": library.CodeURLFetchFailed, "/short": library.CodeURLFetchFailed, "/nothing": library.CodeURLFetchFailed,
		"/server": library.CodeURLFetchFailed,
	} {
		began := time.Now()
		data, err := read(t, f, base+path, 500*time.Millisecond)
		if got := code(t, err); got != want {
			t.Errorf("%s is answered with %q (%v), want %q", path, got, err, want)
		}
		if want == "" && len(data) == 0 {
			t.Errorf("%s brings nothing", path)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%s took %s", path, took)
		}
	}
	if got := codeOf(t, f, "https://nowhere.example.com/"); got != library.CodeURLFetchFailed {
		t.Errorf("a name that nobody knows is answered with %q", got)
	}
	w.Roots = nil
	if got := codeOf(t, fetcherIn(t, w, "*.example.com"), base+"/good"); got != library.CodeURLFetchFailed {
		t.Errorf("a certificate that nobody trusts is answered with %q", got)
	}
}

func failure(out http.ResponseWriter, r *http.Request) {
	big := bytes.Repeat([]byte("x"), 1<<20)
	status := map[string]int{"/gone": 410, "/s3": 403, "/missing": 404, "/forbidden": 403, "/server": 503, "/nothing": 204}[r.URL.Path]
	switch r.URL.Path {
	case "/largest":
		_, _ = out.Write(big)
	case "/chunked", "/endless":
		for range map[string]int{"/chunked": 2, "/endless": 40}[r.URL.Path] {
			_, _ = out.Write(big[:100_000])
			_ = http.NewResponseController(out).Flush()
		}
	case "/announced":
		out.Header().Set("Content-Length", "1048577")
		_, _ = out.Write(big)
	case "/late":
		<-r.Context().Done()
	case "/stuck":
		_, _ = out.Write(big[:1000])
		_ = http.NewResponseController(out).Flush()
		<-r.Context().Done()
	case "/short":
		out.Header().Set("Content-Length", "1000")
		_, _ = out.Write(big[:10])
	case "/broken":
		panic(http.ErrAbortHandler)
	case "/s3":
		out.WriteHeader(status)
		fmt.Fprint(out, `<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>`)
	default:
		if status > 0 {
			out.WriteHeader(status)
			return
		}
		fmt.Fprint(out, "the file")
	}
}

func TestFetch_AHostWhoseURLsLapseIsUnderstood(t *testing.T) {
	for _, host := range []string{"replicate.delivery", "pbxt.replicate.delivery"} {
		if !lapses(host) {
			t.Errorf("%s does not lapse", host)
		}
	}
	if lapses("fal.media") || lapses("evil-replicate.delivery") {
		t.Error("other hosts do")
	}
}

func TestFetch_ACallerWhoLeavesIsNoTimeout(t *testing.T) {
	w := fetchtest.New(t)
	f := fetcherIn(t, w, "*.example.com")
	w.Resolve("a.example.com", public)
	w.Handler = http.HandlerFunc(failure)
	ctx, leave := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, leave)
	_, err := f.Get(ctx, fmt.Sprintf("https://a.example.com:%d/late", w.Port), time.Minute)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it is %v", err)
	}
	if !f.slots.TryAcquire(atOnce) {
		t.Error("its place is not free again")
	}
}
