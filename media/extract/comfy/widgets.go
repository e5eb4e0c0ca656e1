package comfy

import (
	"strconv"
	"strings"

	"vitrine/internal/jsonscan"
)

// widget is one widget value under its input name.
type widget struct {
	name string
	val  value
}

func setWidget(list []widget, name string, v value) []widget {
	for i := range list {
		if list[i].name == name {
			list[i].val = v
			return list
		}
	}
	return append(list, widget{name, v})
}

// widgetValues names the widget values of a node: they are an object, or a list
// in the order the node declares its widgets. The order comes from the table of
// known classes or from the node's own inputs; values that neither names keep a
// numbered name.
func widgetValues(u *uiNode) []widget {
	for _, byName := range []value{u.named, u.widgets} {
		if len(byName.Members) > 0 {
			return namedWidgets(byName)
		}
	}
	vals := u.widgets.List
	names := widgetNames(u, len(vals))
	if len(names) == 0 {
		return inferredWidgets(vals)
	}
	out, at := named(names, vals)
	for ; at < len(vals); at++ {
		if vals[at].Kind == jsonscan.Object || len(entriesOf(vals[at])) > 0 {
			out = append(out, widget{"widget_" + strconv.Itoa(at), vals[at]})
		}
	}
	if misnamed(u, out) {
		return inferredWidgets(vals)
	}
	return out
}

// named gives values their names and returns how many it took, control slots among them.
func named(names []string, vals []value) (out []widget, at int) {
	for i, name := range names {
		if at >= len(vals) {
			break
		}
		out = append(out, widget{name, vals[at]})
		at++
		if at < len(vals) && hasControl(vals[at-1:], names[i:]) {
			at++
		}
	}
	return out, at
}

// misnamed reports whether a table of names is of another version of a node than the
// one that wrote the values: a number stands where a name must, or the other way.
func misnamed(u *uiNode, list []widget) bool {
	fed := map[string]bool{}
	for i := range u.inputs {
		fed[u.inputs[i].widget] = fed[u.inputs[i].widget] || u.inputs[i].link != ""
	}
	for _, w := range list {
		if fed[w.name] {
			continue // what it held before
		}
		switch w.name {
		case "seed", "noise_seed", "steps", "cfg", "denoise":
			if w.val.Kind == jsonscan.String && parseFloat(w.val.Text) == nil {
				return true
			}
		case "sampler_name", "scheduler", "ckpt_name", "lora_name", "vae_name", "unet_name":
			if w.val.Kind == jsonscan.Number || w.val.Kind == jsonscan.Bool {
				return true
			}
		}
	}
	return false
}

func namedWidgets(v value) []widget {
	var out []widget
	for _, m := range v.Members {
		if m.Name != controlWidget {
			out = append(out, widget{m.Name, m.Val})
		}
	}
	return out
}

// inferredWidgets names the values of a class that no table knows by what they
// are: a number with a control slot is a seed, the names of samplers and
// schedulers are known, steps and cfg stand between seed and sampler, denoise
// alone after the scheduler. Everything else gets a numbered name.
func inferredWidgets(vals []value) []widget {
	var out []widget
	seed, sampler, scheduler := -1, -1, -1
	for i, v := range vals {
		if isControl(v) && i > 0 && vals[i-1].Kind == jsonscan.Number {
			seed = len(out) - 1
			out[seed].name = "seed"
			continue
		}
		out = append(out, widget{"widget_" + strconv.Itoa(i), v})
		switch {
		case samplerNamesKnown[v.Str()] && sampler < 0:
			sampler = len(out) - 1
			out[sampler].name = "sampler_name"
		case schedulerNamesKnown[v.Str()] && scheduler < 0:
			scheduler = len(out) - 1
			out[scheduler].name = "scheduler"
		}
	}
	number := func(i int) bool { return i >= 0 && i < len(out) && out[i].val.Kind == jsonscan.Number }
	if seed >= 0 && sampler == seed+3 && number(seed+1) && number(seed+2) {
		out[seed+1].name, out[seed+2].name = "steps", "cfg"
	}
	if scheduler >= 0 && number(scheduler+1) && !number(scheduler+2) && number(seed+1) && seed >= 0 { // two numbers are steps from and to
		if f := parseFloat(out[scheduler+1].val.Text); f != nil && *f > 0 && *f <= 1 {
			out[scheduler+1].name = "denoise"
		}
	}
	return out
}

