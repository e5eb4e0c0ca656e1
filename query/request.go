package query

import (
	"fmt"
	"slices"
	"time"

	"vitrine/library"
	"vitrine/mappings"
)

// Mode is how text leaves are matched and ranked.
type Mode string

// The search modes.
const (
	Exact    Mode = "exact"    // whole values and phrases
	Partial  Mode = "partial"  // any part of names, titles and tags
	Fuzzy    Mode = "fuzzy"    // words with slips
	FullText Mode = "fulltext" // words, most of many
	Boolean  Mode = "boolean"  // the tree as written, read strictly
	Smart    Mode = "smart"    // words and meaning
)

// Modes lists the modes in the order of the specification; Smart is the default.
var Modes = []Mode{Exact, Partial, Fuzzy, FullText, Boolean, Smart}

// Strict reports whether the mode reads a query strictly.
func (m Mode) Strict() bool { return m == Boolean }

// Request is a query with everything around it that is not query text.
type Request struct {
	Mode   Mode             // empty means Smart
	Tenant library.TenantID // required: results never leave it
	Index  string           // the alias searched; chain:<asset_h> looks that asset's family up in it
	Shared bool             // the index holds other tenants' assets too: neighbors are then compared one by one

	Viewer      string // owner id of the caller; sees its own private assets
	SeesPrivate bool   // the caller sees every private asset of the tenant
	// Hidden are those of the query's RelativesOf that the caller does not see: they have
	// no relatives, like assets that do not exist.
	Hidden  []library.AssetHash
	Trashed bool // search the trash instead of the library

	LeftOut []string // words of the query that need not match; see LeftOutSteps

	Filters    Filters
	SimilarTo  library.AssetHash   // as similar: in the text; the two must not name different assets
	Selections map[string][]string // facet name → chosen values; narrow the hits, not the facet's own counts
	Facets     []string            // facet names: a field of the language, dates with a unit (created:month)
	FacetSize  int                 // values per facet, 1 to 200; 0 means 20

	Sort      []Sort // empty: by score when there is text, else newest first
	Limit     int    // 0 to MaxLimit
	Offset    int    // 0 to MaxOffset; beyond it one pages with a cursor
	Highlight bool
	Zone      *time.Location // of dates in Filters and Selections; nil means UTC
}

// The window of hits one request may ask for.
const (
	MaxLimit  = 1000
	MaxOffset = 10000
)

// check refuses a mode and a window that do not exist.
func (r Request) check() error {
	var errs []library.FieldError
	if !slices.Contains(Modes, r.Mode) {
		errs = append(errs, library.FieldError{Field: "search_mode", Code: "enum", Message: "Allowed are exact, partial, fuzzy, fulltext, boolean and smart."})
	}
	if r.Limit < 0 || r.Limit > MaxLimit {
		errs = append(errs, library.FieldError{Field: "limit", Code: "range", Message: fmt.Sprintf("Between 0 and %d hits are allowed.", MaxLimit)})
	}
	if r.Offset < 0 || r.Offset > MaxOffset || r.Offset+r.Limit > mappings.MaxResultWindow {
		errs = append(errs, library.FieldError{
			Field: "offset", Code: "range", Message: fmt.Sprintf("Between 0 and %d, and at most %d together with limit.", MaxOffset, mappings.MaxResultWindow),
			Hint: "Use cursor pagination (cursor: \"*\"), or narrow the query.",
		})
	}
	if len(errs) > 0 {
		return library.Invalid(errs...)
	}
	return nil
}

// Filters are the structured conditions of a request. Every given one
// must hold; within Status and MIMEType any value may.
type Filters struct {
	Tags          []string // all of them
	Status        []string // without regard to case
	MIMEType      []string // image/png, image/*
	CreatedAfter  string   // from the beginning of this day, month, year or instant (RFC 3339) on
	CreatedBefore string   // up to, not including, its beginning
}

// Sort is one sort key: a name of SortKeys or ByPosition, descending or not.
type Sort struct {
	By   string
	Desc bool
}

// Search is a compiled request: the parts of one or more OpenSearch requests. Its
// maps and lists share parts with other searches: read them, never change them.
// Query and KNNFilter have the tenant filter outermost.
type Search struct {
	Query        map[string]any // what the words find; ranked by equal weights until Weigh
	KNNFilter    map[string]any // the filter of a vector retriever: the tree with its positive text taken as true
	tenantFilter map[string]any // what every hit fulfils, whatever the query says: tenant, trash, visibility, filters
	Scored       bool           // false: nothing to score, the order is Sort
	Ranked       bool           // the request asks for no order, so the best or else the newest comes first

	PostFilter map[string]any // of facet selections; nil when there are none
	Aggs       map[string]any // by facet name; nil when no facets are asked for
	Sort       []any          // ends with asset_n, so the order is total
	Highlight  map[string]any // nil when not asked for or nothing to highlight
	From, Size int

	TextForEmbedding string            // positive words and phrases in order; empty: no meaning to search by
	SimilarTo        library.AssetHash // of similar:, which asks for a vector retriever by that asset's vector
	MatchesNothing   bool              // the tree is FALSE; asking the index is needless
	Warnings         []Warning         // of compiling, besides those of the Query

	bounds  *tenantFilter
	viewer  string   // owner id of the caller
	inner   clause   // what an asset must fulfil inside the tenant filter; nil: nothing
	byClass bool     // inner scores
	rankers []ranker // how text scores otherwise
	close   []string // words that stand side by side in the query
	always  []clause // what scores whatever the weights
	sure    bool     // what fulfils inner has something that scores
	exact   bool     // neighbors are compared one by one

	candidates clause          // what has any of the words; nil: inner is that
	weights    TermWeights     // that Weigh was given
	relax      []relaxableWord // that need not match where nothing has all words

	conditional bool // there are conditions beside the words
}
