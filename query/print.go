package query

import "strings"

// Print writes a tree as query text. Parsing the text gives the same tree again
// and no warning.
func Print(n Node) string {
	var b strings.Builder
	printNode(&b, n, 0)
	return b.String()
}

// How tightly the surroundings of a node bind.
const (
	looseContext = iota // the whole query, a group
	andContext
	notContext
)

func printNode(b *strings.Builder, n Node, context int) {
	switch n := n.(type) {
	case *Or:
		printList(b, n.Children, " OR ", context > looseContext, andContext)
	case *And:
		printList(b, n.Children, " ", context > andContext, andContext)
	case *Not:
		b.WriteByte('-')
		if c, ok := n.Child.(*Text); ok && c.Kind == Word && strings.HasPrefix(escapeWord(c.Value), "-") {
			b.WriteByte('\\')
		}
		printNode(b, n.Child, notContext)
	case *Const:
		if n.Value {
			b.WriteByte('*')
		} else {
			b.WriteString("-*")
		}
	case *Text:
		printText(b, n)
	case *Pred:
		printPred(b, n)
	}
}

func printList(b *strings.Builder, list []Node, sep string, group bool, context int) {
	if group {
		b.WriteByte('(')
	}
	for i, c := range list {
		if i > 0 {
			b.WriteString(sep)
		}
		printNode(b, c, context)
	}
	if group {
		b.WriteByte(')')
	}
}

func printText(b *strings.Builder, n *Text) {
	switch n.Kind {
	case Phrase:
		printQuoted(b, n.Value)
	case Glob:
		printPattern(b, n.Pattern)
	default:
		b.WriteString(escapeWord(n.Value))
	}
}

func printPred(b *strings.Builder, n *Pred) {
	b.WriteString(n.Field.Name)
	b.WriteByte(':')
	switch n.Op {
	case Equal, Contains:
		if n.Lo != nil {
			b.WriteString(n.Lo.Text)
		} else if n.Field.plainValue(n.Value) {
			b.WriteString(n.Value)
		} else {
			printQuoted(b, n.Value)
		}
	case Match:
		b.WriteString(escapeWord(n.Value))
	case MatchPhrase:
		printQuoted(b, n.Value)
	case Like:
		printPattern(b, n.Pattern)
	case Exists:
		b.WriteByte('*')
	case Greater:
		b.WriteString(">" + n.Lo.Text)
	case GreaterEq:
		b.WriteString(">=" + n.Lo.Text)
	case Less:
		b.WriteString("<" + n.Hi.Text)
	case LessEq:
		b.WriteString("<=" + n.Hi.Text)
	case Between:
		if n.Lo != nil {
			b.WriteString(n.Lo.Text)
		}
		b.WriteString("..")
		if n.Hi != nil {
			b.WriteString(n.Hi.Text)
		}
	}
}

func printPattern(b *strings.Builder, parts []string) {
	for i, p := range parts {
		if i > 0 {
			b.WriteByte('*')
		}
		for j, c := range p {
			if i+j == 0 && (c == '-' || c == '<') || c == ',' || c == ';' {
				b.WriteByte('\\')
			}
			escapeRune(b, c)
		}
	}
}

func printQuoted(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, c := range s {
		if c == '\\' || isQuote(c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	b.WriteByte('"')
}

// plainValue reports whether a value needs no quotes behind its field.
func plainValue(s string) bool {
	for _, c := range s {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '-', c == '.', c == '/', c == '=', c == ':', c >= 0x80 && !isBlank(c) && !isQuote(c):
		default:
			return false
		}
	}
	return s != ""
}

// escapeWord writes a word so that it is read as that word and nothing else,
// whatever stands beside it.
func escapeWord(s string) string {
	if hasWord(s) && parsesAlone(s) {
		return s
	}
	var b strings.Builder
	for i, c := range s {
		if i == 0 && (c < 0x80 || !hasWord(s)) {
			b.WriteByte('\\')
			b.WriteRune(c)
			continue
		}
		escapeRune(&b, c)
	}
	return b.String()
}

// parsesAlone tries a word alone. What depends on its neighbours is refused: a
// comparison sign, half a model tag, a weight, parentheses without their match.
func parsesAlone(s string) bool {
	if _, _, _, condition := missingColon(s); !balanced(s) || condition || foreignOperator(s) != "" {
		return false
	}
	r := &reader{text: s}
	t := r.lex()
	if len(t) != 1 || len(r.warnings) > 0 || t[0].kind != tokWord || t[0].text != s || len(t[0].stars) > 0 || t[0].model {
		return false
	}
	return !isComparison(s) && s[0] != '<' && (t[0].colon == 0 || !isWeight(s[t[0].colon-1:]))
}

// balanced reports whether every parenthesis of a word has its match in it.
func balanced(s string) bool {
	open := 0
	for i := 0; i < len(s) && open >= 0; i++ {
		switch s[i] {
		case '(':
			open++
		case ')':
			open--
		}
	}
	return open == 0
}

func escapeRune(b *strings.Builder, c rune) {
	if c == '\\' || c == '*' || c == '(' || c == ')' || c == ':' || isQuote(c) || isBlank(c) {
		b.WriteByte('\\')
	}
	b.WriteRune(c)
}
