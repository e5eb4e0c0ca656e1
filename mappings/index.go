package mappings

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// Index is the form of the indices of one kind: what they are called, which fields their
// documents have and how those are analyzed. There is one value per kind.
type Index struct {
	Name    string // "assets"; lower case
	Version int    // counts incompatible changes; part of every index name
	Key     string // the field that names a document within its tenant, such as asset_h

	fields   map[string]json.RawMessage
	settings json.RawMessage
	expected IndexMapping
}

// AssetIndex is the index of assets.
var AssetIndex = sync.OnceValue(func() *Index {
	properties := map[string]Mapping{}
	for _, f := range Fields() {
		properties[f.Name] = f.Mapping
	}
	return NewIndex("assets", Version, "asset_h", properties, Sort{"tenant_id", "asc"}, Sort{"created", "desc"})
})

// Sort is a field that the documents of an index lie together by.
type Sort struct{ Field, Order string }

// NewIndex returns the form of an index. Every document has, beside the given fields, its
// tenant, its key, its version and whether it is deleted. Documents with other fields are refused.
// The analysis is that of assets, so that words are found alike everywhere. It panics on
// a mapping that is no JSON, which is a mistake in the program.
func NewIndex(name string, version int, key string, fields map[string]Mapping, sorted ...Sort) *Index {
	all := maps.Clone(fields)
	for field, m := range map[string]Mapping{"tenant_id": exact(), key: exact(), "doc_version": number("long"), "deleted": flag()} {
		if _, given := all[field]; !given {
			all[field] = m
		}
	}
	ix := &Index{Name: name, Version: version, Key: key, fields: map[string]json.RawMessage{}, settings: settingsOf(sorted)}
	for field, m := range all {
		ix.fields[field] = must(json.Marshal(m))
	}
	var body struct {
		Mappings IndexMapping `json:"mappings"`
	}
	if err := json.Unmarshal(ix.Body(), &body); err != nil {
		panic(err) // it was just made
	}
	ix.expected = body.Mappings
	return ix
}

//go:embed index.settings.json
var indexSettings []byte

// settingsOf returns the settings of an index that is sorted by some fields.
func settingsOf(sorted []Sort) json.RawMessage {
	var body struct {
		Settings struct {
			Index    map[string]any  `json:"index"`
			Analysis json.RawMessage `json:"analysis"`
		} `json:"settings"`
	}
	if err := json.Unmarshal(indexSettings, &body); err != nil {
		panic(err) // the file is part of the program
	}
	if len(sorted) > 0 {
		var fields, orders []string
		for _, s := range sorted {
			fields, orders = append(fields, s.Field), append(orders, s.Order)
		}
		body.Settings.Index["sort"] = map[string]any{"field": fields, "order": orders}
	}
	return must(json.Marshal(body.Settings))
}

func must(b []byte, err error) json.RawMessage {
	if err != nil {
		panic(err) // what is written is part of the program
	}
	return b
}

// indexBody is the body for creating an index.
type indexBody struct {
	Aliases  map[string]any  `json:"aliases,omitempty"`
	Settings json.RawMessage `json:"settings"`
	Mappings struct {
		Meta       any                        `json:"_meta,omitempty"`
		Dynamic    string                     `json:"dynamic"`
		Properties map[string]json.RawMessage `json:"properties"`
	} `json:"mappings"`
}

func (ix *Index) body() (b indexBody) {
	b.Settings = ix.settings
	b.Mappings.Dynamic, b.Mappings.Properties = "strict", maps.Clone(ix.fields)
	return b
}

// Body returns the body for creating an index: settings and mapping, without any vector field.
func (ix *Index) Body() []byte { return must(json.Marshal(ix.body())) }

// Create returns the body for creating an index that is called name, says m of itself,
// has its Writer alias, and a field vec_<config> per given configuration; see WithVectors.
// Without a name there is no alias.
func (ix *Index) Create(name string, m Meta, vectors ...Vector) ([]byte, error) {
	body := ix.body()
	if name != "" {
		body.Aliases = map[string]any{Writer(name): map[string]any{}}
		body.Mappings.Meta = MetaBody(m)["_meta"]
	}
	for _, v := range vectors {
		field, err := VectorProperty(v)
		if err != nil {
			return nil, err
		}
		name := VectorField(v.Config)
		if _, twice := body.Mappings.Properties[name]; twice {
			return nil, fmt.Errorf("embedding configuration %q is named twice", v.Config)
		}
		body.Mappings.Properties[name] = field
		body.Mappings.Properties[EmbeddedField] = json.RawMessage(`{"type": "keyword"}`)
	}
	return json.Marshal(body)
}

// Mismatch returns what keeps documents and searches of this version from working
// with a mapping, in words, or "" when nothing does. Fields that it has beyond the
// expected ones are no misfit, and neither are those of MissingFields.
func (ix *Index) Mismatch(d IndexMapping) string {
	if d.Dynamic != ix.expected.Dynamic {
		return "its mapping takes any field"
	}
	for _, name := range []string{"tenant_id", ix.Key, "doc_version", "deleted"} {
		if _, ok := d.Properties[name]; !ok {
			return "its mapping has no field " + name
		}
	}
	return mismatch("", ix.expected.Properties, d.Properties)
}

// mismatch compares the fields that both have.
func mismatch(prefix string, want, have map[string]Property) string {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w := want[name]
		h, ok := have[name]
		if !ok {
			continue
		}
		if w.Type != h.Type {
			return fmt.Sprintf("its field %s%s is of type %q instead of %q", prefix, name, h.Type, w.Type)
		}
		if m := mismatch(prefix+name+".", w.Fields, h.Fields); m != "" {
			return m
		}
	}
	return ""
}

// MissingFields returns the mappings of the fields that an index of an earlier release does
// not have, by name; none for an index of this one.
func (ix *Index) MissingFields(d IndexMapping) map[string]json.RawMessage {
	lacks := map[string]json.RawMessage{}
	for name, raw := range ix.fields {
		if _, ok := d.Properties[name]; !ok {
			lacks[name] = raw
		}
	}
	return lacks
}
