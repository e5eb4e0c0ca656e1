package comfy

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"vitrine/internal/jsonscan"
)

// fromOutside resolves a boundary input of a subgraph: the link on the instance,
// or the value of the widget the instance shows for it.
func (c *converter) fromOutside(s *scope, at, hops int) origin {
	if s.parent == nil || at < 0 || at >= len(s.def.inputs) {
		return origin{}
	}
	if in := instanceInput(s.instance, s.def.inputs[at].name, at); in != nil {
		o := c.fromLink(s.parent, in.link, hops)
		if !s.parent.def.has(in.link) {
			o = c.everywhere.source(c, s.parent, s.instance, in, hops)
		}
		if o.found() {
			return o
		}
	}
	if at < len(s.params) && s.params[at].Kind != jsonscan.Null {
		return origin{val: s.params[at], lit: true}
	}
	if s.def.component && isValueType(s.def.inputs[at].typ) {
		return origin{val: value{Kind: jsonscan.Null}, lit: true} // what a node inside held before is no value of the instance
	}
	return origin{}
}

// instanceInput finds the instance's input for a boundary slot, by name and
// otherwise by place.
func instanceInput(u *uiNode, name string, at int) *slot {
	for i := range u.inputs {
		if u.inputs[i].name == name && name != "" {
			return &u.inputs[i]
		}
	}
	if at < len(u.inputs) && u.inputs[at].name == "" {
		return &u.inputs[at]
	}
	return nil
}

// fromInside resolves an output of an instance to the node inside that feeds it.
func (c *converter) fromInside(u *uiNode, at, hops int) origin {
	if u.inner.def.group {
		n, slot := u.inner.def.groupOutput(at)
		if n < 0 {
			return origin{}
		}
		return c.fromNode(u.inner, uiLink{from: strconv.Itoa(n), fromSlot: slot}, hops+1)
	}
	l, ok := u.inner.def.toOut(at)
	if !ok {
		return origin{}
	}
	return c.fromNode(u.inner, l, hops+1)
}

// bindWidgets hands the values an instance shows to the nodes inside it: by its
// list of shown widgets, and by its inputs that are widgets. Values set further
// out come first.
func (c *converter) bindWidgets(outer *scope, u *uiNode) {
	s := u.inner
	if s.def.group {
		bindGroup(s)
		return
	}
	if s.def.component {
		bindComponent(s)
		return
	}
	shown := shownWidgets(u)
	inputs := widgetInputs(u)
	if at := s.def.widgetInputs(); allBoundary(u, inputs, shown, at) {
		for i, v := range u.widgets.List {
			s.setParamAt(at[i], v)
		}
	} else {
		forInputs, forShown := instanceValues(u, inputs, shown)
		for i, in := range inputs {
			s.setParam(in.name, forInputs[i])
		}
		for i, w := range shown {
			s.setInner(w, forShown[i])
		}
	}
	for _, m := range u.named.Members {
		s.setParam(m.Name, m.Val)
	}
	set := outer.override[u.id]
	for _, name := range slices.Sorted(maps.Keys(set)) {
		s.setShown(shown, name, set[name])
	}
}

// setShown sets what an instance shows under a name from further out. Where several
// widgets have the name, the id of the node they belong to stands in front of it.
func (s *scope) setShown(shown []shownWidget, name string, v value) {
	at, plain := splitShown(name)
	if at == "" {
		s.setParam(plain, v)
	} else {
		s.setParamOf(at, plain, v)
	}
	for _, w := range shown {
		if w.name == plain && (at == "" || w.node == at || w.at == at) {
			s.setInner(w, v)
			return
		}
	}
}

// setParamOf sets the boundary input that feeds a widget of an inner node.
func (s *scope) setParamOf(node, widget string, v value) {
	for _, u := range s.def.nodes {
		if u.id != node {
			continue
		}
		for i := range u.inputs {
			l, ok := s.def.links[u.inputs[i].link]
			if at := l.fromSlot; ok && u.inputs[i].widget == widget && l.from == subgraphIn && at >= 0 && at < len(s.def.inputs) {
				s.setParam(s.def.inputs[at].name, v)
			}
		}
		return
	}
}

// shownWidget is one inner widget that an instance shows. Where the inner node is an
// instance again, at is the node inside it that the widget belongs to.
type shownWidget struct{ node, name, at string }

// maxShown bounds the widgets that one instance shows; an instance may lie in others
// that are opened many times.
const maxShown = 512

func (w shownWidget) preview() bool { return strings.HasPrefix(w.name, "$$") }

// shownWidgets reads the list of shown widgets: [node, widget] or [node, widget,
// node inside], or with the ids of the nodes inside in front of the widget's name.
func shownWidgets(u *uiNode) []shownWidget {
	list := u.props.Get("proxyWidgets")
	if list.Kind == jsonscan.String {
		budget := maxShown * 8
		list, _ = jsonscan.ParseAll(list.Text, &budget)
	}
	var out []shownWidget
	for _, e := range list.List[:min(len(list.List), maxShown)] {
		if len(e.List) < 2 {
			continue
		}
		w := shownWidget{node: e.List[0].ID()}
		w.at, w.name = splitShown(e.List[1].Str())
		if len(e.List) > 2 && w.at == "" {
			w.at = e.List[2].ID()
		}
		out = append(out, w)
	}
	return out
}

