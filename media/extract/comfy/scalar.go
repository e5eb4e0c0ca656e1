package comfy

import (
	"math"
	"strconv"
	"strings"
)

// Inputs under which value nodes of the packs keep the one value they give.
var valueNames = []string{"value", "Value", "int", "float", "number", "Number", "integer", "string", "String", "text", "Text", "boolean", "bool", "val", "combo", "selection", "X", "int_value", "float_value", "number_value"}

// scalar resolves an input to the text of its value, through primitive nodes,
// switches, reroutes and simple arithmetic. want is the name the consumer uses:
// a node with several outputs usually names its inputs alike.
func (r *values) scalar(in *input, want string) (string, bool) {
	if in == nil {
		return "", false
	}
	if !in.linked() {
		return scalar(in.val)
	}
	return r.scalarAt(in.from, want)
}

func (r *values) scalarAt(p port, want string) (string, bool) {
	key := scalarKey{p.node, p.slot, want}
	if v, known := r.memo[key]; known {
		return v.text, v.ok
	}
	r.memo[key] = found{} // a link that leads back here has no value
	s, ok := r.scalarOf(p, want)
	r.memo[key] = found{s, ok}
	return s, ok
}

type scalarKey struct {
	n    *node
	slot int
	want string
}

type found struct {
	text string
	ok   bool
}

func (r *values) scalarOf(p port, want string) (string, bool) {
	n := p.node
	if p.computed() {
		return "", false
	}
	if in := p.passed(); in != nil {
		return r.scalar(in, want)
	}
	if in, isSwitch := r.switches.chosen(n); isSwitch {
		return r.scalar(in, want)
	}
	if s, ok, known := r.comparison(n); known {
		return s, ok
	}
	if n.opaque() && (n.links() > 0 || n.hasBounds()) || n.about == nil && n.like("counts") {
		return "", false // what it does to a value that it takes is not known
	}
	if s, ok := r.arithmetic(p); ok {
		return s, true
	}
	if s, ok, done := r.sizes.side(p, want); done {
		return s, ok
	}
	for _, name := range append(aliasesOf(p.outName()), aliasesOf(want)...) {
		if in := n.in(name); in != nil && !n.isRange(name) {
			if s, ok := r.scalar(in, want); ok {
				return s, true
			}
		}
	}
	if in := n.in(valueNames...); in != nil {
		return r.scalar(in, want)
	}
	if want == "" {
		if in := n.in(seedNames...); in != nil {
			return r.scalar(in, want)
		}
	}
	return r.onlyScalar(n, want)
}

// hasBounds reports whether a node states a least and a greatest value: it draws a number
// between them, or maps one to others.
func (n *node) hasBounds() bool {
	least, greatest := false, false
	for i := range n.inputs {
		name := strings.ToLower(n.inputs[i].name)
		least = least || strings.HasPrefix(name, "min") || strings.HasSuffix(name, "_min")
		greatest = greatest || strings.HasPrefix(name, "max") || strings.HasSuffix(name, "_max")
	}
	return least && greatest
}

// isRange reports whether an input is only where a value starts: the node gives one that
// moves to another end, which is no single value.
func (n *node) isRange(name string) bool {
	stem, starts := strings.CutSuffix(name, "_start")
	return starts && n.has(stem+"_end")
}

// onlyScalar is the last resort: a node with one single input.
func (r *values) onlyScalar(n *node, want string) (string, bool) {
	if len(n.inputs) == 1 {
		return r.scalar(&n.inputs[0], want)
	}
	if pipe := n.pipe(); pipe != nil {
		return r.scalarAt(*pipe, want)
	}
	return "", false
}

// aliasesOf returns the input names that mean the same setting.
func aliasesOf(name string) []string {
	if name == "" {
		return nil
	}
	for _, group := range settingNames {
		for _, s := range group {
			if s == name {
				return group
			}
		}
	}
	return []string{name}
}

var settingNames = [][]string{seedNames, stepsNames, cfgNames, samplerNames, schedulerNames, denoiseNames, widthNames, heightNames}

var (
	seedNames      = []string{"seed", "noise_seed", "seed_num", "random_seed", "rand_seed", "seed_value", "noise_seed_sde"}
	stepsNames     = []string{"steps", "steps_total", "num_inference_steps", "num_steps", "sampling_steps", "inference_steps", "total_steps"}
	cfgNames       = []string{"cfg", "cfg_scale", "cfg_conds", "cfg_text", "true_gs", "true_cfg", "guidance_scale", "cfg_scale_start", "video_cfg", "cfg_high_noise"}
	samplerNames   = []string{"sampler_name", "sampler", "solver", "sampling_method"}
	schedulerNames = []string{"scheduler", "scheduler_name", "noise_schedule", "sigmas_type"}
	denoiseNames   = []string{"denoise", "denoise_strength", "denoising_strength", "strength_denoise"}
	widthNames     = []string{"width", "empty_latent_width", "image_width", "target_width", "w", "Width", "gen_width"}
	heightNames    = []string{"height", "empty_latent_height", "image_height", "target_height", "h", "Height", "gen_height"}
)

func parseUint(s string) *uint64 {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return &n
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f != math.Trunc(f) || f > 1<<53 {
		return nil
	}
	n := uint64(f)
	return &n
}

func parseFloat(s string) *float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return &f
}

func parseInt(s string) *int {
	f := parseFloat(s)
	if f == nil || math.Abs(*f) > math.MaxInt32 {
		return nil
	}
	n := int(*f)
	return &n
}

func (r *values) number(n *node, names []string) *float64 {
	for _, name := range names {
		if s, ok := r.scalar(n.in(name), name); ok {
			if f := parseFloat(s); f != nil {
				return f
			}
		}
	}
	return nil
}

func (r *values) whole(n *node, names []string) *int {
	for _, name := range names {
		if s, ok := r.scalar(n.in(name), name); ok {
			if i := parseInt(s); i != nil {
				return i
			}
		}
	}
	return nil
}

func (r *values) seed(n *node, names []string) *uint64 {
	for _, name := range names {
		if s, ok := r.scalar(n.in(name), name); ok {
			if seed := parseUint(s); seed != nil {
				return seed
			}
		}
	}
	return nil
}

// word reads a name such as a sampler's: text that is not a number.
func (r *values) word(n *node, names []string) *string {
	for _, name := range names {
		in := n.in(name)
		if in == nil || in.linked() && (name == "sampler" || name == "solver") && !r.givesText(in.from) {
			continue
		}
		s, ok := r.scalar(in, name)
		if ok && s != "" && len(s) < 100 && parseFloat(s) == nil {
			return &s
		}
	}
	return nil
}

// givesText reports whether a link carries a name as a string rather than a sampler object.
func (r *values) givesText(p port) bool {
	t := p.outType()
	return t == "STRING" || t == "COMBO" || t == "*"
}
