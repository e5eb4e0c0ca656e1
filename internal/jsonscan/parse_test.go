package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vitrine/internal/randtest"
)

func parseWhole(text string) (Value, bool) {
	budget := MaxValues
	return ParseAll(text, &budget)
}

func TestParse_ReadsValidDocumentsAsEncodingJSONDoes(t *testing.T) {
	randtest.Check(t, func(t *rapid.T) {
		doc, err := json.Marshal(values().Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(doc))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		got, ok := parseWhole(string(doc))
		if diff := cmp.Diff(want, got.Any()); !ok || diff != "" {
			t.Fatalf("%s: %v %s", doc, ok, diff)
		}
		if again, ok := parseWhole(string(got.Encode(nil))); !ok || cmp.Diff(got, again) != "" {
			t.Fatalf("%s is written as %s", doc, got.Encode(nil))
		}
	})
}

func TestParse_ReadsWhatPythonWrites(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":NaN,"b":[-Infinity,Infinity,-NaN],"c":"NaN"}`: `{"a":null,"b":[null,null,null],"c":"NaN"}`,
		"\ufeff{\"a\":1}\x00\x00":                           `{"a":1}`,
		"{\"a\":\"line\nline\ttab\"}":                       `{"a":"line\nline\ttab"}`,
		`{"a":"\ud83d"}`:                                    `{"a":"` + "\ufffd" + `"}`,
		"{\"a\":\"\xff\"}":                                  `{"a":"` + "\ufffd" + `"}`,
		`[18446744073709551615,01,1e999]`:                   `[18446744073709551615,1,1e999]`,
	} {
		v, ok := parseWhole(text)
		if got := string(v.Encode(nil)); !ok || got != want {
			t.Errorf("%q read as %s, want %s", text, got, want)
		}
	}
}

func TestParse_KeepsNumbersOf64Bits(t *testing.T) {
	v, ok := parseWhole(`{"seed":18446744073709551615}`)
	if !ok || v.Get("seed").Text != "18446744073709551615" {
		t.Errorf("got %+v", v)
	}
}

func TestParse_RefusesWhatIsNotAWholeDocument(t *testing.T) {
	const doc = `{"a":[1,{"b":"c\"d"}],"e":null,"f":"g"}`
	for cut := range len(doc) {
		if v, ok := parseWhole(doc[:cut]); ok {
			t.Errorf("%s is read as %s", doc[:cut], v.Encode(nil))
		}
	}
	for _, text := range []string{`{} {}`, `{a:1}`, `{"a" 1}`, `[1 2]`, `"\x"`, `"\u12"`, `nul`, `--1`, strings.Repeat("[", 200_000)} {
		if v, ok := parseWhole(text); ok {
			t.Errorf("%.40s is read as %.40s", text, v.Encode(nil))
		}
	}
}

func TestParse_StopsWhenTheBudgetIsUsedUp(t *testing.T) {
	budget := 100
	if _, ok := ParseAll("["+strings.Repeat("1,", 99)+"1]", &budget); ok {
		t.Error("101 values fit a budget of 100")
	}
	budget = 101
	if _, ok := ParseAll("["+strings.Repeat("1,", 99)+"1]", &budget); !ok || budget != 0 {
		t.Errorf("101 values do not fit a budget of 101, of which %d are left", budget)
	}
}

func TestParse_LeavesWhatFollows(t *testing.T) {
	budget := MaxValues
	v, rest, ok := Parse(`{"a":1}, Next: 2`, &budget)
	if !ok || v.Get("a").Text != "1" || rest != ", Next: 2" {
		t.Errorf("got %v and %q", v, rest)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"a":[NaN,1.5e3,"x\u00e9\ud83d\ude00"],"b":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := parseWhole(text)
		if !ok {
			return
		}
		again, ok := parseWhole(string(v.Encode(nil)))
		if !ok {
			t.Fatalf("%q is written as %q, which cannot be read", text, v.Encode(nil))
		}
		if string(again.Encode(nil)) != string(v.Encode(nil)) {
			t.Fatalf("%q changes when it is written", text)
		}
	})
}
