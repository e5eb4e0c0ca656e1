package query

import (
	"strings"
)

// span is the place of something in the query text, in bytes.
type span struct{ start, end int }

// Node is one node of a query tree. Trees are immutable once Parse gave them.
type Node interface {
	// String writes the node in the canonical notation.
	String() string
	// Position returns the offset and the length in bytes of what it was read from.
	Position() (offset, length int)

	write(b *strings.Builder)
}

// And matches what all of two or more children match.
type And struct {
	Children []Node
	at       span
}

// Or matches what any of two or more children matches.
type Or struct {
	Children []Node
	at       span
}

// Not matches what its child does not.
type Not struct {
	Child Node
	at    span
}

// Const matches everything (ALL) or nothing (FALSE).
type Const struct {
	Value bool
	at    span
	bad   bool // stands for a clause with a bad value, which matches nothing even when negated

	ignored bool // stands for a clause that says nothing, and is left out of what it stands in
}

// TextKind is one of the three kinds of text leaves.
type TextKind uint8

// The kinds of text leaves.
const (
	Word   TextKind = iota // T: one word, analyzed
	Phrase                 // P: words in this order
	Glob                   // G: one word with wildcards
)

// Text is a bare word, phrase or glob: it is looked for in every text field, and
// in smart mode by meaning.
type Text struct {
	Kind    TextKind
	Value   string   // of a word or phrase, as typed, escapes resolved
	Pattern []string // of a glob: the literal parts between the wildcards
	Model   bool     // came from <lora:name:weight>, so model names count more
	at      span
}

// Op is how a predicate compares.
type Op uint8

// The comparisons of a predicate.
const (
	Equal       Op = iota // f=v
	Contains              // f~contains(v): any part of the value
	Match                 // f~match(v): an analyzed word
	MatchPhrase           // f~phrase(v): analyzed words in order
	Like                  // f~glob(p)
	Exists                // exists(f)
	Greater               // f:>v
	GreaterEq             // f:>=v
	Less                  // f:<v
	LessEq                // f:<=v
	Between               // f:[lo TO hi], inclusive, * is open
)

// Pred is a condition on one field.
type Pred struct {
	Field   *Field
	Op      Op
	Value   string   // of Equal to MatchPhrase: normalized for Equal and Contains
	Pattern []string // of Like
	Lo, Hi  *Scalar  // bounds: Lo of Greater(Eq), Hi of Less(Eq), both of Between, nil = open; Lo of a typed Equal
	at      span
}

// Everything and Nothing are the two constant trees.
var (
	Everything Node = &Const{Value: true}
	Nothing    Node = &Const{Value: false}
)

// Position implements Node.
func (n *And) Position() (int, int) { return n.at.start, n.at.end - n.at.start }

// Position implements Node.
func (n *Or) Position() (int, int) { return n.at.start, n.at.end - n.at.start }

// Position implements Node.
func (n *Not) Position() (int, int) { return n.at.start, n.at.end - n.at.start }

// Position implements Node.
func (n *Const) Position() (int, int) { return n.at.start, n.at.end - n.at.start }

// Position implements Node.
func (n *Text) Position() (int, int) { return n.at.start, n.at.end - n.at.start }

// Position implements Node.
func (n *Pred) Position() (int, int) { return n.at.start, n.at.end - n.at.start }

func (n *And) String() string   { return canonical(n) }
func (n *Or) String() string    { return canonical(n) }
func (n *Not) String() string   { return canonical(n) }
func (n *Const) String() string { return canonical(n) }
func (n *Text) String() string  { return canonical(n) }
func (n *Pred) String() string  { return canonical(n) }

func canonical(n Node) string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func writeList(b *strings.Builder, name string, children []Node) {
	b.WriteString(name)
	b.WriteByte('(')
	for i, c := range children {
		if i > 0 {
			b.WriteString(", ")
		}
		c.write(b)
	}
	b.WriteByte(')')
}

