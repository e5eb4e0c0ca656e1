package query

import "strings"

// builder turns the grammar's productions into a tree of typed leaves. A field
// in front of a group reaches every leaf of the group that has no field of its own.
type builder struct {
	r      *reader
	tokens []token
}

func (b *builder) or(g *gOr, f *Field) Node {
	if len(g.Ands) == 1 {
		return b.and(g.Ands[0], f)
	}
	list := make([]Node, len(g.Ands))
	for i, a := range g.Ands {
		list[i] = b.and(a, f)
	}
	return &Or{Children: list, at: around(list)}
}

func (b *builder) and(g *gAnd, f *Field) Node {
	var list []Node
	for _, t := range g.Terms {
		if t.Group != nil {
			list = append(list, b.group(t, f))
			continue
		}
		for _, leaf := range b.tokens[t.First:endOfLeaves(b.tokens, t.First)] {
			list = append(list, negated(leaf, b.leaf(leaf, fieldOf(leaf, f))))
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return &And{Children: list, at: around(list)}
}

func (b *builder) group(g gTerm, f *Field) Node {
	open := b.tokens[g.First]
	return negated(open, b.or(g.Group, fieldOf(open, f)))
}

// fieldOf is a token's own field, else the one of the group around it.
func fieldOf(t token, outer *Field) *Field {
	if t.field != nil {
		return t.field
	}
	return outer
}

func negated(t token, n Node) Node {
	if !t.not {
		return n
	}
	start, length := n.Position()
	return &Not{Child: n, at: span{min(t.at.start, start), start + length}}
}

func around(list []Node) span {
	first, _ := list[0].Position()
	last, n := list[len(list)-1].Position()
	return span{first, last + n}
}

func (b *builder) leaf(t token, f *Field) Node {
	switch {
	case t.kind == tokEmpty:
		return ignored(t.at)
	case f != nil:
		return b.r.typed(f, t)
	}
	return b.r.textLeaf(t)
}

func bad(at span) Node { return &Const{bad: true, at: at} }

func ignored(at span) Node { return &Const{ignored: true, at: at} }

// textLeaf makes a word, phrase or glob of a token outside any field.
func (r *reader) textLeaf(t token) Node {
	if t.kind == tokPhrase {
		return &Text{Kind: Phrase, Value: oneLine(t.text), Model: t.model, at: t.at}
	}
	r.warnForeignSyntax(t)
	if len(t.stars) == 0 {
		return &Text{Kind: Word, Value: t.text, Model: t.model, at: t.at}
	}
	parts := pattern(t)
	if n := literals(parts); n < MinGlobText {
		if n > 0 {
			r.shortGlob(t, "")
		}
		return &Const{Value: true, at: t.at}
	}
	return &Text{Kind: Glob, Pattern: parts, at: t.at}
}

// oneLine trims a phrase and makes each run of blanks one.
func oneLine(s string) string { return strings.Join(strings.FieldsFunc(s, isBlank), " ") }

func (r *reader) shortGlob(t token, field string) {
	w := r.warn(ShortGlob, t.at, "%s has fewer than %d characters besides wildcards, so it was read as any value", excerpt(t.text), MinGlobText)
	w.Field = field
	w.Suggestion = "write more of the word"
}

// pattern splits a word at its wildcards; runs of wildcards count once.
func pattern(t token) []string {
	parts := make([]string, 0, len(t.stars)+1)
	from := 0
	for i, s := range t.stars {
		if i > 0 && s == from {
			from = s + 1
			continue
		}
		parts = append(parts, t.text[from:s])
		from = s + 1
	}
	return append(parts, t.text[from:])
}

func literals(parts []string) int {
	n := 0
	for _, p := range parts {
		n += len([]rune(p))
	}
	return n
}

func lowered(parts []string) []string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = strings.ToLower(p)
	}
	return out
}
