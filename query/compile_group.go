package query

import "strings"

// group compiles the text that stands side by side in an And, alone or beside
// conditions: what must match, and what only helps the ranking. How many must match
// is the mode's.
func (c *compiler) group(text []Node, alone bool, u clauseContext) (must, should []clause) {
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
	together := c.wordsAsPhrase(text, u)
	switch {
	case need == len(list):
		must = list
	default:
		must = []clause{{"bool": clause{"should": list, "minimum_should_match": need}}}
	}
	if together == nil {
		return must, nil
	}
	if c.mode == Exact && len(must) > 0 {
		return []clause{shouldMatch(together, all(must...))}, nil
	}
	if u != scoring {
		return must, nil
	}
	return must, []clause{together}
}

// minimumShouldMatch is how many of n words full text asks for: all of up to three, else
// three quarters.
func minimumShouldMatch(n int) int {
	if n <= 3 {
		return n
	}
	return n * 3 / 4
}

// wordsAsPhrase compiles plain words that stand side by side as one phrase: in exact
// mode they may be one value, elsewhere their closeness helps the ranking.
func (c *compiler) wordsAsPhrase(text []Node, u clauseContext) clause {
	const most = 12
	if len(text) < 2 || len(text) > most || c.mode == Partial || (c.mode != Exact && u != scoring) {
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
	joined := strings.Join(words, " ")
	if c.mode == Exact {
		return c.exact(joined)
	}
	c.clauses += 3 * weight(joined)
	return clause{"multi_match": clause{
		"query": expandCompounds(joined), "type": "phrase", "slop": 2 + slop(joined), "fields": []string{"title^3", "prompt^2", "tags.text"},
	}}
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
