package comfy

import (
	"slices"
	"strings"

	"vitrine/library"
)

// promptPart is one text that steers a pass.
type promptPart struct {
	text string
	node *node
	far  bool   // an opaque node lies between it and the pass
	kind string // "" for the main text, area, encoder
	name string // the encoder's field, the area's place
}

// promptSet is everything one side of a pass's conditioning says.
type promptSet struct {
	parts        []promptPart
	guidance     *float64
	guidanceFrom *node
	unknown      bool // a text exists that the file does not hold
}

// joined returns the prompt as one text, nil when nothing says one. Empty texts
// count only when there is no other: an empty negative is still a negative.
func (s *promptSet) joined() *string {
	var texts []string
	seen := map[string]bool{}
	empty := false
	for _, p := range s.parts {
		key := strings.TrimSpace(p.text)
		at := p.node.id + "\x00" + key
		if p.kind == kindBox || seen[at] {
			continue
		}
		seen[at] = true
		if key == "" {
			empty = true
			texts = append(texts, "")
			continue
		}
		texts = append(texts, p.text)
	}
	if len(texts) == 0 {
		return nil
	}
	if len(texts) > 1 && empty {
		kept := texts[:0]
		for _, t := range texts {
			if t != "" {
				kept = append(kept, t)
			}
		}
		texts = kept
	}
	all := strings.Join(texts, "\n")
	if len(all) > maxText {
		all = strings.ToValidUTF8(all[:maxText], "")
	}
	return &all
}

// kindBox marks texts bound to a box of the picture that repeat words of the
// main prompt; they are regions, not part of the joined prompt.
const kindBox = "box"

// regions lists the texts one by one when there are several.
func (s *promptSet) regions(side role) []library.PromptRegion {
	if len(s.parts) < 2 {
		return nil
	}
	var out []library.PromptRegion
	for _, p := range s.parts {
		if strings.TrimSpace(p.text) == "" || p.kind == "" {
			continue
		}
		text := p.text
		reg := library.PromptRegion{Kind: p.kind, Name: p.name, NodeID: p.node.id}
		if p.kind == kindBox {
			reg.Kind = "area"
		}
		if side == rolePositive {
			reg.Positive = &text
		} else {
			reg.Negative = &text
		}
		out = append(out, reg)
	}
	return out
}

// of returns the positive and negative prompt that steer a pass.
func (r *prompts) of(n *node) (pos, neg *promptSet) {
	pos, neg = r.side(n, rolePositive), r.side(n, roleNegative)
	if n.opaque() && n.ownWords() {
		pos.parts = nil // which text it works by is not known
	}
	all := pos.parts
	pos.parts = withoutDoubtful(pos.parts, neg.parts)
	neg.parts = withoutDoubtful(neg.parts, all)
	return pos, neg
}

// withoutDoubtful leaves out the texts that reached a side through an opaque node and
// are those of the other side as well, or empty: such a node may as well blank them.
func withoutDoubtful(parts, other []promptPart) []promptPart {
	var sure []promptPart
	for _, p := range parts {
		same := slices.ContainsFunc(other, func(q promptPart) bool { return q.node == p.node })
		if !p.far || !same && strings.TrimSpace(p.text) != "" {
			sure = append(sure, p)
		}
	}
	return sure
}

func (r *prompts) side(n *node, role role) *promptSet {
	key := promptKey{n, role}
	if set := r.memo[key]; set != nil {
		return set
	}
	set := &promptSet{}
	r.memo[key] = set
	w := sideReader{r: r, set: set, seen: map[sideKey]bool{}}
	if role == rolePositive {
		own, replaces := r.detailText(n)
		if replaces {
			set.parts = []promptPart{own}
			return set
		}
	}
	w.fromSampler(n, role)
	return set
}

// detailText returns the text that a detailer holds itself, or in its pipe: where
// there is one, the detailer works by it in the place of the prompt it is handed.
// Texts that are marked to be joined to the prompt do not replace it.
func (r *prompts) detailText(n *node) (promptPart, bool) {
	for hops := 0; n != nil && hops < 8 && n.like("detailer"); hops++ {
		s, ok := r.texts.of(n.in("wildcard"), rolePositive)
		if ok && strings.TrimSpace(s) != "" {
			return promptPart{text: s, node: n}, !strings.HasPrefix(strings.TrimSpace(s), "[CONCAT]")
		}
		pipe := n.pipe()
		if pipe == nil {
			break
		}
		n = pipe.node
	}
	return promptPart{}, false
}

type promptKey struct {
	n    *node
	role role
}
