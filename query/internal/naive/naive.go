// Package naive answers queries over documents in memory, one document at a
// time, straight from the description of the language in docs/design/query.md. It is
// the oracle that the compiled queries are tested against: what the index
// returns must be exactly the documents Match accepts.
//
// It is slow on purpose, not safe for concurrent use, shares no code with the
// compiler, and is used by tests only.
package naive

import (
	"strings"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/query"
)

// Caller is who searches what.
type Caller struct {
	Tenant      library.TenantID
	Viewer      string
	SeesPrivate bool
	Trashed     bool
}

// Sees reports whether a document passes the caller's tenant filter.
func (c Caller) Sees(d *mappings.Document) bool {
	if d.TenantID != c.Tenant || d.Deleted || d.Trashed != c.Trashed {
		return false
	}
	return c.SeesPrivate || d.Visibility != "private" || (c.Viewer != "" && d.Owner == c.Viewer)
}

// Read analyzes a document, once for all queries.
func Read(d *mappings.Document) Document {
	return Document{Document: d, prose: analyzeDocument(d)}
}

// Document is a document that can be asked.
type Document struct {
	*mappings.Document
	prose map[string]analyzed
}

// Match reports whether a document answers a tree in a mode. Fuzzy mode is not
// modelled: which words are two slips apart depends on the whole index.
func Match(n query.Node, d Document, mode query.Mode) bool {
	return matcher{d: d.Document, mode: mode, prose: d.prose}.match(n, false)
}

type matcher struct {
	d     *mappings.Document
	mode  query.Mode
	prose map[string]analyzed
}

func (m matcher) match(n query.Node, negated bool) bool {
	switch n := n.(type) {
	case *query.Const:
		return n.Value
	case *query.Not:
		return !m.match(n.Child, true)
	case *query.Or:
		for _, c := range n.Children {
			if m.match(c, negated) {
				return true
			}
		}
		return false
	case *query.And:
		return m.and(n, negated)
	case *query.Text:
		return m.text(n, negated)
	case *query.Pred:
		return matchPred(n, m.d, m.prose)
	}
	panic("naive: a node it does not know")
}

// and asks for every condition, and of the text for as much as the mode wants.
func (m matcher) and(n *query.And, negated bool) bool {
	var words []query.Node
	for _, c := range n.Children {
		_, isText := c.(*query.Text)
		if isText {
			words = append(words, c)
		} else if !m.match(c, negated) {
			return false
		}
	}
	words = m.withWords(words, len(words) == len(n.Children))
	found := 0
	for _, w := range words {
		if m.match(w, negated) {
			found++
		}
	}
	need := len(words)
	return found >= need || (m.mode == query.Exact && m.asOneValue(words))
}

// asOneValue: in exact mode plain words side by side may be one value.
func (m matcher) asOneValue(words []query.Node) bool {
	if len(words) < 2 || len(words) > 12 {
		return false
	}
	var values []string
	for _, w := range words {
		t, ok := w.(*query.Text)
		if !ok || t.Kind != query.Word {
			return false
		}
		values = append(values, t.Value)
	}
	return m.exact(strings.Join(values, " "))
}

// withWords leaves out punctuation, unless there is nothing else at all; in partial
// mode only commas and semicolons.
func (m matcher) withWords(list []query.Node, alone bool) []query.Node {
	var kept []query.Node
	for _, n := range list {
		t, ok := n.(*query.Text)
		if !ok || t.Kind == query.Glob || len(tokens(t.Value)) > 0 || (m.mode == query.Partial && strings.Trim(t.Value, ",;") != "") {
			kept = append(kept, n)
		}
	}
	if len(kept) == 0 && alone {
		return list
	}
	return kept
}
