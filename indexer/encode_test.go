package indexer

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/mappings"
)

func TestEncode_ADocumentIsWrittenAsEncodingJSONWritesIt(t *testing.T) {
	t.Parallel()
	randtest.Check(t, func(t *rapid.T) {
		d := anyDocument(t)
		want, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		got := appendDocument(nil, &d)
		var a, b any
		if err := json.Unmarshal(got, &a); err != nil {
			t.Fatalf("not JSON: %v\n%s", err, got)
		}
		if err := json.Unmarshal(want, &b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b, a); diff != "" {
			t.Fatalf("-encoding/json +ours:\n%s", diff)
		}
	})
}

// anyDocument fills every field by reflection, so that a field added to Document
// and forgotten here cannot stay unnoticed.
func anyDocument(t *rapid.T) mappings.Document {
	var d mappings.Document
	v := reflect.ValueOf(&d).Elem()
	for i := range v.NumField() {
		fill(t, v.Field(i), v.Type().Field(i).Name)
	}
	d.Deleted = rapid.IntRange(0, 9).Draw(t, "deleted") == 0
	return d
}

func fill(t *rapid.T, v reflect.Value, name string) {
	if rapid.Bool().Draw(t, name+"?") {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.String(), rapid.Just("a \"b\" \\ \n \t \x01 <é猫> \xff")).Draw(t, name))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, name))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, name))
	case reflect.Float64, reflect.Float32:
		v.SetFloat(rapid.Float64Range(-1e9, 1e9).Draw(t, name))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, name))
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[library.RawJSON]() {
			v.SetBytes([]byte(`{"a": [1, "}"]}`))
			return
		}
		n := rapid.IntRange(0, 3).Draw(t, name)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i), name)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		if v.Type() == reflect.TypeFor[*time.Time]() {
			v.Elem().Set(reflect.ValueOf(time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, name)).UTC()))
			return
		}
		fill(t, v.Elem(), name)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), v.Type().Field(i).Name)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]string]() {
			v.Set(reflect.ValueOf(rapid.MapOfN(rapid.String(), rapid.String(), 0, 4).Draw(t, name)))
			return
		}
		v.Set(reflect.ValueOf(map[string][]float32{"a": {0.5, -1e-9}, "b_2": {1}}))
	default:
		t.Fatalf("%s is of a kind this test does not fill: %s", name, v.Kind())
	}
}

func TestEncode_WhatJSONCannotHoldIsLeftOut(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	d := mappings.Document{Aspect: &nan}
	if got := appendDocument(nil, &d); !json.Valid(got) {
		t.Errorf("not JSON: %s", got)
	}
}

func BenchmarkEncode(b *testing.B) {
	d := typicalDocument()
	b.Run("ours", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf = appendDocument(buf[:0], &d)
		}
		b.SetBytes(int64(len(buf)))
	})
	b.Run("encoding/json", func(b *testing.B) {
		for b.Loop() {
			buf, _ := json.Marshal(d)
			b.SetBytes(int64(len(buf)))
		}
	})
}
