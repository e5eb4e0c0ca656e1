package comfy

import (
	"regexp"
	"strconv"
	"strings"
)

// everywhere holds the nodes that feed every open input of a type without a
// drawn link.
type everywhere struct {
	senders []sender
}

// sender is one such node's offer: everything of a type within its filters, in its
// own level of the graph and in the subgraphs on it.
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

// notedLinks reads the links that the editor wrote down for such nodes, by the
// target's id and slot.
func notedLinks(v value) map[[2]string]uiLink {
	out := map[[2]string]uiLink{}
	noted := v.get("extra").get("ue_links").list
	for i := range noted {
		l := noted[i]
		u := uiLink{from: l.get("upstream").id(), typ: l.get("type").str()}
		u.fromSlot, _ = l.get("upstream_slot").integer()
		out[[2]string{l.get("downstream").id(), l.get("downstream_slot").id()}] = u
	}
	return out
}

// maxSenders bounds the offers, each of which every open input is compared with.
const maxSenders = 256

// readEverywhere collects the offers of all levels, the innermost first: they come
// before those from further out.
func (c *converter) readEverywhere() everywhere {
	var e everywhere
	for i := len(c.opened) - 1; i >= 0; i-- {
		s := c.opened[i]
		for _, u := range s.def.nodes {
			if len(e.senders) >= maxSenders {
				return e
			}
			if isEverywhere(u.typ) && u.mode != modeMuted && u.mode != modeBypassed {
				e.senders = append(e.senders, sendersOf(s, u)...)
			}
		}
	}
	return e
}

func sendersOf(s *scope, u *uiNode) []sender {
	var out []sender
	for i := range u.inputs {
		l, ok := s.def.links[u.inputs[i].link]
		if !ok {
			continue
		}
		offer := sender{s: s, link: u.inputs[i].link, typ: typeOf(s, l)}
		switch u.typ {
		case "Prompts Everywhere":
			if offer.input = positiveInput; i == 1 {
				offer.input = negativeInput
			}
		case "Anything Everywhere?":
			offer.title, offer.input = filter(u, 0), filter(u, 1)
		}
		if offer.typ != "" && offer.typ != "*" {
			out = append(out, offer)
		}
	}
	return out
}

// typeOf looks through reroutes for the type of a link.
func typeOf(s *scope, l uiLink) string {
	if u := s.byID[l.from]; u != nil && l.fromSlot >= 0 && l.fromSlot < len(u.outputs) {
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
			if l, ok := s.def.noted[[2]string{u.id, strconv.Itoa(i)}]; ok {
				return c.fromNode(s, l, 0)
			}
		}
	}
	if len(e.senders) == 0 || in.typ == "" || in.typ == "*" {
		return origin{}
	}
	best := -1
	for i, offer := range e.senders {
		if !s.within(offer.s) || offer.typ != in.typ || offer.title != nil && !offer.title.MatchString(titleOf(u)) || offer.input != nil && !offer.input.MatchString(in.name) {
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

// within reports whether a level is another one or lies in it.
func (s *scope) within(outer *scope) bool {
	for ; s != nil; s = s.parent {
		if s == outer {
			return true
		}
	}
	return false
}

func titleOf(u *uiNode) string {
	if u.title != "" {
		return u.title
	}
	return u.typ
}
