package jsonscan

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vitrine/internal/randtest"
)

// whole takes the next value apart as far as it goes.
func whole(r *Reader) (any, error) {
	r.space()
	switch {
	case r.at == len(r.s):
		return nil, ErrNotJSON
	case r.s[r.at] == '{':
		out := map[string]any{}
		err := r.Object(func(key string) (err error) { out[key], err = whole(r); return err })
		return out, err
	case r.s[r.at] == '[':
		out := []any{}
		err := r.Array(func() error {
			v, err := whole(r)
			out = append(out, v)
			return err
		})
		return out, err
	case r.s[r.at] == '"':
		return r.Text()
	case r.Null():
		return nil, nil
	case r.s[r.at] == 't' || r.s[r.at] == 'f':
		return r.Bool()
	}
	return r.Float()
}

// values draws JSON values that hold what confuses readers.
func values() *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any { return value(t, 4) })
}

func value(t *rapid.T, depth int) any {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab\"\\{}[],: \n\x00é猫😀")))
	kind := rapid.IntRange(0, 5)
	if depth == 0 {
		kind = rapid.IntRange(0, 3)
	}
	switch kind.Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
	case 3:
		return text.Draw(t, "text")
	case 4:
		list := make([]any, rapid.IntRange(0, 4).Draw(t, "length"))
		for i := range list {
			list[i] = value(t, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		object[text.Draw(t, "key")] = value(t, depth-1)
	}
	return object
}

func TestJsonscan_ADocumentIsReadAsEncodingJSONReadsIt(t *testing.T) {
	randtest.Check(t, func(t *rapid.T) {
		want := values().Draw(t, "value")
		doc, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			var b bytes.Buffer
			if err := json.Indent(&b, doc, " ", "\t"); err != nil {
				t.Fatal(err)
			}
			doc = b.Bytes()
		}
		got, err := whole(New(doc))
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s: %s", doc, diff)
		}
	})
}

func TestJsonscan_WhatNobodyTakesIsPassedOver(t *testing.T) {
	r := New([]byte(`{"a":{"x":[1,"}",{"y":"\\\""}]},"b":"wanted","c":[[]],"d":null}`))
	got := ""
	if err := r.Object(func(key string) (err error) {
		if key == "b" {
			got, err = r.Text()
		}
		return err
	}); err != nil || got != "wanted" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestJsonscan_AnEndTooEarlyIsNoticed(t *testing.T) {
	const doc = `{"a":[1,{"b":"c\"d"}],"e":null,"f":"g"}`
	for cut := range len(doc) {
		if v, err := whole(New([]byte(doc[:cut]))); err == nil {
			t.Errorf("%s is read as %v", doc[:cut], v)
		}
	}
}
