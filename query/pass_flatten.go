package query

// flatten lifts an And in an And and an Or in an Or, and drops repeated children
// and pairs of NOTs.
func flatten(n Node) Node {
	return Map(n, func(n Node, _ bool) Node {
		switch n := n.(type) {
		case *Not:
			return undouble(n)
		case *And:
			list := distinct(n.Children, func(c Node) []Node {
				if x, ok := c.(*And); ok {
					return x.Children
				}
				return nil
			})
			if len(list) == 1 {
				return list[0]
			}
			return &And{Children: list, at: n.at}
		case *Or:
			list := distinct(n.Children, func(c Node) []Node {
				if x, ok := c.(*Or); ok {
					return x.Children
				}
				return nil
			})
			if len(list) == 1 {
				return list[0]
			}
			return &Or{Children: list, at: n.at}
		}
		return n
	})
}

// distinct lists children, or what open gives for one, each tree once.
func distinct(children []Node, open func(Node) []Node) []Node {
	out := make([]Node, 0, len(children))
	seen := make(map[string]bool, len(children))
	take := func(n Node) {
		if key := n.String(); !seen[key] {
			seen[key] = true
			out = append(out, n)
		}
	}
	for _, c := range children {
		inner := open(c)
		if inner == nil {
			take(c)
			continue
		}
		for _, x := range inner {
			take(x)
		}
	}
	return out
}
