package query

import (
	"slices"
	"strings"

	"vitrine/mappings"
)

// The fields metadata and metadata.key: what people keep with an asset. Every key is a
// field of its own in the language and none in the index, which holds pairs of keys and
// values: as many keys as people invent would else be as many fields of the index.

// The index fields of metadata.
const (
	metadataPairs  = "metadata"
	metadataKeys   = "metadata_keys"
	metadataValues = "metadata_values"
	metadataRanks  = "metadata_ranks"
)

// metadataNames are what stands before the key of a field.
var metadataNames = []string{"metadata.", "meta."}

// metadataKeyNames stands for the keys themselves where the name of one is completed. No
// query has it.
var metadataKeyNames = &Field{QueryField: mappings.QueryField{Name: "metadata key", Type: TypeName, Facet: &Facet{Kind: FacetTerms, Index: metadataKeys}}, Index: metadataKeys}

// NamesKey reports whether a completed value is the name of a field.
func (c Completion) NamesKey(f *Field) bool { return f == metadataKeyNames && c.Field == nil }

// metadataField returns the field of a key, such as metadata.client; nil for other names.
func metadataField(name string) *Field {
	key, ok := metadataKey(name)
	if !ok {
		return nil
	}
	f := *fieldIndex["metadata"]
	f.Name, f.Aliases, f.Key, f.Index = mappings.MetadataPrefix+key, nil, key, metadataPairs
	f.Doc, f.Example = "the values of one key of its own metadata", f.Name+":value"
	f.Facet = &Facet{Kind: FacetTerms, Index: metadataPairs}
	return &f
}

// metadataKey takes the key off a name, as the index has it.
func metadataKey(name string) (string, bool) {
	for _, before := range metadataNames {
		if len(name) > len(before) && strings.EqualFold(name[:len(before)], before) {
			key := mappings.MetadataKey(name[len(before):])
			return key, strings.Trim(key, ".") != "" && len(key) <= 4*mappings.MaxMetadataKey
		}
	}
	return "", false
}

// metadataKeyEnd returns where a name that begins at i ends when it is one of metadata
// with a key; i when it is not.
func metadataKeyEnd(s string, i int) int {
	for _, before := range metadataNames {
		if len(s)-i > len(before) && strings.EqualFold(s[i:i+len(before)], before) {
			end := i + len(before)
			for j, r := range s[end:] {
				if !mappings.IsMetadataKeyRune(r) {
					return end + j
				}
			}
			return len(s)
		}
	}
	return i
}

// metadataValue reads the value of metadata or of one of its keys. Of a key, what is
// written as a comparison or a range of numbers or dates is one.
func (r *reader) metadataValue(f *Field, t token) Node {
	v := strings.TrimFunc(t.text, isBlank)
	compares := strings.HasPrefix(v, ">") || strings.HasPrefix(v, "<")
	if t.kind == tokPhrase || !compares && !strings.Contains(v, "..") {
		return equal(f, fold(t.text), t)
	}
	switch {
	case v == "..", isComparison(v):
		return r.emptyValue(f, t)
	case f.Key == "" && compares:
		return r.badBecause(f, t, "a comparison needs a key", "metadata.key:"+v)
	case compares || f.Key != "" && r.isMetadataRange(f, v):
		return r.scalarValue(f, t)
	}
	return equal(f, fold(t.text), t)
}

// plainValue reports whether a value is read as itself without quotes.
func (f *Field) plainValue(v string) bool {
	if f.Type == TypeMetadata && (strings.Contains(v, "..") || strings.HasPrefix(v, ">") || strings.HasPrefix(v, "<")) {
		return false
	}
	return plainValue(v)
}

// isMetadataRange reports whether both ends are numbers, or dates, or open: other text
// may have two dots too.
func (r *reader) isMetadataRange(f *Field, v string) bool {
	lo, hi, _ := strings.Cut(v, "..")
	a, why1 := r.bound(f, lo)
	b, why2 := r.bound(f, hi)
	return why1 == "" && why2 == "" && (a != nil || b != nil) && (a == nil || b == nil || a.Start.IsZero() == b.Start.IsZero())
}

// metadataScalar reads a number or a date.
func (r *reader) metadataScalar(v string) (*Scalar, string) {
	limits := &Field{QueryField: mappings.QueryField{Min: -1e300, Max: 1e300}}
	if s, _ := decimal(limits, v); s != nil {
		return s, ""
	}
	if s, _ := r.date(v); s != nil {
		return s, ""
	}
	return nil, "write a number or a date such as 2024-05-01, a range a..b or a comparison such as >=a"
}

// metadata compiles a condition on metadata or on one of its keys.
func (f *Field) metadata(p *Pred) clause {
	switch p.Op {
	case Exists:
		if f.Key == "" {
			return exists(metadataKeys)
		}
		return term(metadataKeys, f.Name)
	case Equal:
		v := mappings.CanonicalNumber(p.Value)
		if f.Key == "" {
			return term(metadataValues, v)
		}
		return term(metadataPairs, f.Key+"="+v)
	case Like:
		if f.Key == "" {
			return likeKeyword(metadataValues, metadataValues, p.Pattern)
		}
		parts := slices.Clone(p.Pattern)
		parts[0] = f.Key + "=" + parts[0]
		return likeKeyword(metadataPairs, metadataPairs, parts)
	}
	return f.metadataRange(p)
}

// metadataRange compares ranks, which are in the order of the numbers and dates that
// they stand for.
func (f *Field) metadataRange(p *Pred) clause {
	var of string
	r := p.limits(func(s *Scalar, last bool) any {
		of = rank(s, last)
		return f.Key + "=" + of
	})
	low, high := mappings.RankBounds(of)
	if r["gt"] == nil && r["gte"] == nil {
		r["gte"] = f.Key + "=" + low
	}
	if r["lt"] == nil && r["lte"] == nil {
		r["lte"] = f.Key + "=" + high
	}
	return clause{"range": clause{metadataRanks: r}}
}

// rank returns the rank of a scalar; of a date, of its last millisecond or its first.
func rank(s *Scalar, last bool) string {
	switch {
	case s.Start.IsZero():
		return mappings.NumberRank(s.Number)
	case last:
		return mappings.DateRank(s.End)
	}
	return mappings.DateRank(s.Start)
}

// FacetValue returns a counted value as people know it: of a key of metadata, without
// the key.
func FacetValue(facet, counted string) string {
	if key, ok := metadataKey(facet); ok {
		return strings.TrimPrefix(counted, key+"=")
	}
	return counted
}
