package mappings

import "math"

// Field declares one field of the index: how it is mapped, and what the search
// language, orders and facets call it. The table of document.go has one per field.
type Field struct {
	Name    string  // in the index, and in the JSON of Document
	Mapping Mapping // what the index is told of it
	Derived bool    // no member of Document holds it: it follows from others
	Query   []QueryField
	Sort    string // its name in orders of searches; empty: nothing is sorted by it
	Has     string // the value of has: that asks whether a document has one; of a boolean, whether it is true
}

// Mapping is the mapping of a field as OpenSearch takes it.
type Mapping struct {
	Type                string             `json:"type"`
	CopyTo              string             `json:"copy_to,omitempty"`
	Norms               *bool              `json:"norms,omitempty"`
	Analyzer            string             `json:"analyzer,omitempty"`
	SearchAnalyzer      string             `json:"search_analyzer,omitempty"`
	Normalizer          string             `json:"normalizer,omitempty"`
	IgnoreAbove         int                `json:"ignore_above,omitempty"`
	EagerGlobalOrdinals bool               `json:"eager_global_ordinals,omitempty"`
	Index               *bool              `json:"index,omitempty"`
	DocValues           *bool              `json:"doc_values,omitempty"`
	Fields              map[string]Mapping `json:"fields,omitempty"`
}

// QueryField declares one field of the search language. Its values are compared with
// the index field that it is declared with.
type QueryField struct {
	Name    string   // as documented; lower case
	Aliases []string // other accepted spellings
	Group   string   // heading it is documented under
	Type    Type
	Doc     string   // one clause, lower case, without a full stop
	Example string   // a whole term
	Values  []string // of TypeEnum, in canonical spelling
	Min     float64  // of TypeInt and TypeFloat
	Max     float64
	Exists  string // the index field whose presence means "has a value"; empty: the one it is declared with
	Facet   *Facet // how to count its values; nil: it cannot be counted
}

// Type is what values a field of the language takes and how they compare.
type Type uint8

// The types of fields.
const (
	TypeText       Type = iota // prose: words, phrases, word globs
	TypeName                   // a whole value, or a glob
	TypePart                   // any part of a value, or a glob
	TypeTag                    // a whole value; underscores read as blanks
	TypeMIME                   // a media type, image/*, or png
	TypeEnum                   // one of Values
	TypeBool                   // true or false
	TypeInt                    // a whole number
	TypeFloat                  // a decimal number
	TypeDate                   // YYYY, YYYY-MM, YYYY-MM-DD, today, 7d
	TypeDimensions             // 1024x768
	TypeAspect                 // 16:9 or 1.78
	TypeHash                   // an asset_h, 40 hex digits
	TypeChain                  // true, false or an asset_h
	TypeParent                 // an asset_h or part of a file name
	TypeNode                   // a node class, or Class.input=value
	TypeParam                  // key=value or a bare value
	TypeCollection             // a collection path or hash
	TypeMetadata               // a value of an asset's own metadata, whole or a glob; of one key also a range
)

// The groups that fields of the language are documented under, in their order.
const (
	GroupCore       = "Core"
	GroupDates      = "Dates"
	GroupGeneration = "Generation"
	GroupModels     = "Models"
	GroupGraphTool  = "Graph tool (ComfyUI and its kin)"
	GroupImageTool  = "Image tool (Midjourney and its kin)"
	GroupRelations  = "Relations and states"
)

// Groups lists the groups in the order of the documentation.
var Groups = []string{GroupCore, GroupDates, GroupGeneration, GroupModels, GroupGraphTool, GroupImageTool, GroupRelations}

// FacetKind is how the values of a facet are counted.
type FacetKind uint8

// The kinds of facets.
const (
	FacetTerms     FacetKind = iota // one bucket per value
	FacetHistogram                  // buckets of Interval from 0 to Max
	FacetCalendar                   // by year, month or day
	FacetShapes                     // portrait, square, landscape
)

// Facet is how the values of a field are counted.
type Facet struct {
	Kind     FacetKind
	Index    string  // the index field; empty in a declaration: the one it is declared with
	Interval float64 // of FacetHistogram
	Max      float64
}

// The facets of declarations.
func terms() *Facet    { return &Facet{Kind: FacetTerms} }
func calendar() *Facet { return &Facet{Kind: FacetCalendar} }
func shapes() *Facet   { return &Facet{Kind: FacetShapes} }

func histogram(interval, max float64) *Facet {
	return &Facet{Kind: FacetHistogram, Interval: interval, Max: max}
}

// termsOf counts the values of another field than the one that is compared.
func termsOf(index string) *Facet { return &Facet{Kind: FacetTerms, Index: index} }

// Bounds of whole numbers and of settings.
const (
	maxInt     = math.MaxInt32
	maxSetting = 1e6
)

// exact is a keyword that is compared as it is: a hash, an identifier, a value of an enumeration.
func exact() Mapping { return Mapping{Type: "keyword"} }

// folded is a keyword that is compared without regard to case and accents.
func folded() Mapping { return Mapping{Type: "keyword", Normalizer: "lc", IgnoreAbove: MaxKeyword} }

// prose is analyzed text.
func prose() Mapping {
	return Mapping{Type: "text", Norms: new(bool), Analyzer: "prompt", SearchAnalyzer: "prompt_search"}
}

func flag() Mapping              { return Mapping{Type: "boolean"} }
func date() Mapping              { return Mapping{Type: "date"} }
func number(kind string) Mapping { return Mapping{Type: kind} }

// eager keeps the ordinals of a field that is counted by nearly every search.
func (m Mapping) eager() Mapping {
	m.EagerGlobalOrdinals = true
	return m
}

// searched adds the text to what plain words search.
func (m Mapping) searched() Mapping {
	m.CopyTo = WordsField
	return m
}

// parts adds the copy that any part of a value is found in.
func (m Mapping) parts() Mapping {
	return m.with(wildField, Mapping{Type: "wildcard", Normalizer: "lc"})
}

// analyzed adds a copy whose words are found.
func (m Mapping) analyzed() Mapping { return m.with("text", prose()) }

// highlighted adds a copy that is not searched: matches in the value are marked by the
// words, and stems of words, that WordsField has of it.
func (m Mapping) highlighted() Mapping {
	return m.with(highlightField, Mapping{Type: "text", Index: new(bool), Analyzer: "words"})
}

func (m Mapping) with(name string, sub Mapping) Mapping {
	all := map[string]Mapping{name: sub}
	for k, v := range m.Fields {
		all[k] = v
	}
	m.Fields = all
	return m
}

// The copies of a field that other packages reach by name.
const (
	wildField = "w"   // any part of a value
	rawField  = "raw" // the whole value of a text

	highlightField = "highlight" // what matches in a text is marked in it
)

// Wild returns the name of the copy that parts of values are looked for in; empty when
// the field has none.
func (f *Field) Wild() string {
	if _, ok := f.Mapping.Fields[wildField]; ok {
		return f.Name + "." + wildField
	}
	return ""
}

// Highlighted returns the name of the copy of a field of text in which matches are marked.
func Highlighted(field string) string { return field + "." + highlightField }

// Sorted returns the name that the index sorts by: of a text, its whole value.
func (f *Field) Sorted() string {
	if _, ok := f.Mapping.Fields[rawField]; ok {
		return f.Name + "." + rawField
	}
	return f.Name
}

// exampleHash stands for an asset in examples.
const exampleHash = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"

func names[S ~string](values []S) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}
