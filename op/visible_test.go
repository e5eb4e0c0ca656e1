package op_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/op"
)

// shownOutput has texts out of files, and documents as they were found.
type shownOutput struct {
	Text   string            `json:"text"`
	List   []string          `json:"list"`
	Names  map[string]string `json:"names"`
	Inner  *shownInner       `json:"inner,omitempty"`
	Number float64           `json:"number"`
	Free   map[string]any    `json:"free"`
}

type shownInner struct {
	Raw  json.RawMessage `json:"raw"`
	Note *string         `json:"note"`
}

// hidden is text with the characters that matter, and those that are near them.
func hidden() *rapid.Generator[string] {
	some := []rune{'a', '"', '\\', '\n', '\t', '\b', '\f', 0, 1, 0x1f, 0x7f, 0x80, 0x85, 0x9f, 0xa0, 0xe9, 0x2014, 0x2028, 0x202a, 0x202e, 0x2065, 0x2066, 0x2069, 0x206a, 0xff, 0x1f98a, '{', ']', ','}
	return rapid.StringOf(rapid.SampledFrom(some))
}

// TestEncodeOutput_LeavesOutWhatReadersDoNotSee of texts, and nothing else.
func TestEncodeOutput_LeavesOutWhatReadersDoNotSee(t *testing.T) {
	randtest.Check(t, func(t *rapid.T) {
		note := hidden().Draw(t, "note")
		raw, err := json.Marshal(map[string]any{"x": hidden().Draw(t, "raw")})
		if err != nil {
			t.Fatal(err)
		}
		in := shownOutput{Text: hidden().Draw(t, "text"), List: rapid.SliceOf(hidden()).Draw(t, "list"), Names: map[string]string{"k": hidden().Draw(t, "named")},
			Inner: &shownInner{Raw: raw, Note: &note}, Number: rapid.Float64().Draw(t, "number"), Free: map[string]any{"f": hidden().Draw(t, "free")}}
		encoded, err := op.EncodeOutput(in)
		if err != nil {
			t.Fatal(err)
		}
		var got shownOutput
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatalf("%v: %q", err, encoded)
		}
		want := in
		want.Text, want.Names = library.VisibleText(in.Text), map[string]string{"k": library.VisibleText(in.Names["k"])}
		want.List = nil
		for _, s := range in.List {
			want.List = append(want.List, library.VisibleText(s))
		}
		if in.List != nil && want.List == nil {
			want.List = []string{}
		}
		seen := library.VisibleText(note)
		want.Inner = &shownInner{Raw: got.Inner.Raw, Note: &seen}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v is shown as %+v, want %+v", in, got, want)
		}
		var before, after any
		if json.Unmarshal(raw, &before) != nil || json.Unmarshal(got.Inner.Raw, &after) != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("raw JSON %s is shown as %s", raw, got.Inner.Raw)
		}
		if bytes.ContainsRune(encoded, '\n') || strings.Contains(string(encoded), "\u202e") && !strings.Contains(string(raw)+in.Free["f"].(string), "\u202e") {
			t.Fatalf("%q", encoded)
		}
	})
}
