package query

// resolveInvalid replaces a clause with a bad value by the constant that makes it match
// nothing where it stands: FALSE, or ALL under an odd number of NOTs.
func resolveInvalid(n Node) Node {
	return Map(n, func(n Node, negated bool) Node {
		if c, ok := n.(*Const); ok && c.bad {
			return &Const{Value: negated, at: c.at}
		}
		return n
	})
}
