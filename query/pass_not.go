package query

// removeDoubleNot removes a pair of NOTs. NOT is not pushed further down: the index
// answers "none of these" as cheaply as the pushed form, and the tree stays as
// it was written.
func removeDoubleNot(n *Not) Node {
	if inner, ok := n.Child.(*Not); ok {
		return inner.Child
	}
	return n
}