func (n *And) write(b *strings.Builder) { writeList(b, "and", n.Children) }
func (n *Or) write(b *strings.Builder)  { writeList(b, "or", n.Children) }
func (n *Not) write(b *strings.Builder) { writeList(b, "not", []Node{n.Child}) }

func (n *Const) write(b *strings.Builder) {
	if n.Value {
		b.WriteString("ALL")
		return
	}
	b.WriteString("FALSE")
}

func (n *Text) write(b *strings.Builder) {
	b.WriteByte("TPG"[n.Kind])
	b.WriteByte('(')
	if n.Kind == Glob {
		writePattern(b, n.Pattern)
	} else {
		b.WriteString(n.Value)
	}
	b.WriteByte(')')
}

func (n *Pred) write(b *strings.Builder) {
	if n.Op == Exists {
		b.WriteString("exists(" + n.Field.Name + ")")
		return
	}
	b.WriteString(n.Field.Name)
	switch n.Op {
	case Equal:
		b.WriteString("=" + n.Value)
	case Contains:
		b.WriteString("~contains(" + n.Value + ")")
	case Match:
		b.WriteString("~match(" + n.Value + ")")
	case MatchPhrase:
		b.WriteString("~phrase(" + n.Value + ")")
	case Like:
		b.WriteString("~glob(")
		writePattern(b, n.Pattern)
		b.WriteByte(')')
	case Greater:
		b.WriteString(":>" + n.Lo.Text)
	case GreaterEq:
		b.WriteString(":>=" + n.Lo.Text)
	case Less:
		b.WriteString(":<" + n.Hi.Text)
	case LessEq:
		b.WriteString(":<=" + n.Hi.Text)
	case Between:
		b.WriteString(":[" + n.Lo.text() + " TO " + n.Hi.text() + "]")
	}
}

// writePattern joins the literal parts of a glob with *; a literal * in a part is escaped.
func writePattern(b *strings.Builder, parts []string) {
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('*')
		}
		b.WriteString(strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(p))
	}
}

// Visit calls f for a node and everything below it, with negated telling whether
// an odd number of NOTs stands above the node. f returns false to skip what is below.
func Visit(n Node, f func(n Node, negated bool) bool) { visit(n, false, f) }

func visit(n Node, negated bool, f func(Node, bool) bool) {
	if !f(n, negated) {
		return
	}
	switch n := n.(type) {
	case *And:
		for _, c := range n.Children {
			visit(c, negated, f)
		}
	case *Or:
		for _, c := range n.Children {
			visit(c, negated, f)
		}
	case *Not:
		visit(n.Child, !negated, f)
	}
}

// Map rebuilds a tree from the leaves up: f sees each node after its children
// were mapped, with the polarity as in Visit, and gives what takes its place.
func Map(n Node, f func(n Node, negated bool) Node) Node { return mapNode(n, false, f) }

func mapNode(n Node, negated bool, f func(Node, bool) Node) Node {
	switch x := n.(type) {
	case *And:
		if list, changed := mapList(x.Children, negated, f); changed {
			n = &And{Children: list, at: x.at}
		}
	case *Or:
		if list, changed := mapList(x.Children, negated, f); changed {
			n = &Or{Children: list, at: x.at}
		}
	case *Not:
		if child := mapNode(x.Child, !negated, f); child != x.Child {
			n = &Not{Child: child, at: x.at}
		}
	}
	return f(n, negated)
}

// mapList copies a list from the first child on that changes: most passes change
// nothing of most trees.
func mapList(list []Node, negated bool, f func(Node, bool) Node) (out []Node, changed bool) {
	for i, c := range list {
		m := mapNode(c, negated, f)
		if m != c && !changed {
			out, changed = append(make([]Node, 0, len(list)), list[:i]...), true
		}
		if changed {
			out = append(out, m)
		}
	}
	return out, changed
}
