package comfy

import (
	"container/heap"
	"slices"
	"strings"

	"vitrine/library"
)

// ran collects the nodes that took part in the chosen output, by walking back
// over every link but the branches that a switch left out.
func (r *reader) ran(outputs ...*node) {
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
}

// sources returns the nodes that a node was certainly made of: those on its links,
// and what all branches of an undecided switch come from.
func (r *reader) sources(n *node) []*node {
	var out []*node
	for _, in := range r.branches(n) {
		for _, from := range []*node{in.from.node, in.drawn.node} {
			if from != nil {
				out = append(out, from)
			}
		}
	}
	if _, isSwitch := r.chosen(n); !isSwitch && n.undecided() {
		out = append(out, r.inAllBranches(n)...)
	}
	return out
}

// inAllBranches returns the nodes that lie behind every branch of an undecided switch.
func (r *reader) inAllBranches(n *node) []*node {
	open := n.openBranches(true)
	times := map[*node]int{}
	for _, in := range open {
		seen := map[*node]bool{in.from.node: true}
		stack := []*node{in.from.node}
		for len(stack) > 0 && r.step() {
			m := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			times[m]++
			for _, b := range r.branches(m) {
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
func (r *reader) sorted() []*node {
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
		r.warn("the graph has a cycle; it cannot have run as it stands")
	}
	return out
}

func (r *reader) cyclic(waits map[*node]int) []*node {
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

// models lists every weight file that was read on the way to the output.
func (r *reader) models() []library.ModelUse {
	r.findNameSources()
	out := []library.ModelUse{}
	for _, n := range r.sequence {
		if n.is("unifiedloader") && n.has("preset") {
			r.warn("models were chosen by a preset; the names of their files are not in the file")
		}
		for _, l := range r.loadsOf(n) {
			r.loads = append(r.loads, l)
			out = append(out, l.use(len(out)))
		}
	}
	return out
}

// findNameSources marks the inputs of nodes that only hand a file name to a
// loader: the loader counts, not the node that named the file. A loader that also
// tells others the name of its file stays one.
func (r *reader) findNameSources() {
	givers := r.weightGivers()
	for _, n := range r.sequence {
		if isOutputClass(n) {
			continue
		}
		for i := range n.inputs {
			in := &n.inputs[i]
			if !in.linked() || isTextField(in.name) || !namesFile(in) || givers[in.from.node] {
				continue
			}
			if s, ok := r.scalar(in, in.name); !ok || fileType(n, in, s) == "" {
				continue
			}
			from := in.from.node
			for j := range from.inputs {
				if !from.inputs[j].linked() {
					r.nameSource[&from.inputs[j]] = true
				}
			}
		}
	}
}

// weightTypes are the wires on which loaded weights travel.
var weightTypes = map[string]bool{"MODEL": true, "CLIP": true, "VAE": true, "CONTROL_NET": true, "CLIP_VISION": true, "STYLE_MODEL": true, "UPSCALE_MODEL": true, "LORA_STACK": true, "IPADAPTER": true}

// weightGivers are the nodes whose weights another node takes.
func (r *reader) weightGivers() map[*node]bool {
	out := map[*node]bool{}
	for _, n := range r.sequence {
		for i := range n.inputs {
			in := &n.inputs[i]
			if in.linked() && (weightTypes[in.from.outType()] || weightTypes[strings.ToUpper(in.name)]) {
				out[in.from.node] = true
			}
		}
	}
	return out
}

// mainModel names the weight file a pass sampled with: the first checkpoint or
// diffusion model behind its model link.
func (r *reader) mainModel(n *node) (name string, at *node) {
	seen := map[*node]bool{}
	for n != nil && !seen[n] && r.step() {
		seen[n] = true
		for _, l := range r.loadsOf(n) {
			switch l.typ {
			case "checkpoint", "unet", "diffusers":
				return l.name, n
			}
		}
		n = r.modelUpstream(n)
	}
	return "", nil
}

var modelLinks = []string{"model", "MODEL", "unet", "model1", "model_a", "opt_model", "base_model", "model_high_noise", "pipeline", "kolors_model", "SUPIR_model", "cogvideo_pipe", "transformer", "model_opt", "sdxl_tuple"}

func (r *reader) modelUpstream(n *node) *node {
	if in, isSwitch := r.chosen(n); isSwitch {
		if in == nil {
			return nil
		}
		return in.from.node
	}
	if n.undecided() || n.mayChoose() {
		return nil
	}
	if p, ok := n.link(modelLinks...); ok {
		return p.node
	}
	if p, ok := n.link("guider", "base_sampler"); ok {
		return p.node
	}
	if p := n.pipe(); p != nil {
		return p.node
	}
	for i := range n.inputs {
		in := &n.inputs[i]
		if in.linked() && (in.from.outType() == "MODEL" || strings.HasPrefix(in.name, "model")) {
			return in.from.node
		}
	}
	if in := n.onlyLink(); in != nil && !isPictureWire(in) && !isCondInput(in) {
		return in.from.node
	}
	return nil
}
