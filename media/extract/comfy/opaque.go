package comfy

import (
	"slices"
	"strings"

	"vitrine/internal/jsonscan"
)

// Classes that the table does not describe are read by the names and shapes of
// their inputs and by words of their names. A class that has neither a description
// nor such a word is opaque: what goes through it is followed only where it can do
// no more than hand it on, because less is better than something else.

// opaque reports whether nothing is known of a node's class.
func (n *node) opaque() bool {
	if n.about != nil {
		return false
	}
	if n.unclear == nil {
		unclear := !n.like("known")
		n.unclear = &unclear
	}
	return *n.unclear
}

// onlyText returns the one text of an opaque node that holds or takes nothing else
// but yes and no; nil when it may do something with it.
func (n *node) onlyText() *input {
	var only *input
	for i := range n.inputs {
		in := &n.inputs[i]
		switch {
		case !in.linked() && (in.val.Kind == jsonscan.Bool || in.val.Kind == jsonscan.Null):
		case only != nil || !in.linked() && in.val.Kind != jsonscan.String:
			return nil
		default:
			only = in
		}
	}
	return only
}

// mayChoose reports whether an opaque node may hand one of several links on: it has
// links whose names differ by a number, a letter or a yes and no, and a value beside
// them that may choose.
func (n *node) mayChoose() bool {
	if !n.opaque() {
		return false
	}
	families, values := map[string]int{}, 0
	for i := range n.inputs {
		in := &n.inputs[i]
		if !in.linked() {
			values++
			continue
		}
		stem, place := family(in.name)
		if slices.Contains(yesBranches, in.name) || slices.Contains(noBranches, in.name) {
			stem, place = "branch", 1
		}
		if place > 0 {
			families[stem]++
		}
		if isSelector(in.name) {
			values++
		}
	}
	for _, links := range families {
		if links > 1 && values > 0 {
			return true
		}
	}
	return false
}

// ownWords reports whether a node holds a text of its own beside what it is handed.
func (n *node) ownWords() bool {
	for i := range n.inputs {
		in := &n.inputs[i]
		if !in.linked() && isTextName(in.name) && strings.TrimSpace(in.val.Str()) != "" {
			return true
		}
	}
	return false
}

// draws reports whether an opaque node has inputs that speak of chance: which of the
// files that it names are used is not said.
func (n *node) draws() bool {
	return n.opaque() && slices.ContainsFunc(n.inputs, func(in input) bool {
		name := strings.ToLower(in.name)
		return strings.Contains(name, "chance") || strings.Contains(name, "random") || strings.Contains(name, "probab")
	})
}

// onlyNames reports whether an opaque node has texts alone: it takes no model to patch
// and no strength, so it may name files for others to use.
func (n *node) onlyNames() bool {
	return n.opaque() && !slices.ContainsFunc(n.inputs, func(in input) bool { return in.linked() || in.val.Kind != jsonscan.String })
}

func (n *node) hasLinked(names ...string) bool { _, ok := n.link(names...); return ok }

// maxBehind bounds the nodes that are looked at behind a link.
const maxBehind = 256

// behindOpaque reports whether an opaque node is among a node and what it is made of.
func behindOpaque(n *node) bool {
	seen := map[*node]bool{n: true}
	queue := []*node{n}
	for len(queue) > 0 && len(seen) < maxBehind {
		n, queue = queue[0], queue[1:]
		if n.opaque() {
			return true
		}
		for i := range n.inputs {
			if from := n.inputs[i].from.node; from != nil && !seen[from] {
				seen[from] = true
				queue = append(queue, from)
			}
		}
	}
	return false
}
