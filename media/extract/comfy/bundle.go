package comfy

import (
	"slices"
	"strings"
)

// openBundles leads links that start at a bundle to what the bundle holds.
func (g *graph) openBundles() {
	for _, n := range g.nodes {
		for i := range n.inputs {
			in := &n.inputs[i]
			if !in.linked() || in.from.node.role() != RoleBundle {
				continue
			}
			if held := in.from.held(); held != nil {
				in.drawn = in.from
				in.from, in.val = held.from, held.val
			}
		}
	}
}

// maxBundles bounds the bundles that a value is followed through, which may stand in a circle.
const maxBundles = 256

// held returns the input of a bundle, or of the bundles before it, that an output
// gives; nil when the table does not know or a node that is no bundle fills it.
func (p port) held() *input {
	hops := maxBundles
	return p.node.holding(p.outName(), &hops)
}

// holding returns what a bundle holds under a name, followed through as many nodes as
// hops allows.
func (n *node) holding(name string, hops *int) *input {
	if *hops--; *hops < 0 || name == "" || n.role() != RoleBundle {
		return nil
	}
	if in := n.in(name); in != nil && name != n.about.Bundle && (in.linked() || in.holds()) {
		if in.linked() { // another bundle may give it in its turn
			if held := in.from.node.holding(in.from.outName(), hops); held != nil {
				return held
			}
		}
		return in
	}
	for _, up := range n.bundled() {
		if held := up.from.node.holding(name, hops); held != nil || up.from.node.role() != RoleBundle {
			return held // what a class that is not known puts in is not known either
		}
	}
	return nil
}

// bundled returns the links on which bundles come in. Of several, which the table names
// by what their names begin with, the last counts first: it replaces what the others hold.
func (n *node) bundled() []*input {
	stem, several := strings.CutSuffix(n.about.Bundle, "*")
	var out []*input
	for i := range n.inputs {
		in := &n.inputs[i]
		if in.linked() && (in.name == stem || several && strings.HasPrefix(in.name, stem)) {
			out = append(out, in)
		}
	}
	slices.SortStableFunc(out, func(a, b *input) int { return strings.Compare(b.name, a.name) })
	return out
}

// holds reports whether an unlinked input holds a value of its own; bundles that edit
// another leave the rest as it is.
func (in *input) holds() bool {
	s, ok := scalar(in.val)
	return ok && s != "" && s != "[original]"
}
