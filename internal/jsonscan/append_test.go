package jsonscan

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"vitrine/internal/randtest"
)

// TestAppend_WritesTheValueThatEncodingJSONWrites draws trees of all that a request may
// hold. Only escapes may differ, so the text is compared after encoding/json has read
// it and written it again.
func TestAppend_WritesTheValueThatEncodingJSONWrites(t *testing.T) {
	text := rapid.StringOf(rapid.RuneFrom([]rune("aZ 0\"\\<>&\n\x00\x7fé猫🦊\u2028")))
	plain := rapid.OneOf(
		rapid.Just[any](nil), text.AsAny(), rapid.Bool().AsAny(), rapid.Int().AsAny(), rapid.Int64().AsAny(), rapid.Uint64().AsAny(),
		rapid.Float64Range(-1e30, 1e30).AsAny(), rapid.SliceOfN(rapid.Float32Range(-1, 1), 0, 3).AsAny(), rapid.SliceOfN(text, 0, 3).AsAny(),
		rapid.SampledFrom([]any{"\xff\xfe", json.RawMessage(`{"a": 1}`), []string(nil), map[string]any(nil), struct{ A int }{1}}),
	)
	var tree func(depth int) *rapid.Generator[any]
	tree = func(depth int) *rapid.Generator[any] {
		if depth == 0 {
			return plain
		}
		object := rapid.MapOfN(text, tree(depth-1), 0, 4)
		return rapid.OneOf(plain, object.AsAny(), rapid.SliceOfN(tree(depth-1), 0, 4).AsAny(), rapid.SliceOfN(object, 0, 3).AsAny())
	}
	randtest.Check(t, func(t *rapid.T) {
		v := tree(4).Draw(t, "tree")
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Append(nil, v)
		if err != nil || !utf8.Valid(got) || rewritten(t, got) != rewritten(t, want) {
			t.Fatalf("got %s, %v\nwant %s", got, err, want)
		}
	})
}

// rewritten returns JSON as encoding/json writes what it read, in the order of the text.
func rewritten(t *rapid.T, text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out []byte
	for {
		token, err := d.Token()
		if err == io.EOF {
			return string(out)
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		b, err := json.Marshal(token)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out = append(append(out, b...), '\n')
	}
}

func TestAppend_RefusesWhatJSONCannotHold(t *testing.T) {
	for _, v := range []any{math.NaN(), map[string]any{"a": []any{func() {}}}} {
		if out, err := Append(nil, v); err == nil {
			t.Errorf("%T gave %s", v, out)
		}
	}
}
