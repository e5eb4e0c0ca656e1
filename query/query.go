package query

import (
	"time"

	"vitrine/library"
)

// Options are the ways to read a text.
type Options struct {
	Strict       bool           // a slip or a bad value is an error instead of a warning (§ strict reading in docs/design/query.md)
	StrictFields bool           // an unknown field is an error too
	Zone         *time.Location // of dates in the text; nil means UTC
	Now          time.Time      // what today and 7d are counted from; the zero time means the present
}

// Query is a text that has been read.
type Query struct {
	Text     string    // as it came
	Tree     Node      // typed, folded and flattened; never nil
	Warnings []Warning // in order of position
}

// Canonical writes the tree in the notation of the test catalogues, for example
// and(T(red), tag=cat). Equal trees have equal canonical forms.
func (q *Query) Canonical() string { return q.Tree.String() }

// Repaired writes the tree back as query text. Parsing it gives the same tree
// without warnings.
func (q *Query) Repaired() string { return Print(q.Tree) }

// Problem is the public detail of an error about a query text; it is the Extra of
// the *library.Error that Parse gives.
type Problem struct {
	Warnings   []Warning `json:"warnings"`
	Expected   []string  `json:"expected,omitempty"`   // what could stand where the first error is
	Suggestion string    `json:"suggestion,omitempty"` // the whole query as it would be repaired
}

// Parse reads a query text. The empty text matches everything the caller may
// see. Lenient reading (the default) repairs what it can and reports it as
// warnings; a bad value of a known field then makes its clause match nothing,
// also under NOT, because dropping it would widen the result.
//
// The error is a *library.Error of kind invalid: QUERY_TOO_COMPLEX when a limit
// is passed (always), QUERY_SYNTAX and QUERY_VALUE in strict reading.
func Parse(text string, opts Options) (*Query, error) {
	r, err := newReader(text, opts)
	if err != nil {
		return nil, err
	}
	tree, err := r.read()
	if err != nil {
		return nil, err
	}
	q := &Query{Text: text, Tree: simplify(tree), Warnings: r.sortedWarnings()}
	if f := opts.refuse(q); f != nil {
		return nil, f
	}
	return q, nil
}

// refuse returns the error of strict reading, or nil.
func (o Options) refuse(q *Query) *library.Error {
	for _, w := range q.Warnings {
		switch {
		case w.Code == UnknownField && o.StrictFields, !w.text() && o.Strict:
			return strictError(q, w)
		}
	}
	return nil
}
