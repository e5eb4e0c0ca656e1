package query

import "vitrine/mappings"

// Marks around what matched in a highlighted value: pairs of characters for private
// use, which no prompt is likely to hold. The index trims values, controls included.
const (
	MarkStart = "\uf8f0\uf8f1"
	MarkEnd   = "\uf8f1\uf8f0"
)

// highlightedFields are the texts in which matches are marked.
var highlightedFields = []string{"title", "description", "prompt"}

// highlight asks for the values of highlightedFields, with marks around what the words of a
// tree match; nil where it looks for none. Each field has a query of its own, so it can
// accompany a request that fetches hits by id.
func (c *compiler) highlight(tree Node) map[string]any {
	fields := clause{}
	for _, name := range highlightedFields {
		if marked := c.markedIn(name, tree); len(marked) > 0 {
			fields[mappings.Highlighted(name)] = clause{"highlight_query": clause{"bool": clause{"should": marked}}}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return map[string]any{
		"type": "unified", "pre_tags": []string{MarkStart}, "post_tags": []string{MarkEnd}, "number_of_fragments": 0,
		"require_field_match": false, // the words are looked for in WordsField
		"fields":              fields,
	}
}

// markedIn compiles what is marked in a field: the leaves of text of a tree, each for itself,
// and conditions on words of the field. What is negated is not looked for.
func (c *compiler) markedIn(field string, tree Node) (list []clause) {
	Visit(tree, func(n Node, negated bool) bool {
		if negated {
			return true
		}
		switch n := n.(type) {
		case *Text:
			if n.Kind != Glob {
				list = append(list, c.marked(n))
			} else if parts := folded(lowered(n.Pattern)); parts[0] != "" {
				list = append(list, wildcard(field, joinGlob(parts)))
			}
		case *Pred:
			if n.Field.Type == TypeText && n.Field.Index == field && n.Op != Exists {
				list = append(list, c.pred(n))
			}
		}
		return true
	})
	return list
}

// marked compiles what is marked of a leaf of words: in modes that compare whole names,
// the words next to each other.
func (c *compiler) marked(t *Text) clause {
	if c.mode == Exact || c.mode == Partial {
		return wordsPhrase(t.name(), slop(t.Value), 1)
	}
	return c.analyzed(t, filtering)
}
