package mappings

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gcmp "github.com/google/go-cmp/cmp"

	"vitrine/library"
)

func properties(t *testing.T, body []byte) map[string]any {
	t.Helper()
	var b struct {
		Mappings struct {
			Dynamic    string         `json:"dynamic"`
			Properties map[string]any `json:"properties"`
		} `json:"mappings"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	if b.Mappings.Dynamic != "strict" {
		t.Errorf("dynamic is %q, want strict: an unknown key must be refused", b.Mappings.Dynamic)
	}
	return b.Mappings.Properties
}

func TestFields_EveryMemberOfADocumentHasARowAndEveryRowAMember(t *testing.T) {
	rows := map[string]Field{}
	for _, f := range Fields() {
		if _, twice := rows[f.Name]; twice {
			t.Errorf("%s has two rows", f.Name)
		}
		rows[f.Name] = f
	}
	members := map[string]bool{}
	typ := reflect.TypeFor[Document]()
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		members[name] = true
		if _, ok := rows[name]; !ok {
			t.Errorf("Document.%s is written as %q, which has no row", typ.Field(i).Name, name)
		}
	}
	mapped := properties(t, Assets())
	for name, f := range rows {
		if members[name] == f.Derived {
			t.Errorf("%s: derived is %v, and a member of Document is %v", name, f.Derived, members[name])
		}
		if mapped[name] == nil {
			t.Errorf("the mapping lacks %s", name)
		}
	}
	if len(mapped) != len(rows) {
		t.Errorf("the mapping has %d fields, the table %d", len(mapped), len(rows))
	}
}

// indexTypes has the types of index fields that values of the language are compared with.
var indexTypes = map[Type]string{
	TypeText: "text", TypeName: "keyword", TypePart: "keyword", TypeTag: "keyword", TypeMIME: "keyword", TypeEnum: "keyword", TypeBool: "boolean",
	TypeInt: "integer long short unsigned_long", TypeFloat: "float", TypeDate: "date", TypeDimensions: "keyword", TypeAspect: "float", TypeHash: "keyword",
	TypeChain: "keyword", TypeParent: "keyword", TypeNode: "keyword", TypeParam: "keyword", TypeCollection: "keyword", TypeMetadata: "keyword",
}

func TestFields_NoNameIsTakenTwice(t *testing.T) {
	taken := map[string]string{}
	claim := func(kind, name, by string) {
		if other := taken[kind+name]; name != "" && other != "" {
			t.Errorf("%s and %s are both called %s as a %s", other, by, name, kind)
		}
		taken[kind+name] = by
	}
	for _, f := range Fields() {
		claim("sort key", f.Sort, f.Name)
		claim("value of has:", f.Has, f.Name)
		for _, q := range f.Query {
			for _, name := range append([]string{q.Name}, q.Aliases...) {
				claim("field of the language", name, f.Name)
			}
		}
	}
}

func TestFields_WhatTheLanguageSaysOfAFieldFitsItsMapping(t *testing.T) {
	types := map[string]string{}
	for _, f := range Fields() {
		types[f.Name] = f.Mapping.Type
	}
	for _, f := range Fields() {
		if f.Sort != "" && f.Mapping.Type == "text" && f.Sorted() == f.Name {
			t.Errorf("%s: nothing sorts by analyzed text", f.Name)
		}
		for _, q := range f.Query {
			if !slices.Contains(strings.Fields(indexTypes[q.Type]), f.Mapping.Type) {
				t.Errorf("%s: values of a field of type %d are not compared with an index field of type %s", q.Name, q.Type, f.Mapping.Type)
			}
			if q.Type == TypePart && f.Wild() == "" {
				t.Errorf("%s: parts of its values need the copy .%s", q.Name, wildField)
			}
			if q.Exists != "" && types[q.Exists] != "boolean" {
				t.Errorf("%s: %s, which says whether there is one, is no boolean", q.Name, q.Exists)
			}
			if !slices.Contains(Groups, q.Group) {
				t.Errorf("%s: no group is called %q", q.Name, q.Group)
			}
			if q.Facet == nil {
				continue
			}
			if typ := types[cmp.Or(q.Facet.Index, f.Name)]; typ == "" || typ == "text" {
				t.Errorf("%s: its values cannot be counted", q.Name)
			}
		}
	}
}

func TestMappings_DocumentSurvivesTheIndex(t *testing.T) {
	at := time.Date(2024, 1, 31, 12, 0, 0, 0, time.UTC)
	seed := uint64(18446744073709551615)
	d := Document{
		TenantID: "t", AssetH: "a", DocVersion: 3, Title: "Red cat", Tags: []string{"Red_Hair"}, Status: library.StatusDraft,
		Created: &at, Seed: &seed, Chain: true, Vectors: map[string][]float32{"hash_256": {0.5, 1}, "b": {2}},
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var got Document
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := gcmp.Diff(d, got); diff != "" {
		t.Errorf("after writing and reading (-want +got):\n%s", diff)
	}
}

func TestMappings_TombstoneCarriesNothingOfTheAsset(t *testing.T) {
	b, err := json.Marshal(Document{TenantID: "t", AssetH: "a", DocVersion: 9, Deleted: true, Title: "secret", Vectors: map[string][]float32{"x": {1}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), `{"asset_h":"a","deleted":true,"doc_version":9,"tenant_id":"t"}`; got != want {
		t.Errorf("tombstone = %s, want %s", got, want)
	}
}

func TestMappings_WithVectors(t *testing.T) {
	b, err := WithVectors(Vector{"a_1", 256}, Vector{"b", 3})
	if err != nil {
		t.Fatal(err)
	}
	p := properties(t, b)
	if p["vec_a_1"] == nil || p["vec_b"] == nil || p[EmbeddedField] == nil {
		t.Errorf("vector fields are missing: %v, %v, %v", p["vec_a_1"], p["vec_b"], p[EmbeddedField])
	}
	if len(p) != len(properties(t, Assets()))+3 {
		t.Errorf("adding two vectors changed the other fields")
	}
	for _, bad := range [][]Vector{{{"", 3}}, {{"A", 3}}, {{"a", 0}}, {{"a", 16001}}, {{"a", 3}, {"a", 3}}} {
		if _, err := WithVectors(bad...); err == nil {
			t.Errorf("WithVectors(%v) was accepted", bad)
		}
	}
}

func TestMappings_IndexNames(t *testing.T) {
	n := Names("t1-")
	if n.Alias() != "t1-assets" || n.Index(7) != "t1-assets-v5-7" {
		t.Errorf("alias %q, index %q", n.Alias(), n.Index(7))
	}
	if v, g, ok := n.Parse(n.Index(7)); v != 5 || g != 7 || !ok {
		t.Errorf("Parse(%q) = %d, %d, %v", n.Index(7), v, g, ok)
	}
	for _, other := range []string{"assets-v1-7", "t1-assets", "t1-assets-v1", "t1-assets-vx-1"} {
		if _, _, ok := n.Parse(other); ok {
			t.Errorf("Parse(%q) was accepted", other)
		}
	}
}

func TestMappings_CanonicalNumber(t *testing.T) {
	for in, want := range map[string]string{
		"7": "7", "7.0": "7", "7.50": "7.5", "-1.0": "-1", "euler": "euler", "": "", "1.2.3": "1.2.3",
		"18446744073709551615": "18446744073709551615", "007": "7",
	} {
		if got := CanonicalNumber(in); got != want {
			t.Errorf("CanonicalNumber(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestDeclared_MisfitTellsAnIndexOfOursFromAnyOther(t *testing.T) {
	read := func(edit func(string) string) IndexMapping {
		t.Helper()
		body, err := Create("x", Meta{Incomplete: true}, Vector{"a_1", 3})
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			Mappings IndexMapping `json:"mappings"`
		}
		if err := json.Unmarshal([]byte(edit(string(body))), &out); err != nil {
			t.Fatal(err)
		}
		return out.Mappings
	}
	replace := func(old, fresh string) func(string) string {
		return func(body string) string {
			out := strings.Replace(body, old, fresh, 1)
			if out == body {
				t.Fatalf("the mapping has no %s", old)
			}
			return out
		}
	}
	own := read(func(body string) string { return body })
	if AssetIndex().Mismatch(own) != "" || len(AssetIndex().MissingFields(own)) != 0 || !own.Meta.Vitrine.Incomplete {
		t.Errorf("our own mapping: misfit %q, lacks %v, meta %+v", AssetIndex().Mismatch(own), AssetIndex().MissingFields(own), own.Meta)
	}
	if got := own.Vectors(); len(got) != 1 || got[0] != "a_1" {
		t.Errorf("its vectors are %v", got)
	}
	for name, edit := range map[string]func(string) string{
		"any field is taken":         replace(`"dynamic":"strict"`, `"dynamic":"true"`),
		"no tenant":                  replace(`"tenant_id":`, `"tenant":`),
		"a hash that is analyzed":    replace(`"asset_h":{"type":"keyword"}`, `"asset_h":{"type":"text"}`),
		"another type of a subfield": replace(`"w":{"type":"wildcard"`, `"w":{"type":"keyword"`),
	} {
		if AssetIndex().Mismatch(read(edit)) == "" {
			t.Errorf("%s: it passes for ours", name)
		}
	}
	older := read(replace(`"child_count":`, `"count_of_children":`))
	if lacks := AssetIndex().MissingFields(older); AssetIndex().Mismatch(older) != "" || len(lacks) != 1 || lacks["child_count"] == nil {
		t.Errorf("an index of an earlier release: misfit %q, lacks %v", AssetIndex().Mismatch(older), lacks)
	}
}
