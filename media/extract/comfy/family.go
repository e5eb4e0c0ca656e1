package comfy

import (
	"cmp"
	"slices"
	"strings"
)

// inFamilyOrder puts inputs that differ by a number or a letter into the order of
// these: text_a before text_b, conditioning_1 before conditioning_2. Nodes declare
// them so, but a document lists its links behind its values, whatever the node
// says. Inputs of different families keep their order, but for those whose names
// say that they stand in front or at the end.
func inFamilyOrder(list []*input) []*input {
	families := map[string][]int{}
	for i, in := range list {
		stem, _ := family(in.name)
		families[stem] = append(families[stem], i)
	}
	out := slices.Clone(list)
	for _, places := range families {
		members := make([]*input, len(places))
		for i, at := range places {
			members[i] = list[at]
		}
		slices.SortStableFunc(members, func(a, b *input) int {
			_, x := family(a.name)
			_, y := family(b.name)
			return cmp.Compare(x, y)
		})
		for i, at := range places {
			out[at] = members[i]
		}
	}
	slices.SortStableFunc(out, func(a, b *input) int { return cmp.Compare(endRank(a.name), endRank(b.name)) })
	return out
}

// family splits an input's name into what it shares with its kin and its place
// among them.
func family(name string) (stem string, place int) {
	name = strings.ToLower(name)
	if stem, num, ok := trailingNumber(name); ok {
		return stem, num
	}
	if n := len(name); n > 2 && name[n-2] == '_' && name[n-1] >= 'a' && name[n-1] <= 'z' {
		return name[:n-2], int(name[n-1]-'a') + 1
	}
	return name, 0
}

// endRank returns -1 for inputs that stand in front of the others, 1 for those behind, 0 for the rest.
func endRank(name string) int {
	switch strings.ToLower(name) {
	case "prefix", "prepend", "prepend_text", "text_prefix", "conditioning_to":
		return -1
	case "suffix", "append", "append_text", "text_suffix", "conditioning_from":
		return 1
	}
	return 0
}
