package query

// Marks around what matched in a highlighted value: pairs of characters for private
// use, which no prompt is likely to hold. The index trims values, controls included.
const (
	MarkStart = "\uf8f0\uf8f1"
	MarkEnd   = "\uf8f1\uf8f0"
)

// highlight asks for title, description and prompt as they are, with marks around
// what a tree matched. It carries its own query, so it can accompany a request that
// fetches hits by id.
func highlight(inner clause, tree Node) map[string]any {
	if inner == nil || !highlights(tree) {
		return nil
	}
	return map[string]any{
		"type": "unified", "pre_tags": []string{MarkStart}, "post_tags": []string{MarkEnd}, "number_of_fragments": 0,
		"fields": clause{"title": clause{}, "description": clause{}, "prompt": clause{}}, "highlight_query": inner,
	}
}

// highlights reports whether a tree looks for anything in prose.
func highlights(n Node) bool {
	found := false
	Visit(n, func(n Node, negated bool) bool {
		switch n := n.(type) {
		case *Text:
			found = found || !negated
		case *Pred:
			found = found || (!negated && n.Field.Type == TypeText && n.Op != Exists)
		}
		return !found
	})
	return found
}