var shownPrefix = regexp.MustCompile(`^\s*(\d+)\s*:\s*(.+)$`)

// splitShown takes the ids off the front of a widget's name; the last one counts.
func splitShown(name string) (at, plain string) {
	for range 16 {
		m := shownPrefix.FindStringSubmatch(name)
		if m == nil {
			break
		}
		at, name = m[1], m[2]
	}
	return at, name
}

// key is the name under which a widget of an inner node is set.
func (w shownWidget) key() string {
	if w.at == "" {
		return w.name
	}
	return w.at + ": " + w.name
}

func widgetInputs(u *uiNode) []slot {
	var out []slot
	for i := range u.inputs {
		if u.inputs[i].widget != "" {
			out = append(out, u.inputs[i])
		}
	}
	return out
}

// allBoundary reports whether an instance's list of values covers all inputs of its
// subgraph that are widgets, as newer editors write it: the instance then lists as its
// own inputs only those that a link was drawn to once.
func allBoundary(u *uiNode, inputs []slot, shown []shownWidget, at []int) bool {
	n := len(u.widgets.List)
	return n > 0 && n == len(at) && n != len(inputs) && n != len(shown) && n != len(inputs)+len(shown)
}

// widgetInputs returns the places of the boundary inputs that feed a widget inside.
func (d *definition) widgetInputs() []int {
	feeds := make([]bool, len(d.inputs))
	for _, u := range d.nodes {
		for i := range u.inputs {
			l, ok := d.links[u.inputs[i].link]
			if ok && u.inputs[i].widget != "" && l.from == subgraphIn && l.fromSlot >= 0 && l.fromSlot < len(feeds) {
				feeds[l.fromSlot] = true
			}
		}
	}
	var at []int
	for i, widget := range feeds {
		if widget {
			at = append(at, i)
		}
	}
	return at
}

// instanceValues deals an instance's list of values out. Which of its widgets the
// list covers has changed between versions of the editor; the length tells.
func instanceValues(u *uiNode, inputs []slot, shown []shownWidget) (forInputs, forShown []value) {
	forInputs, forShown = make([]value, len(inputs)), make([]value, len(shown))
	vals := u.widgets.List
	if withPreviews(vals, shown) {
		copy(forShown, vals)
		return forInputs, forShown
	}
	if n := len(inputs) + len(shown); len(vals) != len(shown) && len(vals) != len(inputs) && len(vals) != n {
		vals = withoutControls(vals)
	}
	if plain := withoutControlWidgets(shown); len(vals) == len(plain) && len(plain) < len(shown) {
		for i, at := range plain {
			forShown[at] = vals[i]
		}
		return forInputs, forShown
	}
	switch {
	case len(vals) == 0:
	case len(vals) == len(shown):
		copy(forShown, vals)
	case len(vals) == len(inputs):
		copy(forInputs, vals)
	case len(vals) == len(inputs)+len(shown):
		copy(forInputs, vals)
		copy(forShown, vals[len(inputs):])
	case len(shown) == 0 && len(vals) > len(inputs):
		copy(forInputs, vals)
	}
	return forInputs, forShown
}

// withPreviews reports whether a list of values has places for the previews too, which
// are empty. It ends with the last value there is.
func withPreviews(vals []value, shown []shownWidget) bool {
	if len(vals) == 0 || len(vals) > len(shown) {
		return false
	}
	places := 0
	for i, w := range shown[:len(vals)] {
		if w.preview() && vals[i].Kind != jsonscan.Null {
			return false
		}
		if w.preview() {
			places++
		}
	}
	return places > 0 && !slices.ContainsFunc(shown[len(vals):], func(w shownWidget) bool { return !w.preview() && w.name != controlWidget })
}

// withoutControls drops the control slots after numbers.
func withoutControls(vals []value) []value {
	var out []value
	for i, v := range vals {
		if i > 0 && isControl(v) && vals[i-1].Kind == jsonscan.Number {
			continue
		}
		out = append(out, v)
	}
	return out
}

const controlWidget = "control_after_generate"

// withoutControlWidgets returns the places of the shown widgets that are settings.
func withoutControlWidgets(shown []shownWidget) []int {
	var out []int
	for i, w := range shown {
		if w.name != controlWidget && !w.preview() {
			out = append(out, i)
		}
	}
	return out
}

// setInner sets a widget of a node inside; node "-1" is the boundary itself.
func (s *scope) setInner(w shownWidget, v value) {
	if v.Kind == jsonscan.Null || w.name == "" || w.name == controlWidget || w.preview() {
		return
	}
	if w.node == "-1" {
		s.setParam(w.name, v)
		return
	}
	if s.override[w.node] == nil {
		s.override[w.node] = map[string]value{}
	}
	s.override[w.node][w.key()] = v
}

// setParam sets the value of a boundary input that is a widget.
func (s *scope) setParam(name string, v value) {
	if v.Kind == jsonscan.Null {
		return
	}
	if s.params == nil {
		s.params = make([]value, len(s.def.inputs))
	}
	for i := range s.def.inputs {
		if s.def.inputs[i].name == name {
			s.params[i] = v
		}
	}
}

// setParamAt sets the value of a boundary input by its place.
func (s *scope) setParamAt(at int, v value) {
	if v.Kind == jsonscan.Null {
		return
	}
	if s.params == nil {
		s.params = make([]value, len(s.def.inputs))
	}
	s.params[at] = v
}
