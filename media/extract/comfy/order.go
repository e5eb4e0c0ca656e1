package comfy

import (
	"cmp"
	"container/heap"
	"slices"
)

// mark collects the nodes that took part in the chosen output, by following back
// every link but the branches that a switch left out, and puts them in sequence.
func (r *runs) mark(outputs ...*node) {
	stack := slices.Clone(outputs)
	for _, n := range outputs {
		r.live[n] = true
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, from := range r.sources(n) {
			if !r.live[from] {
				r.live[from] = true
				stack = append(stack, from)
			}
		}
	}
	r.sequence = r.sorted()
}

// sources returns the nodes that a node was certainly made of: those on its links,
// and what all branches of an undecided switch come from.
func (r *runs) sources(n *node) []*node {
	var out []*node
	for _, in := range r.switches.branches(n) {
		for _, from := range []*node{in.from.node, in.drawn.node} {
			if from != nil {
				out = append(out, from)
			}
		}
	}
	if _, isSwitch := r.switches.chosen(n); !isSwitch && n.undecided() {
		out = append(out, r.inAllBranches(n)...)
	}
	return out
}

// inAllBranches returns the nodes that lie behind every branch of an undecided switch.
func (r *runs) inAllBranches(n *node) []*node {
	open := n.openBranches(true)
	times := map[*node]int{}
	for _, in := range open {
		seen := map[*node]bool{in.from.node: true}
		stack := []*node{in.from.node}
		for len(stack) > 0 && r.notes.step() {
			m := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			times[m]++
			for _, b := range r.switches.branches(m) {
				if from := b.from.node; from != nil && !seen[from] {
					seen[from] = true
					stack = append(stack, from)
				}
			}
		}
	}
	var out []*node
	for _, m := range r.g.nodes {
		if times[m] == len(open) && len(open) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// sorted returns the live nodes in an order in which they can run: sources first,
// ties by the editor's order, then by id. Nodes on a cycle come last.
func (r *runs) sorted() []*node {
	waits := make(map[*node]int, len(r.live))
	next := make(map[*node][]*node, len(r.live))
	for n := range r.live {
		for i := range n.inputs {
			if from := n.inputs[i].from.node; from != nil && r.live[from] {
				waits[n]++
				next[from] = append(next[from], n)
			}
		}
	}
	ready := &queue{}
	for n := range r.live {
		if waits[n] == 0 {
			*ready = append(*ready, n)
		}
	}
	heap.Init(ready)
	out := make([]*node, 0, len(r.live))
	for ready.Len() > 0 {
		n := heap.Pop(ready).(*node)
		out = append(out, n)
		for _, m := range next[n] {
			if waits[m]--; waits[m] == 0 {
				heap.Push(ready, m)
			}
		}
	}
	if len(out) < len(r.live) {
		out = append(out, r.cyclic(waits)...)
		r.notes.warn("the graph has a cycle; it cannot have run as it stands")
	}
	return out
}

func (r *runs) cyclic(waits map[*node]int) []*node {
	var rest []*node
	for n, w := range waits {
		if w > 0 {
			rest = append(rest, n)
		}
	}
	slices.SortFunc(rest, before)
	return rest
}

// queue is a heap of nodes that are ready to run.
type queue []*node

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return before(q[i], q[j]) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*node)) }
func (q *queue) Pop() any {
	old := *q
	n := old[len(old)-1]
	*q = old[:len(old)-1]
	return n
}

// samplers returns the samplers that ran, those that others build on first, ties
// by the editor's order and then by id. What lies between them has no say in it.
func (r *runs) samplers() []*node {
	depth := make(map[*node]int, len(r.sequence))
	var out []*node
	for _, n := range r.sequence {
		for i := range n.inputs {
			if from := n.inputs[i].from.node; from != nil {
				depth[n] = max(depth[n], depth[from])
			}
		}
		if r.pictures.isSampler(n) {
			depth[n]++
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b *node) int { return cmp.Or(cmp.Compare(depth[a], depth[b]), before(a, b)) })
	return out
}
