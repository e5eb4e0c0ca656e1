package comfy

import (
	"regexp"
	"strconv"
	"strings"
)

// everywhere holds the nodes that feed every open input of a type without a
// drawn link, and the links the editor noted for them.
type everywhere struct {
	noted   map[[2]string]uiLink // target id and slot → source
	senders []sender
}

// sender is one such node's offer: everything of a type, within its filters.
type sender struct {
	s     *scope
	link  string
	typ   string
	title *regexp.Regexp
	input *regexp.Regexp
}

func isEverywhere(typ string) bool {
	return strings.HasPrefix(typ, "Anything Everywhere") || typ == "Prompts Everywhere" || typ == "Seed Everywhere"
}

var (
	positiveInput = regexp.MustCompile(`(?i)(^|[_\W])pos`)
	negativeInput = regexp.MustCompile(`(?i)(^|[_\W])neg`)
)

func (c *converter) readEverywhere(doc value) everywhere {
	e := everywhere{noted: map[[2]string]uiLink{}}
	noted := doc.get("extra").get("ue_links").list
	for i := range noted {
		l := noted[i]
		u := uiLink{from: l.get("upstream").id(), typ: l.get("type").str()}
		u.fromSlot, _ = l.get("upstream_slot").integer()
		e.noted[[2]string{l.get("downstream").id(), l.get("downstream_slot").id()}] = u
	}
	for _, u := range c.root.def.nodes {
		if isEverywhere(u.typ) && u.mode != modeMuted && u.mode != modeBypassed {
			e.senders = append(e.senders, c.sendersOf(u)...)
		}
	}
	return e
}

func (c *converter) sendersOf(u *uiNode) []sender {
	var out []sender
	for i := range u.inputs {
		l, ok := c.root.def.links[u.inputs[i].link]
		if !ok {
			continue
		}
		s := sender{s: c.root, link: u.inputs[i].link, typ: c.typeOf(l)}
		switch u.typ {
		case "Prompts Everywhere":
			if s.input = positiveInput; i == 1 {
				s.input = negativeInput
			}
		case "Anything Everywhere?":
			s.title, s.input = filter(u, 0), filter(u, 1)
		}
		if s.typ != "" && s.typ != "*" {
			out = append(out, s)
		}
	}
	return out
}

// typeOf looks through reroutes for the type of a link.
func (c *converter) typeOf(l uiLink) string {
	if u := c.root.byID[l.from]; u != nil && l.fromSlot >= 0 && l.fromSlot < len(u.outputs) {
		if t := u.outputs[l.fromSlot].typ; t != "*" && t != "" {
			return t
		}
	}
	return l.typ
}

func filter(u *uiNode, at int) *regexp.Regexp {
	if at >= len(u.widgets.list) {
		return nil
	}
	s := u.widgets.list[at].str()
	if s == "" || s == ".*" || len(s) > 256 {
		return nil
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return nil
	}
	return re
}

// source gives what an open input gets without a link. Filtered offers come
// before general ones.
func (e *everywhere) source(c *converter, s *scope, u *uiNode, in *slot) origin {
	for i := range u.inputs {
		if &u.inputs[i] == in {
			if l, ok := e.noted[[2]string{u.id, strconv.Itoa(i)}]; ok && s == c.root {
				return c.fromNode(s, l, 0)
			}
		}
	}
	if len(e.senders) == 0 || in.typ == "" || in.typ == "*" {
		return origin{}
	}
	best := -1
	for i, offer := range e.senders {
		if offer.typ != in.typ || offer.title != nil && !offer.title.MatchString(titleOf(u)) || offer.input != nil && !offer.input.MatchString(in.name) {
			continue
		}
		if best < 0 || e.senders[best].title == nil && e.senders[best].input == nil && (offer.title != nil || offer.input != nil) {
			best = i
		}
	}
	if best < 0 {
		return origin{}
	}
	return c.fromLink(e.senders[best].s, e.senders[best].link, 0)
}

func titleOf(u *uiNode) string {
	if u.title != "" {
		return u.title
	}
	return u.typ
}
