package query

// simplify runs the passes that make a read tree canonical. Each pass is a
// function from tree to tree in a file of its own; most queries have no constant
// and need the last one only.
func simplify(n Node) Node {
	if hasConstant(n) {
		n = foldConstants(resolveInvalid(dropIgnored(n)))
	}
	return flatten(n)
}

func hasConstant(n Node) bool {
	found := false
	Visit(n, func(n Node, _ bool) bool {
		_, constant := n.(*Const)
		found = found || constant
		return !found
	})
	return found
}
