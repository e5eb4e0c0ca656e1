package comfy

import "vitrine/library"

// reader holds one graph and everything already worked out about it. Every walk
// keeps its results, which makes the whole linear and ends cycles.
type reader struct {
	in Input
	g  *graph

	switches   map[*node]choice
	scalars    map[scalarKey]found
	texts      map[textKey]found
	sizes      *sizer
	likelySize *sizer
	reaches    map[*node]bool
	samplers   map[*node]bool
	passes     map[*node]*library.SamplerPass
	origins    map[*node]map[string]*node // per pass, the node each setting was read from
	promptSets map[promptKey]*promptSet
	nameSource map[*input]bool
	live       map[*node]bool
	rivals     []*node // other outputs that may as well have written the file
	usedBy     map[*node][]*node

	sequence   []*node // live nodes in an order in which they can run
	loads      []load
	evidence   []library.Evidence
	warnings   []string
	textBudget int
	stepBudget int
}

// A pass is followed through the graph on its own; these bounds keep a graph of
// thousands of passes from being walked thousands of times.
const (
	maxPasses = 64
	maxSteps  = 100_000
)

// step counts one visit of a node by a walk that is made once per pass. It is
// false when the file has used up its share.
func (r *reader) step() bool {
	r.stepBudget--
	if r.stepBudget == 0 {
		r.warn("the graph is too large to follow every pass")
	}
	return r.stepBudget > 0
}

func newReader(in Input, g *graph) *reader {
	r := &reader{
		in: in, g: g,
		switches: map[*node]choice{}, scalars: map[scalarKey]found{}, texts: map[textKey]found{},
		reaches: map[*node]bool{}, samplers: map[*node]bool{}, passes: map[*node]*library.SamplerPass{}, origins: map[*node]map[string]*node{},
		promptSets: map[promptKey]*promptSet{}, nameSource: map[*input]bool{}, live: map[*node]bool{},
		textBudget: maxTextBudget, stepBudget: maxSteps,
	}
	r.sizes, r.likelySize = newSizer(r, false), newSizer(r, true)
	return r
}

// warn records a sentence for people once.
func (r *reader) warn(s string) {
	for _, w := range r.warnings {
		if w == s {
			return
		}
	}
	r.warnings = append(r.warnings, s)
}

// prove records where a field was read.
func (r *reader) prove(field string, n *node, rule string) {
	e := library.Evidence{Field: field, Place: r.g.place, Rule: rule}
	if n != nil {
		e.Node = n.id
		e.Rule += knownFrom(n)
	}
	r.evidence = append(r.evidence, e)
}

// knownFrom tells in a rule what the reader's knowledge of a class rests on, where it
// is not the table that ships.
func knownFrom(n *node) string {
	switch {
	case n.about == nil:
		return " (inferred: " + n.class + " is not described)"
	case n.about.own != "":
		return " (class described in " + n.about.own + ")"
	}
	return ""
}

// lineage reads everything but the documents themselves.
func (r *reader) lineage() library.Lineage {
	lin := library.Lineage{Tool: "comfyui"}
	out, why := r.chooseOutput()
	if out == nil {
		lin.Models = []library.ModelUse{}
		return lin
	}
	r.prove("output", out, why)
	r.ran(out)
	r.sequence = r.sorted()
	lin.Models = r.models()
	for i, m := range lin.Models {
		r.prove("models", r.loads[i].node, "file name input of a node the output depends on: "+m.Type)
	}
	lin.Parents = r.parents()
	for _, p := range lin.Parents {
		r.prove("parents", r.g.byID[p.NodeID], "file loaded by a node the output depends on")
	}
	r.readPasses(&lin, out)
	r.readEmbeddings(&lin)
	lin.Evidence = r.evidence
	return lin
}
