package comfy

import (
	"fmt"
	"strings"

	"vitrine/internal/jsonscan"
)

// entriesOf returns the entries of a list widget: objects, either as they are or
// behind "__value__".
func entriesOf(v value) []value {
	if inner := v.Get("__value__"); inner.Kind == jsonscan.Array {
		v = inner
	}
	for i := range v.List {
		if v.List[i].Kind != jsonscan.Object {
			return nil
		}
	}
	return v.List
}

// listsLoras reports whether a node keeps what it loads as a list of entries. The
// tags in the text beside it are how people add to the list; nodes do not read them.
func listsLoras(n *node) bool {
	for i := range n.inputs {
		for _, e := range entriesOf(n.inputs[i].val) {
			if n.like("lora") && e.Get("name").Str() != "" && e.Get("strength").Kind != jsonscan.Null {
				return true
			}
		}
	}
	return false
}

// loraText returns what a node that loads LoRAs gives out as text. The trigger words
// of a LoRA stand in the LoRA's own file or on a site; nodes that read tags out of
// a text hand the rest of it on.
func (r *texts) loraText(p port, side role) (s string, ok, done bool) {
	n := p.node
	if n.about != nil && n.about.Tags {
		s, ok = r.untagged(p, side)
		return s, ok, true
	}
	if _, patches := n.link("model", "opt_model", "MODEL", "model_opt"); !n.like("lora") || !patches && !n.has("loras") {
		return "", false, false
	}
	if name := p.outName(); n.has("loras") || listsLoras(n) || strings.Contains(name, "trigger") || strings.Contains(name, "loaded") {
		r.notes.warn("a prompt takes words from a LoRA; they are not in the file")
		return "", false, true
	}
	s, ok = r.collected(n, side)
	return strings.TrimSpace(loraTag.ReplaceAllString(s, "")), ok, true
}

// untagged returns the text of a class that loads the tags in it. The tags are taken out
// when they are loaded, and when they are switched off.
func (r *texts) untagged(p port, side role) (string, bool) {
	n := p.node
	in := n.in(p.outName())
	if in == nil {
		in = textInput(n, mainFields)
	}
	s, ok := r.of(in, side)
	if n.hasLinked("opt_model", "model") && n.hasLinked("opt_clip", "clip") || n.isOff("load_tags") {
		s = strings.TrimSpace(loraTag.ReplaceAllString(s, ""))
	}
	return s, ok
}

// isOff reports whether the table switches something off by a choice that the node holds.
func (n *node) isOff(name string) bool {
	in := n.in(name)
	return in != nil && in.val.Str() == "off"
}

// toggled returns the words that a list of words with switches lets through. The list
// is of the text that came in last; where another comes in, that is handed on as it is.
func (r *texts) toggled(n *node, side role) (s string, ok, done bool) {
	words := toggles(n)
	if words == nil {
		return "", false, false
	}
	if last := n.in("orinalMessage", "originalMessage"); last != nil {
		in, known := r.ofQuietly(n.in("trigger_words"), side)
		was, _ := literalText(last.val)
		if known && in != "" && in != was {
			return in, true, true
		}
	}
	strengths, _ := r.values.scalar(n.in("allow_strength_adjustment"), "")
	var on []string
	for _, w := range words {
		text := strings.TrimSpace(w.Get("text").Str())
		if active, _ := scalar(w.Get("active")); text == "" || !truthy(active) {
			continue
		}
		if f, has := scalar(w.Get("strength")); has && truthy(strengths) && parseFloat(f) != nil {
			text = fmt.Sprintf("(%s:%.2f)", text, *parseFloat(f))
		}
		on = append(on, text)
	}
	return strings.Join(on, ", "), true, true
}

// toggles finds the list of words with switches among a node's values.
func toggles(n *node) []value {
	for i := range n.inputs {
		list := entriesOf(n.inputs[i].val)
		if len(list) > 0 && list[0].Get("text").Kind == jsonscan.String && list[0].Get("active").Kind == jsonscan.Bool {
			return list
		}
	}
	return nil
}

// ofQuietly is text for a value that may be missing without harm: no warning stays.
func (r *texts) ofQuietly(in *input, side role) (string, bool) {
	kept := r.notes.warnings
	s, ok := r.of(in, side)
	if !ok {
		r.notes.warnings = kept
	}
	return s, ok
}

// withTriggerWords puts the words that come in beside an encoder's text in front
// of it. It fails when nothing is known of where they come from.
func (r *texts) withTriggerWords(n *node, text string, side role) (string, bool) {
	var ins []*input
	for i := range n.inputs {
		if stem, _, _ := trailingNumber(n.inputs[i].name); stem == "trigger_words" {
			ins = append(ins, &n.inputs[i])
		}
	}
	var parts []string
	for _, in := range inFamilyOrder(ins) {
		s, ok := r.of(in, side)
		if ok && s != "" {
			parts = append(parts, s)
		}
		if !ok && in.linked() && behindOpaque(in.from.node) {
			return "", false
		}
	}
	return strings.Join(append(parts, text), ", "), true
}

// withPrepended puts the text of "prepend_NAME" in front of that of the input NAME, as the
// loaders of one pack do. It fails when that text is not in the file.
func (r *texts) withPrepended(n *node, in *input, text string, side role) (string, bool) {
	before := n.in("prepend_" + in.name)
	if before == nil {
		return text, true
	}
	s, ok := r.of(before, side)
	switch {
	case !ok && before.linked():
		r.notes.warn("a prompt has words in front that are not in the file")
		return "", false
	case !ok || s == "":
		return text, true
	}
	return s + " " + text, true
}
