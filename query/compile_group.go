package query

import "strings"

// group compiles the text that stands side by side in an And, alone or beside
// conditions. How many must match is the mode's.
func (c *compiler) group(text []Node, alone bool, u clauseContext) (must []clause) {
	text = dropUnsearchable(text, alone, c.mode)
	list := make([]clause, len(text))
	for i, t := range text {
		list[i] = c.node(t, u)
	}
	need := len(list)
	if u != excluding {
		switch c.mode {
		case Smart:
			need = min(need, 1)
		case FullText:
			need = minimumShouldMatch(need)
		}
	}
	together := c.wordsAsPhrase(text)
	switch {
	case need == len(list):
		must = list
	default:
		must = []clause{{"bool": clause{"should": list, "minimum_should_match": need}}}
	}
	if together != nil && len(must) > 0 {
		return []clause{shouldMatch(together, all(must...))}
	}
	return must
}

// minimumShouldMatch is how many of n words full text asks for: all of up to three, else
// three quarters.
func minimumShouldMatch(n int) int {
	if n <= 3 {
		return n
	}
	return n * 3 / 4
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
