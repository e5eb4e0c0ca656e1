package jsonscan

import (
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"vitrine/internal/randtest"
)

// TestAppendWritesWhatEncodingJSONWrites draws trees of all that a request may hold.
func TestAppendWritesWhatEncodingJSONWrites(t *testing.T) {
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
		if got, err := Append(nil, v); err != nil || string(got) != string(want) {
			t.Fatalf("got %s, %v\nwant %s", got, err, want)
		}
	})
}

func TestAppendRefusesWhatJSONCannotHold(t *testing.T) {
	for _, v := range []any{math.NaN(), map[string]any{"a": []any{func() {}}}} {
		if out, err := Append(nil, v); err == nil {
			t.Errorf("%T gave %s", v, out)
		}
	}
}
