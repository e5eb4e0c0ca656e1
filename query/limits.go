package query

import "vitrine/library"

// Limits of a query text, in every mode.
const (
	MaxBytes    = 4096 // of UTF-8
	MaxLeaves   = 256  // words, phrases, globs and field values
	MaxDepth    = 32   // nested parentheses
	MaxGlobs    = 8    // leaves with a wildcard
	MaxStars    = 8    // wildcards of one leaf, runs of them counted once
	MinGlobText = 2    // literal characters of a glob; with fewer it means "has any value"
)

// maxClauses is how many clauses a compiled query may have, as estimated here.
// OpenSearch refuses more than 1,024 in the default setting, counted over the
// whole query after analysis.
const maxClauses = 960

func tooComplex(format string, args ...any) *library.Error {
	return library.NewError(library.KindInvalid, library.CodeQueryTooComplex, format, args...)
}
