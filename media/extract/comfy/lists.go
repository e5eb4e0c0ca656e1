package comfy

import "strings"

// Some nodes make a list of texts and others pick one of it. A list that goes where one
// text must has the graph run once for each; which of them made a file is not in it.

// Pick is the item of a list that a class returns.
type Pick struct {
	List  string `json:"list"`  // the input on which the list comes in
	Index string `json:"index"` // the input that counts from 0; behind the end is the last
}

// maxItems bounds the items of one list.
const maxItems = 1_000

const manyItemsWarning = "the graph ran once for each text of a list; which of them made this file is not in it"

// picked returns the item that a node picks of a list.
func (r *texts) picked(n *node, side role) (string, bool) {
	pick := n.about.Pick
	items, ok := r.items(n.in(pick.List), side, map[*node]bool{n: true})
	at := r.values.whole(n, []string{pick.Index})
	if !ok || at == nil || len(items) == 0 || *at < -len(items) {
		return "", false
	}
	if *at < 0 {
		return items[len(items)+*at], true
	}
	return items[min(*at, len(items)-1)], true
}

// onlyItem returns what a list holds when that is one text.
func (r *texts) onlyItem(n *node, side role) (string, bool) {
	items, ok := r.itemsOf(n, side, map[*node]bool{})
	if len(items) > 1 {
		r.notes.warn(manyItemsWarning)
	}
	if !ok || len(items) != 1 {
		return "", false
	}
	return items[0], true
}

// items returns the texts that reach an input. It fails when one of them is not in
// the file.
func (r *texts) items(in *input, side role, seen map[*node]bool) ([]string, bool) {
	if in == nil {
		return nil, false
	}
	if in.linked() && in.from.node.role() == RoleList {
		return r.itemsOf(in.from.node, side, seen)
	}
	s, ok := r.of(in, side)
	return []string{s}, ok
}

func (r *texts) itemsOf(n *node, side role, seen map[*node]bool) ([]string, bool) {
	if seen[n] {
		return nil, false
	}
	seen[n] = true
	defer delete(seen, n)
	if n.about.Lines != "" {
		return r.lines(n, side)
	}
	var out []string
	for _, in := range textInputs(n) {
		more, ok := r.items(in, side, seen)
		if !ok {
			return nil, false
		}
		for _, s := range more {
			if s != "" && len(out) < maxItems {
				out = append(out, s)
			}
		}
	}
	return out, true
}

// lines returns the lines of a text that a node makes a list of, each between the
// texts that the node puts around it.
func (r *texts) lines(n *node, side role) ([]string, bool) {
	s, ok := r.of(n.in(n.about.Lines), side)
	if !ok {
		return nil, false
	}
	all := strings.Split(s, "\n")
	if remove, ok := r.values.scalar(n.in("remove_empty_lines"), "remove_empty_lines"); ok && truthy(remove) {
		kept := all[:0]
		for _, line := range all {
			if strings.TrimSpace(line) != "" {
				kept = append(kept, line)
			}
		}
		all = kept
	}
	from, most := 0, maxItems
	if v := r.values.whole(n, []string{"start_index"}); v != nil {
		from = min(max(*v, 0), max(len(all)-1, 0))
	}
	if v := r.values.whole(n, []string{"max_rows"}); v != nil && *v > 0 {
		most = min(*v, maxItems)
	}
	before, _ := r.of(n.in("prepend_text"), side)
	after, _ := r.of(n.in("append_text"), side)
	out := make([]string, 0, min(len(all)-from, most))
	for _, line := range all[from:min(len(all), from+most)] {
		out = append(out, before+line+after)
	}
	return out, true
}
