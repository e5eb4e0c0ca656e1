package comfy

import (
	"strconv"
	"strings"

	"vitrine/internal/jsonscan"
)

// Selector inputs of switch nodes, and the branch names that go with a yes/no
// selector. Only nodes that also have branches of one shape count as switches.
var (
	selectorNames = []string{"select", "index", "input", "switch", "boolean", "condition", "cond", "bool", "Input", "use_first", "selected_index", "selected", "state", "choice", "which", "boolean_number", "ANY"}
	yesBranches   = []string{"on_true", "tt_value", "true_value", "if_true", "value_true", "input_true", "true", "a_true", "IF_TRUE"}
	noBranches    = []string{"on_false", "ff_value", "false_value", "if_false", "value_false", "input_false", "false", "a_false", "IF_FALSE"}
)

// chosen returns, for a switch node, which input is passed on. isSwitch is false
// for every other node; the input is nil when the choice is not in the file or
// the chosen branch is empty.
func (r *switches) chosen(n *node) (in *input, isSwitch bool) {
	if c, known := r.memo[n]; known {
		return c.in, c.isSwitch
	}
	r.memo[n] = choice{} // a switch whose selector leads back to itself
	in, isSwitch = r.choose(n)
	r.memo[n] = choice{in, isSwitch}
	return in, isSwitch
}

type choice struct {
	in       *input
	isSwitch bool
}

const undecidedWarning = "the graph chooses between two branches by a condition that is not in the file; neither is read"

func (r *switches) choose(n *node) (*input, bool) {
	if len(n.inputs) < 2 {
		return nil, false
	}
	yes, no := n.in(yesBranches...), n.in(noBranches...)
	if yes == nil && no == nil && n.like("named_switch") {
		yes, no = n.ending("_a"), n.ending("_b")
	}
	if yes != nil || no != nil {
		sel, ok := r.selector(n)
		if !ok {
			if yes != nil && no != nil && yes.linked() && no.linked() {
				r.notes.warn(undecidedWarning)
			}
			return nil, false
		}
		if truthy(sel) || n.has("ANY") && holds(sel) {
			return yes, true
		}
		return no, true
	}
	if n.like("first_switch") && !n.has("select", "index") {
		for i := range n.inputs {
			if n.inputs[i].linked() {
				return &n.inputs[i], true
			}
		}
		return nil, true
	}
	return r.numbered(n)
}

func (n *node) ending(suffix string) *input {
	for i := range n.inputs {
		if strings.HasSuffix(n.inputs[i].name, suffix) {
			return &n.inputs[i]
		}
	}
	return nil
}

// numbered handles switches whose selector is a number and whose branches end in
// numbers: input1, text2, any_03, value0.
func (r *switches) numbered(n *node) (*input, bool) {
	if !n.like("numbered_switch") {
		return nil, false
	}
	branches := n.numberedInputs()
	if len(branches) < 2 {
		return nil, false
	}
	sel, ok := r.selector(n)
	if !ok {
		sel, ok = n.unnamedNumber()
	}
	if !ok {
		if n.undecided() {
			r.notes.warn(undecidedWarning)
		}
		return nil, false
	}
	want, err := strconv.Atoi(strings.TrimSpace(sel))
	if err != nil {
		return nil, false
	}
	for _, b := range branches {
		if b.number == want {
			return b.in, true
		}
	}
	return nil, true
}

// unnamedNumber returns the only number of a node among the fields that have no name.
func (n *node) unnamedNumber() (string, bool) {
	var one *input
	for i := range n.inputs {
		in := &n.inputs[i]
		if strings.HasPrefix(in.name, "widget_") && in.val.Kind == jsonscan.Number {
			if one != nil {
				return "", false
			}
			one = in
		}
	}
	if one == nil {
		return "", false
	}
	return one.val.Text, true
}

// undecided reports whether a node hands one of several branches on, and which is not
// in the file.
func (n *node) undecided() bool {
	if yes, no := n.in(yesBranches...), n.in(noBranches...); yes != nil && no != nil && yes.linked() && no.linked() {
		return true
	}
	if !n.like("switch") || joins(n) || !n.has(selectorNames...) && !n.like("named_switch") {
		return false
	}
	linked := 0
	for _, b := range n.numberedInputs() {
		if b.in.linked() {
			linked++
		}
	}
	return linked > 1
}

// openBranches returns the linked branches of an undecided node, or its other linked
// inputs.
func (n *node) openBranches(branches bool) []*input {
	stems := map[string]bool{}
	for _, b := range n.numberedInputs() {
		stems[b.in.name] = true
	}
	for _, name := range append(yesBranches[:len(yesBranches):len(yesBranches)], noBranches...) {
		stems[name] = true
	}
	var out []*input
	for i := range n.inputs {
		if in := &n.inputs[i]; in.linked() && stems[in.name] == branches {
			out = append(out, in)
		}
	}
	return out
}

type numberedInput struct {
	in     *input
	stem   string
	number int
}

// numberedInputs returns the largest group of inputs that differ in a trailing
// number only.
func (n *node) numberedInputs() []numberedInput {
	groups := map[string][]numberedInput{}
	best := ""
	for i := range n.inputs {
		stem, num, ok := trailingNumber(n.inputs[i].name)
		if !ok {
			continue
		}
		groups[stem] = append(groups[stem], numberedInput{&n.inputs[i], stem, num})
		if len(groups[stem]) > len(groups[best]) {
			best = stem
		}
	}
	return groups[best]
}

// trailingNumber splits "lora_name_12" into "lora_name" and 12.
func trailingNumber(name string) (string, int, bool) {
	i := len(name)
	for i > 0 && name[i-1] >= '0' && name[i-1] <= '9' {
		i--
	}
	num, err := strconv.Atoi(name[i:])
	if err != nil || i == 0 {
		return name, 0, false
	}
	return strings.TrimRight(name[:i], "_ -"), num, true
}

func (r *switches) selector(n *node) (string, bool) {
	for _, name := range selectorNames {
		if in := n.in(name); in != nil {
			if s, ok := r.values.scalar(in, name); ok {
				return s, true
			}
		}
	}
	return "", false
}

func truthy(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "on", "1", "enable", "enabled":
		return true
	}
	return false
}

// branches returns the inputs through which a node's ancestors really took part:
// all of them, but for a switch the selector and the chosen branch alone.
func (r *switches) branches(n *node) []*input {
	chosen, isSwitch := r.chosen(n)
	var out []*input
	if !isSwitch && n.undecided() {
		return n.openBranches(false)
	}
	if !isSwitch && n.mayChoose() {
		r.notes.warn("the graph may choose between branches in a node that is not known; none is read")
		return nil
	}
	for i := range n.inputs {
		in := &n.inputs[i]
		if !in.linked() && in.drawn.node == nil {
			continue
		}
		if isSwitch && in != chosen && !isSelector(in.name) {
			continue
		}
		out = append(out, in)
	}
	return out
}

func isSelector(name string) bool {
	for _, s := range selectorNames {
		if s == name {
			return true
		}
	}
	return false
}
