package comfy

import (
	"slices"

	"vitrine/library"
)

// notes collects what is said beside the values: warnings for people, and where each
// field was read. It also counts the steps that reading may take.
type notes struct {
	place      string // document that is read: "prompt" or "workflow"
	evidence   []library.Evidence
	warnings   []string
	stepBudget int
}

// A pass is followed through the graph on its own; these bounds keep a graph of
// thousands of passes from being followed thousands of times.
const (
	maxPasses = 64
	maxSteps  = 100_000
)

// step counts one visit of a node on a path that is followed once per pass. It is
// false when the file has used up its share.
func (r *notes) step() bool {
	r.stepBudget--
	if r.stepBudget == 0 {
		r.warn("the graph is too large to follow every pass")
	}
	return r.stepBudget > 0
}

// warn records a sentence for people once.
func (r *notes) warn(s string) {
	if !slices.Contains(r.warnings, s) {
		r.warnings = append(r.warnings, s)
	}
}

// record notes where a field was read.
func (r *notes) record(field string, n *node, rule string) {
	e := library.Evidence{Field: field, Place: r.place, Rule: rule}
	if n != nil {
		e.Node = n.id
		e.Rule += knownFrom(n)
	}
	r.evidence = append(r.evidence, e)
}

// knownFrom returns what the reader's knowledge of a class rests on, where it is not
// the table that ships, to be added to a rule.
func knownFrom(n *node) string {
	switch {
	case n.about == nil:
		return " (inferred: " + n.class + " is not described)"
	case n.about.own != "":
		return " (class described in " + n.about.own + ")"
	}
	return ""
}
