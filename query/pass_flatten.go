package query

// flatten lifts an And in an And and an Or in an Or, and drops repeated children
// and pairs of NOTs.
func flatten(n Node) Node {
	return Map(n, func(n Node, _ bool) Node {
		switch n := n.(type) {
		case *Not:
			return removeDoubleNot(n)
		case *And:
			if isFlat(n.Children, isAnd) {
				return n
			}
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
			if isFlat(n.Children, isOr) {
				return n
			}
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

// isFlat reports whether it is plain to see that a list stays as it is: no list of
// its kind in it, and nothing that could be there twice. Most lists are; writing every child
// down to compare them is what takes time.
func isFlat(children []Node, nested func(Node) bool) bool {
	if len(children) < 2 || len(children) > 16 {
		return false
	}
	for i, c := range children {
		if nested(c) {
			return false
		}
		for _, other := range children[:i] {
			if maybeEqual(c, other) {
				return false
			}
		}
	}
	return true
}

func isAnd(n Node) bool { _, ok := n.(*And); return ok }
func isOr(n Node) bool  { _, ok := n.(*Or); return ok }

// maybeEqual reports whether two nodes may be the same.
func maybeEqual(a, b Node) bool {
	switch a := a.(type) {
	case *Text:
		b, ok := b.(*Text)
		return ok && a.Kind == b.Kind && a.Value == b.Value
	case *Pred:
		b, ok := b.(*Pred)
		return ok && a.Field.Name == b.Field.Name && a.Op == b.Op
	case *Not:
		b, ok := b.(*Not)
		return ok && maybeEqual(a.Child, b.Child)
	case *And:
		return isAnd(b)
	case *Or:
		return isOr(b)
	}
	return true
}
