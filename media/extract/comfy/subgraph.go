package comfy

import "strconv"

// fromOutside resolves a boundary input of a subgraph: the link on the instance,
// or the value of the widget the instance shows for it.
func (c *converter) fromOutside(s *scope, at, hops int) origin {
	if s.parent == nil || at < 0 || at >= len(s.def.inputs) {
		return origin{}
	}
	if in := instanceInput(s.instance, s.def.inputs[at].name, at); in != nil && in.link != "" {
		if o := c.fromLink(s.parent, in.link, hops); o.found() {
			return o
		}
	}
	if at < len(s.params) && s.params[at].kind != kindNull {
		return origin{val: s.params[at], lit: true}
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
	l, ok := u.inner.intoOut[at]
	if !ok {
		return origin{}
	}
	return c.fromNode(u.inner, l, hops+1)
}

// bindWidgets hands the values an instance shows to the nodes inside it: by its
// list of shown widgets, and by its inputs that are widgets.
func (c *converter) bindWidgets(outer *scope, u *uiNode) {
	s := u.inner
	if s.def.group {
		bindGroup(s)
		return
	}
	own := outer.override[u.id]
	shown := u.props.get("proxyWidgets").list
	for i := range shown {
		if len(shown[i].list) < 2 {
			continue
		}
		id, name := shown[i].list[0].id(), shown[i].list[1].str()
		v, set := own[name]
		if !set && len(u.widgets.list) == len(shown) {
			v = u.widgets.list[i]
			set = v.kind != kindNull
		}
		if !set || name == "" {
			continue
		}
		if id == "-1" {
			s.setParam(name, v)
			continue
		}
		if s.override[id] == nil {
			s.override[id] = map[string]value{}
		}
		s.override[id][name] = v
	}
	bindInputs(s, u, own, len(shown) > 0)
}

// bindInputs reads the values of instance inputs that are widgets, which stand
// in the list of widget values in the order of the inputs.
func bindInputs(s *scope, u *uiNode, own map[string]value, shown bool) {
	at := 0
	for i := range u.inputs {
		in := &u.inputs[i]
		if in.widget == "" {
			continue
		}
		v, set := own[in.name]
		if !set && !shown && at < len(u.widgets.list) {
			v, set = u.widgets.list[at], true
		}
		at++
		if at < len(u.widgets.list) && isSeedName(in.widget) && isControl(u.widgets.list[at]) {
			at++
		}
		if set {
			s.setParam(in.name, v)
		}
	}
}

func (s *scope) setParam(name string, v value) {
	if s.params == nil {
		s.params = make([]value, len(s.def.inputs))
	}
	for i := range s.def.inputs {
		if s.def.inputs[i].name == name {
			s.params[i] = v
		}
	}
}
