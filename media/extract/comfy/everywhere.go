package comfy

import (
	"regexp"
	"strings"

	"vitrine/internal/jsonscan"
)

// everywhere holds the nodes that feed every open input of a type without a
// drawn link.
type everywhere struct {
	senders map[*scope][]sender
	count   int
}

// sender is one such node's offer: everything of a type within its filters, in its
// own level of the graph.
type sender struct {
	from      uiLink
	typ       string
	title     *regexp.Regexp
	input     *regexp.Regexp
	priority  float64
	uncertain bool // limited to a group or a colour, or by a filter that cannot be read
}

func isEverywhere(typ string) bool {
	return strings.HasPrefix(typ, "Anything Everywhere") || typ == "Prompts Everywhere"
}

const seedEverywhere = "Seed Everywhere" // a node that runs, and offers what it gives

var (
	positiveInput = regexp.MustCompile(`(?i)(^|[_\W])pos|^prompt`)
	negativeInput = regexp.MustCompile(`(?i)(^|[_\W])neg`)
	seedInput     = regexp.MustCompile(`seed|随机种`)
)

// notedLinks reads the links that the editor wrote down for such nodes, by the
// target's id and slot.
func notedLinks(v value) map[notedInput]uiLink {
	out := map[notedInput]uiLink{}
	noted := v.Get("extra").Get("ue_links").List
	for i := range noted {
		l := noted[i]
		u := uiLink{from: l.Get("upstream").ID(), typ: l.Get("type").Str()}
		u.fromSlot, _ = l.Get("upstream_slot").Integer()
		at, ok := l.Get("downstream_slot").Integer()
		if ok {
			out[notedInput{l.Get("downstream").ID(), at}] = u
		}
	}
	return out
}

// notedInput is an input by its node's id and its place.
type notedInput struct {
	node string
	slot int
}

// maxSenders bounds the offers, each of which every open input is compared with.
const maxSenders = 256

// readEverywhere collects the offers of all levels.
func (c *converter) readEverywhere() everywhere {
	e := everywhere{senders: map[*scope][]sender{}}
	for _, s := range c.opened {
		for _, u := range s.def.nodes {
			if e.count >= maxSenders {
				return e
			}
			if u.mode != modeMuted && u.mode != modeBypassed && (isEverywhere(u.typ) || u.typ == seedEverywhere) {
				offers := sendersOf(s, u)
				e.senders[s] = append(e.senders[s], offers...)
				e.count += len(offers)
			}
		}
	}
	return e
}

