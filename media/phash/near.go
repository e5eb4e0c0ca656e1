package phash

import "slices"

// Seen is a picture among those that Paired compares.
type Seen struct {
	Hash   Hash
	Hidden bool   // only its owner sees it
	Owner  string // of a hidden one
	Gone   bool   // it is like nothing, but what was like it may have to be looked at again
}

// Paired returns, of every picture that is within the distance of one of some hashes, whether
// another picture is alike that everybody sees who sees it, by its place in the list. A pair
// for which apart is true is not alike; nil keeps none apart. It takes time in proportion to
// the number of changed hashes, plus those near them, times the length of the list.
func Paired(list []Seen, changed []Hash, distance int, apart func(i, j int) bool) map[int]bool {
	slices.Sort(changed)
	changed = slices.Compact(changed)
	var touched []int
	for i, p := range list {
		if slices.ContainsFunc(changed, func(h Hash) bool { return h.Distance(p.Hash) <= distance }) {
			touched = append(touched, i)
		}
	}
	paired := make(map[int]bool, len(touched))
	for _, i := range touched {
		paired[i] = !list[i].Gone && slices.ContainsFunc(touched, func(j int) bool { return alike(list, i, j, distance, apart) }) ||
			!list[i].Gone && anywhere(list, i, distance, apart)
	}
	return paired
}

// anywhere looks for one that is like a picture in the whole list.
func anywhere(list []Seen, i, distance int, apart func(i, j int) bool) bool {
	for j := range list {
		if alike(list, i, j, distance, apart) {
			return true
		}
	}
	return false
}

// alike reports whether the picture j makes i a duplicate.
func alike(list []Seen, i, j, distance int, apart func(i, j int) bool) bool {
	a, b := &list[i], &list[j]
	switch {
	case a.Hash.Distance(b.Hash) > distance || i == j || b.Gone:
		return false
	case b.Hidden && (!a.Hidden || a.Owner != b.Owner):
		return false
	}
	return apart == nil || !apart(i, j)
}
