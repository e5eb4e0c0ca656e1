package query

// simplify runs the passes that make a read tree canonical. Each pass is a
// function from tree to tree in a file of its own.
func simplify(n Node) Node {
	return flatten(foldConstants(settleBad(n)))
}