func sendersOf(s *scope, u *uiNode) []sender {
	if u.typ == seedEverywhere {
		return []sender{{from: uiLink{from: u.id, typ: "INT"}, typ: "INT", input: seedInput, priority: u.sendPriority()}}
	}
	var out []sender
	for i := range u.inputs {
		l, ok := s.def.links[u.inputs[i].link]
		if !ok {
			continue
		}
		offer := sender{from: l, typ: typeOf(s, l), priority: u.sendPriority()}
		offer.uncertain = u.limited() || repeats(s, u, i)
		offer.filter(u)
		if u.typ == "Prompts Everywhere" {
			if offer.input = positiveInput; i == 1 {
				offer.input = negativeInput
			}
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

// repeats reports whether a node offers two things of one type; which goes where is
// then decided by names in ways that have changed.
func repeats(s *scope, u *uiNode, at int) bool {
	if u.typ == "Prompts Everywhere" {
		return false
	}
	typ := typeOf(s, s.def.links[u.inputs[at].link])
	for i := range u.inputs {
		if l, ok := s.def.links[u.inputs[i].link]; ok && i != at && typeOf(s, l) == typ {
			return true
		}
	}
	return false
}

// rules returns the properties in which such nodes keep their limits since they can
// be set for each of them.
func (u *uiNode) rules() value { return u.props.Get("ue_properties") }

// filter reads the patterns that the title of a target and the name of its input
// must match.
func (o *sender) filter(u *uiNode) {
	title, input := u.rules().Get("title_regex").Str(), u.rules().Get("input_regex").Str()
	if u.rules().Get("version").Kind == jsonscan.Null && u.typ == "Anything Everywhere?" {
		title, input = u.widgetText(0), u.widgetText(1)
	}
	var titleOK, inputOK bool
	o.title, titleOK = pattern(title)
	o.input, inputOK = pattern(input)
	o.uncertain = o.uncertain || !titleOK || !inputOK
}

func (u *uiNode) widgetText(at int) string {
	if at >= len(u.widgets.List) {
		return ""
	}
	return u.widgets.List[at].Str()
}

// pattern reads a filter; nil stands for one that lets everything through.
func pattern(s string) (re *regexp.Regexp, ok bool) {
	if s == "" || s == ".*" {
		return nil, true
	}
	if len(s) > 256 {
		return nil, false
	}
	re, err := regexp.Compile(s)
	return re, err == nil
}

// limited reports whether a node offers to a group or a colour of nodes only, or to
// what its patterns do not match. Where these lie is not looked at.
func (u *uiNode) limited() bool {
	for _, v := range []value{u.props, u.rules()} {
		for _, name := range []string{"group_restricted", "color_restricted"} {
			if n, ok := v.Get(name).Integer(); ok && n > 0 {
				return true
			}
		}
	}
	if g := u.rules().Get("group_regex").Str(); g != "" && g != ".*" {
		return true
	}
	for _, m := range u.rules().Members {
		if strings.Contains(m.Name, "invert") && m.Val.Kind == jsonscan.Bool && m.Val.Text == "true" {
			return true
		}
	}
	g := u.widgetText(2)
	return u.typ == "Anything Everywhere?" && g != "" && g != ".*"
}

// sendPriority is the rank by which one of several offers is taken: since limits
// are properties it is computed from them or set, before that each kind had its own.
func (u *uiNode) sendPriority() float64 {
	fixed := u.typ == "Prompts Everywhere" || u.typ == seedEverywhere
	if u.rules().Get("version").Kind == jsonscan.Null {
		switch {
		case u.typ == "Anything Everywhere?":
			return 10
		case fixed:
			return 5
		case u.typ == "Anything Everywhere":
			return 2
		}
		return 0
	}
	if s, ok := scalar(u.rules().Get("priority")); ok {
		if f := parseFloat(s); f != nil {
			return *f
		}
	}
	rank := 10.0
	if fixed {
		rank += 10
	}
	for _, name := range []string{"title_regex", "input_regex", "group_regex"} {
		if re := u.rules().Get(name).Str(); re != "" && re != ".*" {
			rank += 20
			break
		}
	}
	return rank
}

// takesOffers reports whether an open input may be fed: sockets, and widgets that
// people opened for it.
func (u *uiNode) takesOffers(in *slot) bool {
	if u.props.Get("rejects_ue_links").Text == "true" {
		return false
	}
	if in.widget == "" {
		return true
	}
	for _, v := range []value{u.props, u.rules()} {
		if v.Get("widget_ue_connectable").Get(in.name).Text == "true" {
			return true
		}
	}
	return false
}

// source returns what an open input gets without a link. The links the editor noted
// are complete for their level. Of several offers the one of the highest rank
// counts; none does when two share it, or when it hangs on what is not looked at.
func (e *everywhere) source(c *converter, s *scope, u *uiNode, in *slot, hops int) origin {
	if len(s.def.noted) > 0 {
		for i := range u.inputs {
			if &u.inputs[i] == in {
				if l, ok := s.def.noted[notedInput{u.id, i}]; ok {
					return c.fromNode(s, l, hops+1)
				}
			}
		}
		return origin{}
	}
	if len(e.senders[s]) == 0 || in.typ == "" || in.typ == "*" || !u.takesOffers(in) {
		return origin{}
	}
	var best *sender
	tied := false
	for i := range e.senders[s] {
		offer := &e.senders[s][i]
		if offer.from.from == u.id || !offer.meant(u, in) {
			continue
		}
		switch {
		case best == nil || offer.priority > best.priority:
			best, tied = offer, false
		case offer.priority == best.priority:
			tied = tied || offer.from != best.from
		}
	}
	if best == nil || tied || best.uncertain {
		return origin{}
	}
	return c.fromNode(s, best.from, hops+1)
}

func (o *sender) meant(u *uiNode, in *slot) bool {
	name := in.name
	if in.label != "" {
		name = in.label
	}
	return o.typ == in.typ && (o.title == nil || o.title.MatchString(titleOf(u))) && (o.input == nil || o.input.MatchString(name))
}

func titleOf(u *uiNode) string {
	if u.title != "" {
		return u.title
	}
	if s := u.props.Get("Node name for S&R").Str(); s != "" {
		return s
	}
	return u.typ
}
