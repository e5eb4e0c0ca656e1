package comfy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vitrine/internal/jsonscan"
)

// Texts are joined and replaced over and over on their way; these bounds keep a
// hostile graph from growing one without end.
const (
	maxText       = 64 << 10
	maxTextBudget = 32 << 20 // bytes handled for one file
)

// of resolves an input to the text that reached it, through the text nodes of
// the packs. It fails when the text is not in the file.
func (r *texts) of(in *input, side role) (string, bool) {
	if in == nil {
		return "", false
	}
	if in.linked() {
		return r.at(in.from, side)
	}
	return literalText(in.val)
}

func literalText(v value) (string, bool) {
	if s, ok := scalar(v); ok {
		return s, true
	}
	if v.Kind == jsonscan.Object {
		return v.Get("content").Str(), v.Get("content").Kind == jsonscan.String
	}
	return "", false
}

type textKey struct {
	n    *node
	slot int
	side role
}

func (r *texts) at(p port, side role) (string, bool) {
	key := textKey{p.node, p.slot, side}
	if v, known := r.memo[key]; known {
		return v.text, v.ok
	}
	r.memo[key] = found{}
	s, ok := r.read(p, side)
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
		r.notes.warn("a text was longer than 64 KiB and is cut")
	}
	if r.budget -= len(s); r.budget < 0 {
		r.notes.warn("the texts of the graph are too large to follow")
		s, ok = "", false
	}
	r.memo[key] = found{s, ok}
	return s, ok
}

func (r *texts) read(p port, side role) (string, bool) {
	n := p.node
	if p.isObject() || p.computed() || n.role() == RoleBundle && p.outName() != "" {
		return "", false // what a bundle holds was put in its place already
	}
	if s, ok, done := r.handedOn(p, side); done {
		return s, ok
	}
	if in := populated(n); in != nil {
		return r.of(in, side)
	}
	if p.slot > 0 && n.unnamedText() != nil {
		return "", false // which field it gives at a later output is not known
	}
	if in := n.in("code", "python_code", "script"); in != nil && in.val.Kind == jsonscan.String || n.like("computes_text") {
		r.notes.warn("a prompt was computed by code in the graph; it is not followed")
		return "", false
	}
	if s, ok, done := r.toggled(n, side); done {
		return s, ok
	}
	if s, ok, done := r.loraText(p, side); done {
		return s, ok
	}
	if isDisplay(n) {
		return r.displayed(n, side)
	}
	if writesText(n) {
		r.notes.warn("a prompt was written by a language model; its text is not in the file")
		return "", false
	}
	if s, ok, done := r.edited(n, side); done {
		return s, ok
	}
	if n.about == nil && n.like("alters_text") {
		r.notes.warn("a prompt was changed by a node that is not known; its text is not in the file")
		return "", false
	}
	if in := p.fieldOfOutput(); in != nil {
		return r.of(in, side)
	}
	if s, ok, done := r.sided(p, side); done {
		r.warnOfStyles(n)
		return s, ok
	}
	s, ok := r.collected(n, side)
	s = n.withoutLines(s)
	if n.drawsText() && isTemplate(n, s) {
		r.notes.warn("a prompt was drawn at random from a template; what is read is the template")
	}
	return s, ok
}

// handedOn returns the text of a node that hands on what it is given: the input that its
// class names, the branch that was taken, an item of a list. done is false for other nodes.
func (r *texts) handedOn(p port, side role) (s string, ok, done bool) {
	n := p.node
	in, isSwitch := p.passed(), false
	if in == nil {
		in, isSwitch = r.switches.chosen(n)
	}
	switch {
	case in != nil || isSwitch:
		s, ok = r.of(in, side)
	case n.opaque():
		s, ok = r.of(n.onlyText(), side)
		s, ok = n.withoutLines(s), ok && !hasComments(s)
	case n.about != nil && n.about.Pick != nil:
		s, ok = r.picked(n, side)
	case n.role() == RoleList:
		s, ok = r.onlyItem(n, side)
	case n.undecided(): // reading the switch has left a warning
	default:
		return "", false, false
	}
	return s, ok, true
}

// objectOutputs are the names of outputs that are no texts, whatever their node holds.
var objectOutputs = wordSet("model clip vae latent conditioning mask positive_conditioning negative_conditioning unet control_net clip_vision")

// isObject reports whether an output is known to give something else than a text.
func (p port) isObject() bool {
	typ := p.outType()
	if weightTypes[typ] || pictureTypes[typ] || typ == "CONDITIONING" || typ == "MASK" {
		return true
	}
	return typ == "" && objectOutputs[p.outName()]
}

