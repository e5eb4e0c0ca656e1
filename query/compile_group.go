package query

import "strings"

// group compiles the text that stands side by side in an And, alone or beside
// conditions. All of it must match but for the words that a request leaves out; of
// candidates for ranking, any of it.
func (c *compiler) group(text []Node, alone bool, u clauseContext) (must []clause) {
	text = dropUnsearchable(text, alone, c.mode)
	anyOf := false
	if u != excluding && c.ranksAll() {
		anyOf = len(text) > 1 && c.broad
		c.narrows = c.narrows || len(text) > 1
		if !anyOf {
			text = c.required(text)
		}
	}
	list := make([]clause, len(text))
	for i, t := range text {
		list[i] = c.node(t, u)
	}
	must = list
	if anyOf {
		must = []clause{{"bool": clause{"should": list, "minimum_should_match": 1}}}
	}
	if together := c.wordsAsPhrase(text); together != nil && len(must) > 0 {
		return []clause{shouldMatch(together, all(must...))}
	}
	return must
}

// most words that are looked for as one value or side by side.
const mostTogether = 12

// wordsAsPhrase compiles plain words that stand side by side in exact mode, where they
// may be one value.
func (c *compiler) wordsAsPhrase(text []Node) clause {
	if len(text) < 2 || len(text) > mostTogether || c.mode != Exact {
		return nil
	}
	words := make([]string, len(text))
	for i, n := range text {
		t, ok := n.(*Text)
		if !ok || t.Kind != Word {
			return nil
		}
		words[i] = t.Value
	}
	return c.exact(strings.Join(words, " "))
}

// dropUnsearchable leaves out the words that have nothing an analysis would keep, such
// as & and -, as long as others remain or conditions stand beside them. Partial mode
// looks for every character, but for what separates the parts of a prompt.
func dropUnsearchable(text []Node, alone bool, mode Mode) []Node {
	kept := text[:0:0]
	for _, n := range text {
		if t, ok := n.(*Text); ok && t.Kind != Glob && !hasWord(t.Value) && (mode != Partial || withoutComma(t.Value) == "") {
			continue
		}
		kept = append(kept, n)
	}
	if len(kept) == 0 && alone {
		return text
	}
	return kept
}

// name is the value of a leaf in modes that compare whole names: the words of a
// prompt come with the commas between them.
func (n *Text) name() string {
	if v := withoutComma(n.Value); n.Kind == Word && v != "" {
		return v
	}
	return n.Value
}

// withoutComma takes off what separates a word from the next one in a prompt.
func withoutComma(s string) string { return strings.TrimRight(s, ",;") }

// hasWord reports whether a text holds anything beside ASCII and general punctuation.
func hasWord(s string) bool {
	return strings.IndexFunc(s, isWordRune) >= 0
}
