package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/service/servicetest"
)

// TestHostileInput_ThatOnceFailedIsAnswered holds what the random test has found.
func TestHostileInput_ThatOnceFailedIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := func(s string, n int) string { return strings.Repeat(s, n) }
	for _, text := range []string{ // longer than the regular expression that the index takes, or a class of characters in it
		long("-", 492), "x" + long("-", 492), "tag:" + long("-", 600), long("é", 1300), long("🦊", 900), "model:" + long("狐", 900), "model:" + long("ab", 1900),
		`tag:"` + long("a ", 600), "ℬℂℍ", "model:ℂ" + long("狐", 30), "mime:" + long(".", 500),
	} {
		w.attack(attack{what: "SuggestQuery", method: http.MethodGet, path: "/api/v1/query/suggest?query=" + url.QueryEscape(text), header: http.Header{}})
	}
	for _, c := range []struct{ mode, query string }{ // patterns that the index cannot afford
		{"smart", "YQ==" + long(".*", 300)}, {"smart", long("ab*", 100)}, {"partial", long("b", 600)}, {"partial", long("a ", 400)}, {"smart", `model:"` + long("a ", 60) + `"`},
		{"smart", "model:" + long("b", 600)}, {"exact", long("b*", 8) + long("b", 600)}, {"fuzzy", long("ab", 900)}, {"boolean", "title:*" + long("b", 1000)},
	} {
		for _, path := range []string{"/api/v1/assets/search", "/api/v1/assets/facets"} {
			args := map[string]any{"query": c.query, "search_mode": c.mode}
			if strings.HasSuffix(path, "facets") {
				args["facets"] = []string{"tool"}
			}
			w.attack(attack{what: c.mode, method: http.MethodPost, path: path, header: http.Header{}, body: servicetest.JSON(args)})
		}
	}
	for _, path := range []string{"/api/v1/assets/a.png%00.exe/thumbnail?size=256", "/api/v1/assets/%00/download", "/api/v1/assets/%ff%fe/thumbnail", "/files/%00/%00", "/previews/%00"} {
		w.attack(attack{what: "files", method: http.MethodGet, path: path, header: http.Header{}})
	}
}

// TestSuggestQuery_CompletesWhatIsLongerThanTheIndexCompares: the first hundred
// characters are compared by the index, the rest here.
func TestSuggestQuery_CompletesWhatIsLongerThanTheIndexCompares(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tag := strings.Repeat("wide ", 18) + "angle" // 95 characters
	model := strings.Repeat("very-", 24) + "long"
	w.StoreFile("", "wide.png", "image/png", withText(picture(60, ""), "parameters", "a lighthouse\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 42, Size: 48x32, Model: "+model+", Version: v1.10.1"), tag)
	w.Search("", "tag:\""+tag+"\"", w.StoreFile("", "after.png", "image/png", picture(61, "")).IndexToken)
	for typed, want := range map[string]string{`tag:"` + tag[:60]: tag, "model:" + model[:110]: model} {
		var out struct {
			Suggestions []struct {
				Value string `json:"value"`
			} `json:"suggestions"`
		}
		w.Call(http.MethodGet, "/api/v1/query/suggest?query="+url.QueryEscape(typed), nil, &out)
		if len(out.Suggestions) != 1 || out.Suggestions[0].Value != want {
			t.Errorf("%q is completed by %v, want %q", typed, out.Suggestions, want)
		}
	}
	var none struct {
		Suggestions []any `json:"suggestions"`
	}
	w.Call(http.MethodGet, "/api/v1/query/suggest?query="+url.QueryEscape("model:"+model[:110]+"x"), nil, &none)
	if len(none.Suggestions) != 0 {
		t.Errorf("what no model is called is completed by %v", none.Suggestions)
	}
}
