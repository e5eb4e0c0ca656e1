package outreach

import (
	"cmp"
	"slices"
	"time"
)

// Member is a prospect as it was registered, with the keys that its live rows have.
type Member struct {
	Hash      string
	CreatedAt time.Time
	Keys      []Key
}

// CompareMembers orders members by age: of those that are one person, the first is the one
// that stays.
func CompareMembers(a, b Member) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Hash, b.Hash))
}

// Group returns which members are one person, each group with its oldest member first.
// A personal key ties all that have it. A shared key ties two only where no stronger key says
// that they are two people: both have keys of a kind that goes before it, and none in common.
func Group(members []Member) [][]Member {
	members = slices.Clone(members)
	slices.SortFunc(members, CompareMembers)
	groups := make([][]Member, 0, len(members))
	for _, m := range members {
		groups = append(groups, []Member{m})
	}
	for tied := true; tied; {
		tied = false
		for i := 0; i < len(groups) && !tied; i++ {
			for j := i + 1; j < len(groups) && !tied; j++ {
				if Tied(keysOf(groups[i]), keysOf(groups[j])) {
					groups[i] = append(groups[i], groups[j]...)
					slices.SortFunc(groups[i], CompareMembers)
					groups = slices.Delete(groups, j, j+1)
					tied = true
				}
			}
		}
	}
	return groups
}

func keysOf(group []Member) (keys []Key) {
	for _, m := range group {
		keys = append(keys, m.Keys...)
	}
	return keys
}

// Tied reports whether two sets of keys are of one person.
func Tied(a, b []Key) bool {
	strongest := -1 // of the shared keys in common
	for _, k := range a {
		if !slices.Contains(b, k) {
			continue
		}
		if !k.Shared() {
			return true
		}
		if r := k.Kind.rank(); strongest < 0 || r < strongest {
			strongest = r
		}
	}
	if strongest < 0 {
		return false
	}
	for _, kind := range KeyKinds[:strongest] {
		if has(a, kind) && has(b, kind) { // and none in common, or that one would be the strongest
			return false
		}
	}
	return true
}

func has(keys []Key, kind KeyKind) bool {
	return slices.ContainsFunc(keys, func(k Key) bool { return k.Kind == kind })
}