// isDisplay reports whether a node shows a text and keeps what it showed.
func isDisplay(n *node) bool {
	return n.role() == RoleShow || n.like("shows_text")
}

// displayed returns the text a display node handed on. Nodes that write what they show
// into the editor's graph while they run are believed first: a field of theirs in
// the executed graph is of the run before. For the others the text that comes in is
// surer than the text on their face.
func (r *texts) displayed(n *node, side role) (string, bool) {
	shown := n.shown
	if r.g.place == "workflow" {
		shown = keptTexts(n)
	}
	if shown != "" && n.like("shows_own_run") {
		return shown, true
	}
	for i := range n.inputs {
		in := &n.inputs[i]
		if in.linked() {
			if s, ok := r.at(in.from, side); ok {
				return s, true
			}
		}
	}
	if shown == "" {
		shown = keptTexts(n)
	}
	return shown, shown != ""
}

// keptTexts joins the texts a display node holds of what it showed.
func keptTexts(n *node) string {
	var kept []string
	keep := func(s string) {
		if s != "" && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	for i := range n.inputs {
		in := &n.inputs[i]
		if in.linked() {
			continue
		}
		if stem, _, numbered := trailingNumber(in.name); numbered || keptNames[stem] {
			keep(in.val.Str())
		}
		for _, e := range in.val.List {
			keep(e.Str())
		}
	}
	return strings.Join(kept, "\n")
}

// drawsText reports whether a node draws a text at random.
func (n *node) drawsText() bool {
	return n.like("draws_text") || n.has("seed") && !n.like("seeds_pictures")
}

// wildcard is a choice or a named list in a template of prompts.
var wildcard = regexp.MustCompile(`\{[^{}]*\|[^{}]*\}|__[\w*/\\.-]+__`)

// isTemplate reports whether a node that draws at random drew from a text rather than
// handed it on.
func isTemplate(n *node, text string) bool {
	return wildcard.MatchString(text) || n.like("picks_line") && strings.Contains(strings.TrimSpace(text), "\n")
}

var keptNames = wordSet("text preview_text preview_markdown output value preview")

// writesText reports whether a model wrote a node's output: language models, captioners
// and taggers. What they were told is not the prompt.
func writesText(n *node) bool {
	if role := n.role(); role != "" {
		return role == RoleWriter
	}
	return n.like("writes_text")
}

// sided handles nodes that hold a positive and a negative text and give one
// on each output.
func (r *texts) sided(p port, side role) (s string, ok, done bool) {
	neg, pos := textInput(p.node, negativeOwn), textInput(p.node, positiveOwn)
	if neg == nil || pos == nil {
		return "", false, false
	}
	name := p.outName()
	switch {
	case strings.Contains(name, "neg"):
		side = roleNegative
	case strings.Contains(name, "pos"):
		side = rolePositive
	case p.slot == 1:
		side = roleNegative
	case p.slot == 0:
		side = rolePositive
	}
	if side == roleNegative {
		pos = neg
	}
	s, ok = r.of(pos, side)
	return s, ok, true
}

// warnOfStyles leaves a warning where a node puts the words of a style around the text
// that it holds: they are in a file of its pack.
func (r *texts) warnOfStyles(n *node) {
	for _, name := range []string{"select_styles", "style", "styles"} {
		if in := n.in(name); in != nil && n.like("styles_text") && !isNoFile(in.val.Str()) && !strings.EqualFold(in.val.Str(), "base") {
			r.notes.warn("words of a style were put around a prompt; they are not in the file")
			return
		}
	}
}

// collected handles text boxes and joins: every text that goes into the node, in
// the order of its inputs, with the node's delimiter between them.
func (r *texts) collected(n *node, side role) (string, bool) {
	var parts []string
	any, main, missing, unclear := false, false, false, false
	ins := textInputs(n)
	if !joins(n) {
		ins = mainFirst(ins)
	}
	for _, in := range ins {
		texts, ok := r.joinable(n, in, side)
		if !ok {
			missing = missing || in.linked()
			unclear = unclear || in.linked() && behindOpaque(in.from.node)
			continue
		}
		any, main = true, main || endRank(in.name) == 0
		for _, s := range texts {
			if s != "" {
				parts = append(parts, s)
			}
		}
	}
	if missing && any {
		r.notes.warn("a prompt is joined of parts that are not all in the file")
	}
	if missing && !main || unclear || !any {
		return "", false // what is known is no more than an affix, or what is not known may be the main part
	}
	if n.like("selects_line") && n.has("select") && len(parts) > 0 {
		return r.selectedLine(n, parts[0]), true
	}
	if len(parts) > 1 && !joins(n) {
		parts = parts[:1]
	}
	return strings.Join(parts, r.delimiter(n, side)), true
}

// joinable returns the text that reaches an input, or all texts of a list that comes
// to a node that joins.
func (r *texts) joinable(n *node, in *input, side role) ([]string, bool) {
	if in.linked() && in.from.node.role() == RoleList && joins(n) {
		return r.items(in, side, map[*node]bool{})
	}
	s, ok := r.of(in, side)
	return []string{s}, ok
}

// mainFirst drops what stands in front or behind, for a node that does not join: its
// prefix is a choice the editor has already written into the text.
func mainFirst(ins []*input) []*input {
	isEnd := func(in *input) bool { return endRank(in.name) != 0 }
	if main := slices.DeleteFunc(slices.Clone(ins), isEnd); len(main) > 0 {
		return main
	}
	return ins
}

// fieldOfOutput returns the field that an output of a node with several texts hands on.
func (p port) fieldOfOutput() *input {
	n := p.node
	if !n.has("text_positive_g") || !n.has("text_negative") {
		return nil
	}
	switch name := p.outName(); {
	case strings.Contains(name, "neg"):
		return n.in("text_negative")
	case strings.HasSuffix(name, "_l"):
		return n.in("text_positive_l")
	}
	return n.in("text_positive_g")
}

func joins(n *node) bool {
	return n.has("delimiter", "separator", "Separator", "delim") || n.like("joins_text")
}

func (r *texts) delimiter(n *node, side role) string {
	in := n.in("delimiter", "separator", "Separator", "delim")
	if in == nil {
		if s, ok := r.values.scalar(n.in("linebreak_addition"), ""); ok && truthy(s) {
			return "\n"
		}
		if n.like("joins_by_line") {
			return "\n"
		}
		if n.like("joins_by_comma") {
			return ", "
		}
		return ""
	}
	s, _ := r.of(in, side)
	if s == "comma" {
		return ", "
	}
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(s)
}

// selectedLine picks one line of a multi-line list of prompts.
func (r *texts) selectedLine(n *node, text string) string {
	i := r.values.whole(n, []string{"select"})
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if i == nil || *i < 0 {
		return text
	}
	return lines[*i%len(lines)]
}

// textInputs lists the inputs of a text node that bring text, in the order in which
// the node joins them.
func textInputs(n *node) []*input {
	var out []*input
	for i := range n.inputs {
		in := &n.inputs[i]
		if isTextName(in.name) && (in.linked() || in.val.Kind == jsonscan.String || in.val.Kind == jsonscan.Object) {
			out = append(out, in)
		}
	}
	if a, b := n.in("a"), n.in("b"); len(out) == 0 && a != nil && b != nil && n.like("joins_two") {
		return []*input{a, b}
	}
	if len(out) > 0 {
		return inFamilyOrder(out)
	}
	for i := range n.inputs { // an unknown box: any text it holds or takes
		in := &n.inputs[i]
		if in.linked() && (in.from.outType() == "STRING" || len(n.inputs) == 1) {
			out = append(out, in)
		} else if !in.linked() && in.val.Kind == jsonscan.String && len(n.inputs) == 1 {
			out = append(out, in)
		}
	}
	if in := n.unnamedText(); in != nil && len(out) == 0 {
		return []*input{in}
	}
	return out
}

func isTextName(name string) bool {
	s := strings.ToLower(name)
	if s == "log_prompt" { // a yes or no
		return false
	}
	stem, _, _ := trailingNumber(s)
	switch stem {
	case "text", "string", "prompt", "value", "str", "positive", "negative", "wildcard", "input", "part", "opt_text", "prefix", "suffix", "prepend", "append",
		"any", "anything", "content", "multiline_text", "wildcard_text", "opt_prompt", "phrase", "sentence", "words", "tags", "source", "lyrics", "trigger_words", "orinalmessage", "originalmessage", "prompts", "texts", "strings":
		return true
	}
	for _, p := range []string{"text_", "string_", "prompt_", "str_"} {
		if rest, ok := strings.CutPrefix(stem, p); ok && (len(rest) == 1 || rest == "positive" || rest == "input" || rest == "prompt" || rest == "list") {
			return true
		}
	}
	if _, err := strconv.Atoi(s); err == nil {
		return true
	}
	return strings.HasSuffix(stem, "_text") || strings.HasSuffix(stem, "_prompt") || strings.HasSuffix(stem, "_string")
}
