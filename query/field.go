package query

import (
	"sort"
	"strings"

	"vitrine/mappings"
)

// Type is what values a field takes and how they compare.
type Type = mappings.Type

// The types of fields.
const (
	TypeText       = mappings.TypeText
	TypeName       = mappings.TypeName
	TypePart       = mappings.TypePart
	TypeTag        = mappings.TypeTag
	TypeMIME       = mappings.TypeMIME
	TypeEnum       = mappings.TypeEnum
	TypeBool       = mappings.TypeBool
	TypeInt        = mappings.TypeInt
	TypeFloat      = mappings.TypeFloat
	TypeDate       = mappings.TypeDate
	TypeDimensions = mappings.TypeDimensions
	TypeAspect     = mappings.TypeAspect
	TypeHash       = mappings.TypeHash
	TypeChain      = mappings.TypeChain
	TypeParent     = mappings.TypeParent
	TypeNode       = mappings.TypeNode
	TypeParam      = mappings.TypeParam
	TypeCollection = mappings.TypeCollection
	TypeMetadata   = mappings.TypeMetadata
)

// Field is one field of the language, as mappings declares it. The grammar, the
// documentation, the hints in errors and the compiler read the row.
type Field struct {
	mappings.QueryField
	Index string // the index field that values are compared with
	Wild  string // its wildcard-typed copy, for parts and globs; empty: Index
	Key   string // of metadata.key: the key

	terms map[string]clause // of has: and is:, what each value compiles to
}

// Fields lists every field in the order documents show them.
func Fields() []*Field { return fieldTable }

// LookupField finds a field by name or alias without regard to case; nil when
// there is none.
func LookupField(name string) *Field {
	if f, ok := fieldIndex[name]; ok {
		return f
	}
	if f, ok := fieldIndex[strings.ToLower(name)]; ok {
		return f
	}
	return metadataField(name)
}

// Accepts describes the values a field takes, for people.
func (f *Field) Accepts() []string {
	switch f.Type {
	case TypeText:
		return []string{"a word", `a "phrase"`, "a glob such as port*"}
	case TypeEnum:
		return f.Values
	case TypeBool:
		return []string{"true", "false"}
	case TypeInt:
		return []string{"a whole number such as 20", "a range such as 20..30", "a comparison such as >=20"}
	case TypeFloat:
		return []string{"a number such as 0.8", "a range such as 0.5..0.9", "a comparison such as >0.8"}
	case TypeDate:
		return []string{"YYYY", "YYYY-MM", "YYYY-MM-DD", "today, yesterday", "7d, 2w, 3m, 1y: since so long ago", "a range such as 2024-01..2024-03", "a comparison such as >=2024-06-01"}
	case TypeDimensions:
		return []string{"WxH such as 1024x768", "a comparison such as >=1024x1024", "1024x*"}
	case TypeAspect:
		return []string{"W:H such as 16:9", "a number such as 1.78", "a range such as 1..2"}
	case TypeHash:
		return []string{"an asset_h (40 hex digits)"}
	case TypeChain:
		return []string{"true", "false", "an asset_h (40 hex digits)"}
	case TypeParent:
		return []string{"an asset_h (40 hex digits)", "part of a file name"}
	case TypeNode:
		return []string{"a node class such as KSampler", "an input such as KSampler.cfg=7"}
	case TypeParam:
		return []string{"key=value such as sampler=euler", "a bare value such as euler"}
	case TypeMIME:
		return []string{"a media type such as image/png", "image/*"}
	case TypeMetadata:
		return []string{"a whole value", "a glob such as ac*", "of a key: a range such as 4..10 or 2024-01..2024-03", "a comparison such as >=4"}
	case TypeCollection:
		return []string{"a path such as launch.hero", "a collection_h"}
	}
	return []string{"a value", `a "quoted value"`, "a glob such as abc*"}
}

var (
	fieldTable []*Field
	fieldIndex map[string]*Field
)

func init() {
	fieldTable = buildFieldTable()
	fieldIndex = make(map[string]*Field, 2*len(fieldTable))
	for _, f := range fieldTable {
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			if fieldIndex[name] != nil {
				panic("query: two fields are called " + name)
			}
			fieldIndex[name] = f
		}
	}
}

func fieldNames() []string {
	names := make([]string, len(fieldTable))
	for i, f := range fieldTable {
		names[i] = f.Name
	}
	sort.Strings(names)
	return names
}
