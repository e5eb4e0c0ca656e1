package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(t *testing.T, method, path string) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "next", http.StatusTeapot) })
	Handler(next).ServeHTTP(w, httptest.NewRequest(method, path, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

func TestWeb_ThePageLoadsOnlyWhatIsBesideIt(t *testing.T) {
	res, page := get(t, http.MethodGet, "/")
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		t.Fatalf("the page answers %d %s", res.StatusCode, res.Header.Get("Content-Type"))
	}
	if csp := res.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") {
		t.Errorf("the policy is %q", csp)
	}
	links := regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(links) < 3 {
		t.Fatalf("only %d links found", len(links))
	}
	for _, l := range links {
		if res, _ := get(t, http.MethodGet, "/"+l[1]); res.StatusCode != 200 {
			t.Errorf("the page loads %s, which answers %d", l[1], res.StatusCode)
		}
	}
	if strings.Contains(page, "<script>") || regexp.MustCompile(` on\w+=`).MatchString(page) || strings.Contains(page, "style=") {
		t.Error("the page has inline code or styles, which its own policy forbids")
	}
}

// A prompt may hold anything; as markup it would run with the viewer's key.
func TestWeb_TheScriptNeverMakesMarkupOfText(t *testing.T) {
	_, script := get(t, http.MethodGet, "/app.js")
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("} {
		if strings.Contains(script, bad) {
			t.Errorf("the script uses %s", bad)
		}
	}
}

func TestWeb_EverythingElseIsPassedOn(t *testing.T) {
	for _, c := range [][2]string{{"GET", "/nope"}, {"POST", "/"}, {"GET", "/../web.go"}, {"GET", "/static/app.js"}} {
		if res, _ := get(t, c[0], c[1]); res.StatusCode != http.StatusTeapot {
			t.Errorf("%s %s answers %d", c[0], c[1], res.StatusCode)
		}
	}
}
