package query

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestExactMatch_ANameIsTheWholeTextAsReadOrAsTyped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"without marks, once":       {"red cat", `{"term":{"title.raw":"red cat"}}`},
		"a colon":                   {"Kevu: cat study", `{"terms":{"title.raw":["Kevu cat study","Kevu: cat study"]}}`},
		"parentheses":               {" Kevu & the cat (final) ", `{"terms":{"title.raw":["Kevu the cat final","Kevu \u0026 the cat (final)"]}}`},
		"what would negate a word":  {"cat -two", `{"terms":{"title.raw":["cat","cat -two"]}}`},
		"what is only a filter yet": {"tag:cat", ""},
	} {
		s, err := Compile(parsed(t, c.text), Request{Tenant: tenantA, Mode: Smart})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(s.Query)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(raw); c.want != "" && !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "title.raw") {
			t.Errorf("%s: %q compiles to %s, without %s", name, c.text, got, c.want)
		}
	}
}
