package comfy

import (
	"maps"
	"slices"

	"vitrine/internal/jsonscan"
)

// Some packs hand one stream of settings from node to node: each adds its own, and
// one node of the stream samples by all of them. gatherStreams gives that node what
// the nodes before it put into the stream, so that it reads like any other sampler.

// These bound the nodes of one stream, the settings that a node takes out of it, and
// the settings that are looked at in all streams of a graph: each node that takes a
// stream goes through all of it.
const (
	maxStream   = 256
	maxGathered = 512
	maxStreamed = 50_000
)

// gatherStreams fills the nodes whose class takes a stream.
func (g *graph) gatherStreams() {
	left := maxStreamed
	for _, n := range g.nodes {
		if n.about != nil && len(n.about.Stream) > 0 && n.meets() {
			n.gather(&left)
		}
	}
}

// meets reports whether a node does what its class' role says: some do one of many
// things, by a choice.
func (n *node) meets() bool {
	for name, want := range n.about.When {
		in := n.in(name)
		if in == nil || in.val.Str() != want {
			return false
		}
	}
	return true
}

// gather copies the inputs of the nodes before this one on its stream, nearest
// first. Weight files stay where they are loaded: the node gets a link to them. Each
// setting that is looked at counts against left; there is no more when it is used up.
// Where a node of the stream is of an unknown class, or the stream is not read to its
// end, settings that a choice in it may have set otherwise are left out.
func (n *node) gather(left *int) {
	set, own, unknown := map[string]*string{}, len(n.inputs), false
	queue, seen := n.streamed(n.about.Stream), map[*node]bool{n: true}
	for len(queue) > 0 && len(seen) < maxStream && len(n.inputs) < maxGathered && *left > 0 {
		m := queue[0]
		queue = queue[1:]
		if seen[m] {
			continue
		}
		seen[m] = true
		unknown = unknown || m.about == nil
		queue = append(queue, m.streamed(n.about.Stream)...)
		*left -= 1 + len(m.inputs)
		for i := range m.inputs {
			in := m.inputs[i]
			switch {
			case in.option || slices.Contains(n.about.Stream, in.written()):
			case in.file == "checkpoint" && !n.has("model"):
				n.inputs = append(n.inputs, input{name: "model", from: port{m, 0}})
			case in.file == "" && modelType(m, in.name, in.val.Str()) == "" && !n.has(in.name):
				n.inputs = append(n.inputs, in)
			}
			maps.Copy(set, m.chosenBy(&in))
		}
	}
	if unknown || len(queue) > 0 {
		open := classes.Load().chosen[n.about.pack]
		n.inputs = append(n.inputs[:own], slices.DeleteFunc(slices.Clone(n.inputs[own:]), func(in input) bool { return open[in.name] })...)
	}
	n.choose(set)
}

// decide applies what the node's own choices set.
func (n *node) decide() {
	set := map[string]*string{}
	for i := range n.inputs {
		maps.Copy(set, n.chosenBy(&n.inputs[i]))
	}
	if len(set) > 0 {
		n.choose(set)
	}
}

// chosenBy returns what the value of an input sets, by the table.
func (n *node) chosenBy(in *input) map[string]*string {
	if n.about == nil || in.linked() || in.val.Str() == "" {
		return nil
	}
	byValue := n.about.Choices[in.written()]
	if set, ok := byValue[in.val.Str()]; ok {
		return set
	}
	return byValue[anyChoice]
}

// anyChoice stands in the table for every choice that it does not name.
const anyChoice = "*"

// choose applies what a preset sets: a value, of an input that the node may not
// have yet, or nothing at all.
func (n *node) choose(set map[string]*string) {
	kept := n.inputs[:0]
	for _, in := range n.inputs {
		value, chosen := set[in.name]
		if chosen && value == nil {
			continue
		}
		if chosen {
			in.val, in.from = stringValue(*value), port{}
		}
		kept = append(kept, in)
	}
	n.inputs = kept
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if value := set[name]; value != nil && !n.has(name) {
			n.inputs = append(n.inputs, input{name: name, val: stringValue(*value)})
		}
	}
}

func stringValue(text string) value { return value{Kind: jsonscan.String, Text: text} }

// streamed returns the nodes that hand a stream to this one.
func (n *node) streamed(names []string) []*node {
	var out []*node
	for i := range n.inputs {
		if in := &n.inputs[i]; in.linked() && slices.Contains(names, in.written()) {
			out = append(out, in.from.node)
		}
	}
	return out
}

// on reports whether a switch that a node holds is on.
func (n *node) on(name string) bool {
	in := n.in(name)
	if in == nil || in.linked() {
		return false
	}
	s, _ := scalar(in.val)
	return truthy(s)
}

// counted leaves out the numbered inputs behind as many as a node says that it takes: the
// editor keeps the links of those that were taken away.
func (n *node) counted() {
	in := n.in("inputcount")
	if in == nil || in.linked() {
		return
	}
	s, _ := scalar(in.val)
	count := parseInt(s)
	if count == nil || *count < 1 {
		return
	}
	n.inputs = slices.DeleteFunc(n.inputs, func(in input) bool {
		_, number, numbered := trailingNumber(in.name)
		return numbered && in.linked() && number > *count
	})
}
