package query

// dropIgnored leaves the clauses that say nothing out of the lists they stand in. A
// list or a NOT of nothing else says nothing either, and a query of nothing else is
// the empty query.
func dropIgnored(n Node) Node {
	n = Map(n, func(n Node, _ bool) Node {
		switch n := n.(type) {
		case *Not:
			if isIgnored(n.Child) {
				return n.Child
			}
		case *And:
			return withoutIgnored(n, n.Children, func(kept []Node) Node { return &And{Children: kept, at: n.at} })
		case *Or:
			return withoutIgnored(n, n.Children, func(kept []Node) Node { return &Or{Children: kept, at: n.at} })
		}
		return n
	})
	if isIgnored(n) {
		return Everything
	}
	return n
}

func isIgnored(n Node) bool {
	c, ok := n.(*Const)
	return ok && c.ignored
}

func withoutIgnored(whole Node, children []Node, list func([]Node) Node) Node {
	kept := children[:0:0]
	for _, c := range children {
		if !isIgnored(c) {
			kept = append(kept, c)
		}
	}
	switch len(kept) {
	case len(children):
		return whole
	case 0:
		return children[0]
	case 1:
		return kept[0]
	}
	return list(kept)
}