// Names of ComfyUI's samplers and schedulers.
var (
	samplerNamesKnown = wordSet("euler euler_cfg_pp euler_ancestral euler_ancestral_cfg_pp heun heunpp2 exp_heun_2_x0 exp_heun_2_x0_sde dpm_2 dpm_2_ancestral lms dpm_fast dpm_adaptive " +
		"dpmpp_2s_ancestral dpmpp_2s_ancestral_cfg_pp dpmpp_sde dpmpp_sde_gpu dpmpp_2m dpmpp_2m_cfg_pp dpmpp_2m_sde dpmpp_2m_sde_gpu dpmpp_2m_sde_heun dpmpp_2m_sde_heun_gpu dpmpp_3m_sde dpmpp_3m_sde_gpu " +
		"ddpm lcm ipndm ipndm_v deis res_multistep res_multistep_cfg_pp res_multistep_ancestral res_multistep_ancestral_cfg_pp gradient_estimation gradient_estimation_cfg_pp er_sde seeds_2 seeds_3 sa_solver sa_solver_pece ddim uni_pc uni_pc_bh2")
	schedulerNamesKnown = wordSet("simple sgm_uniform karras exponential ddim_uniform beta normal linear_quadratic kl_optimal beta57 bong_tangent")
)

func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// widgetNames chooses the source of the names. The node's own list is complete
// in newer documents, where every widget is an input too.
func widgetNames(u *uiNode, values int) []string {
	var own []string
	for i := range u.inputs {
		if w := u.inputs[i].widget; w != "" {
			own = append(own, w)
		}
	}
	table := u.withoutSockets(tableWidgets(u))
	if len(own) > len(table) || len(table) == 0 && len(own) > 0 && len(own)+2+controls(u.widgets.List) >= values {
		return own
	}
	if len(own) > 0 && len(own) < len(table) && covers(own, u.widgets.List) && !covers(table, u.widgets.List) {
		return own
	}
	if len(table) > 0 {
		return table
	}
	return nil
}

// withoutSockets leaves out the names that are plain sockets of the node, where the
// rest are all that its values are: an input may take links only.
func (u *uiNode) withoutSockets(names []string) []string {
	if len(names) == 0 || covers(names, u.widgets.List) {
		return names
	}
	sockets := map[string]bool{}
	for i := range u.inputs {
		sockets[u.inputs[i].name] = u.inputs[i].widget == ""
	}
	var rest []string
	for _, name := range names {
		if !sockets[name] {
			rest = append(rest, name)
		}
	}
	if covers(rest, u.widgets.List) {
		return rest
	}
	return names
}

// tableWidgets returns the widgets of a node by the table: of the versions of a
// class the first that has as many as the node has values, and whose names fit them
// where one does; otherwise the newest.
func tableWidgets(u *uiNode) []string {
	c := classOf(u.typ, foldClass(u.typ))
	if c == nil {
		return nil
	}
	var covering []string
	for _, names := range append([][]string{c.Widgets}, c.Older...) {
		if len(names) == 0 || !covers(names, u.widgets.List) {
			continue
		}
		if list, _ := named(names, u.widgets.List); !misnamed(u, list) {
			return names
		}
		if covering == nil {
			covering = names
		}
	}
	if covering == nil {
		return c.Widgets
	}
	return covering
}

// controls counts the control slots after numbers.
func controls(vals []value) int { return len(vals) - len(withoutControls(vals)) }

// covers reports whether names are all that a list of values holds, but for the
// control slots.
func covers(names []string, vals []value) bool { return len(withoutControls(vals)) == len(names) }

func isSeedName(name string) bool {
	switch name {
	case "seed", "noise_seed", "seed_num", "random_seed", "rand_seed", "value", "number", "int", "wildcard_seed":
		return true
	}
	return false
}

// hasControl reports whether a control slot stands behind the first of the values: the
// slots have no names, so there are more values than names. After a seed one is
// looked for in any case, because tables may name more than a node of its time had.
func hasControl(vals []value, names []string) bool {
	if isSeedName(names[0]) {
		return isControl(vals[1]) && !namesControl(names, vals) || oldControl(vals[1:], names[1:])
	}
	return vals[0].Kind == jsonscan.Number && isControl(vals[1]) && len(vals) > len(names) && !namesControl(names, vals)
}

// namesControl reports whether a node declares such a choice itself.
func namesControl(names []string, vals []value) bool {
	if len(names) < 2 || len(vals) != len(names) {
		return false
	}
	return names[1] == controlWidget || strings.Contains(names[1], "mode") || names[1] == "action"
}

// oldControl reports whether the first value is a control slot of early documents, a yes or no, or of packs
// that leave it empty, by there being more values than names.
func oldControl(vals []value, names []string) bool {
	return (vals[0].Kind == jsonscan.Bool || vals[0].Kind == jsonscan.Null) && len(vals) > len(names)
}

func isControl(v value) bool {
	switch v.Str() {
	case "fixed", "increment", "decrement", "randomize", "increment-wrap":
		return true
	}
	return false
}
