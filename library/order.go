package library

import "slices"

// Moved returns the fewest of the things in both orders whose removal leaves the others in
// the same order in both, in the order of to. Neither order names a thing twice.
func Moved(from, to []string) []string {
	place := make(map[string]int, len(from))
	for i, id := range from {
		place[id] = i
	}
	var common []string
	for _, id := range to {
		if _, ok := place[id]; ok {
			common = append(common, id)
		}
	}
	// Those that stay are a longest increasing subsequence of the places.
	tails := []int{}                   // tails[k] ends the best sequence of k+1 things, as an index into common
	before := make([]int, len(common)) // the thing before it in its sequence
	for i, id := range common {
		k, _ := slices.BinarySearchFunc(tails, place[id], func(j, at int) int { return place[common[j]] - at })
		before[i] = -1
		if k > 0 {
			before[i] = tails[k-1]
		}
		tails = append(tails[:k], append([]int{i}, tails[min(k+1, len(tails)):]...)...)
	}
	stays := make([]bool, len(common))
	if len(tails) > 0 {
		for i := tails[len(tails)-1]; i >= 0; i = before[i] {
			stays[i] = true
		}
	}
	var moved []string
	for i, id := range common {
		if !stays[i] {
			moved = append(moved, id)
		}
	}
	return moved
}
