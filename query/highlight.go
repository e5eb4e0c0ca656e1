package query

// highlight asks for the places in title, description and prompt that a tree
// matched, HTML-escaped, at most three fragments each. It carries its own query,
// so it can accompany a request that fetches hits by id.
func highlight(inner clause, tree Node) map[string]any {
	if inner == nil || !highlights(tree) {
		return nil
	}
	fields := clause{"title": clause{"number_of_fragments": 0}, "description": clause{}, "prompt": clause{}}
	return map[string]any{
		"type": "unified", "encoder": "html", "pre_tags": []string{"<em>"}, "post_tags": []string{"</em>"},
		"number_of_fragments": 3, "fragment_size": 160, "fields": fields, "highlight_query": inner,
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
