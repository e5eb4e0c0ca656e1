package comfy

import "strconv"

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
	if u.widgets.kind == kindObject {
		var out []widget
		for _, m := range u.widgets.members {
			out = append(out, widget{m.name, m.val})
		}
		return out
	}
	vals := u.widgets.list
	names := widgetNames(u, len(vals))
	var out []widget
	at := 0
	for _, name := range names {
		if at >= len(vals) {
			break
		}
		if name != "" {
			out = append(out, widget{name, vals[at]})
		}
		at++
		if at < len(vals) && isControl(vals[at]) && (isSeedName(name) || controlled[u.typ]) {
			at++
		}
	}
	for ; at < len(vals); at++ {
		if len(names) == 0 || vals[at].kind == kindObject {
			out = append(out, widget{"widget_" + strconv.Itoa(at), vals[at]})
		}
	}
	return out
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
	table := widgetOrder[u.typ]
	if len(own) > len(table) || len(table) == 0 && len(own) > 0 && len(own)+2 >= values {
		return own
	}
	if len(table) > 0 {
		return table
	}
	return nil
}

func isSeedName(name string) bool {
	switch name {
	case "seed", "noise_seed", "seed_num", "random_seed", "rand_seed", "value", "number", "int", "wildcard_seed":
		return true
	}
	return false
}

// controlled lists classes with a control slot after a widget that is no seed.
var controlled = map[string]bool{"PrimitiveInt": true, "PrimitiveFloat": true, "INTConstant": true}

func isControl(v value) bool {
	switch v.str() {
	case "fixed", "increment", "decrement", "randomize", "increment-wrap":
		return true
	}
	return false
}
