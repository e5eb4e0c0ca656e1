package query

// foldConstants removes the constants from a tree, or makes the tree one.
func foldConstants(n Node) Node {
	return Map(n, func(n Node, _ bool) Node {
		switch n := n.(type) {
		case *Not:
			if c, ok := n.Child.(*Const); ok {
				return &Const{Value: !c.Value, at: n.at}
			}
		case *And:
			return foldList(n, n.Children, n.at, true)
		case *Or:
			return foldList(n, n.Children, n.at, false)
		}
		return n
	})
}

// foldList drops the neutral constant of a list (ALL of an And, FALSE of an Or)
// and gives the other constant when the list has it.
func foldList(whole Node, children []Node, at span, neutral bool) Node {
	kept := children[:0:0]
	for _, c := range children {
		k, ok := c.(*Const)
		switch {
		case !ok:
			kept = append(kept, c)
		case k.Value != neutral:
			return &Const{Value: !neutral, at: at}
		}
	}
	switch {
	case len(kept) == 0:
		return &Const{Value: neutral, at: at}
	case len(kept) == 1:
		return kept[0]
	case len(kept) == len(children):
		return whole
	case neutral:
		return &And{Children: kept, at: at}
	}
	return &Or{Children: kept, at: at}
}
