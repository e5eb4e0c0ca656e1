package phash

import (
	"slices"
)

// MaxDistance is the largest distance that Group takes.
const MaxDistance = 10

// Group returns the groups of hashes that are alike, as indexes into the list; what is like
// nothing is in none. Each member of a group is within the distance of its first member, so a
// chain of small differences does not join what looks different: the first is the one
// with most others near it that are in no group yet, the earliest of those in the list.
//
// Two hashes within distance d agree in at least two of d+2 parts of their bits. So only
// those are compared that agree in two parts, one pair of parts at a time: memory is linear in
// the number of hashes and of pairs within the distance between different hashes that were not connected before.
//
// Two members for which apart is true never are in one group; nil keeps none apart.
func Group(hashes []Hash, distance int, apart func(i, j int) bool) [][]int {
	distance = min(max(distance, 0), MaxDistance)
	same := identical(hashes)
	parts := newForest(len(same.distinct))
	for _, key := range keysOf(distance) {
		joinBuckets(same.distinct, key, distance, parts)
	}
	var groups [][]int
	for _, component := range parts.components() {
		for _, star := range stars(same, component, distance) {
			near := func(i, j int) bool { return hashes[i].Distance(hashes[j]) <= distance }
			groups = append(groups, keepApart(star, near, apart)...)
		}
	}
	slices.SortFunc(groups, func(a, b []int) int { return a[0] - b[0] })
	return groups
}

// Around returns what is within the distance of one of the hashes, that itself first and then
// the nearest first, as indexes into the list. Two for which apart is true are not both in it:
// the nearer one is.
func Around(hashes []Hash, center, distance int, apart func(i, j int) bool) []int {
	near := []int{}
	for j, h := range hashes {
		if j != center && h.Distance(hashes[center]) <= distance {
			near = append(near, j)
		}
	}
	slices.SortStableFunc(near, func(a, b int) int { return hashes[a].Distance(hashes[center]) - hashes[b].Distance(hashes[center]) })
	list := []int{center}
	for _, j := range near {
		if apart == nil || !slices.ContainsFunc(list, func(i int) bool { return apart(i, j) }) {
			list = append(list, j)
		}
	}
	return list
}

// keepApart splits a group so that no two members are in one that are kept apart, and each
// still is near the first of its group.
func keepApart(group []int, near, apart func(i, j int) bool) (groups [][]int) {
	if apart == nil {
		return [][]int{group}
	}
	for len(group) > 1 {
		var together, rest []int
		for _, i := range group {
			fits := len(together) == 0 || near(together[0], i)
			if fits && !slices.ContainsFunc(together, func(j int) bool { return apart(i, j) }) {
				together = append(together, i)
			} else {
				rest = append(rest, i)
			}
		}
		if len(together) > 1 {
			groups = append(groups, together)
		}
		group = rest
	}
	return groups
}

// distinctHashes are the different hashes of a list, and where each stands.
type distinctHashes struct {
	distinct []Hash
	order    []int32 // indexes into the list, those of equal hashes together
	start    []int32 // of each distinct hash in order; one more at the end
}

func identical(hashes []Hash) distinctHashes {
	d := distinctHashes{order: make([]int32, len(hashes))}
	for i := range d.order {
		d.order[i] = int32(i)
	}
	slices.SortFunc(d.order, func(a, b int32) int {
		switch x, y := hashes[a], hashes[b]; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return int(a - b)
	})
	for i, at := range d.order {
		if i == 0 || hashes[at] != d.distinct[len(d.distinct)-1] {
			d.distinct, d.start = append(d.distinct, hashes[at]), append(d.start, int32(i))
		}
	}
	d.start = append(d.start, int32(len(hashes)))
	return d
}

// of returns the places in the list of a distinct hash.
func (d distinctHashes) of(i int32) []int32 { return d.order[d.start[i]:d.start[i+1]] }

// keysOf returns the masks of all pairs of d+2 parts.
func keysOf(distance int) (masks []Hash) {
	n := distance + 2
	part := func(i int) Hash {
		from, to := i*64/n, (i+1)*64/n
		return (^Hash(0) >> (64 - (to - from))) << from
	}
	for a := range n {
		for b := range a {
			masks = append(masks, part(a)|part(b))
		}
	}
	return masks
}

// joinBuckets joins the hashes within the distance among those that agree under a mask.
func joinBuckets(hashes []Hash, mask Hash, distance int, parts *forest) {
	order := make([]int32, len(hashes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		switch x, y := hashes[a]&mask, hashes[b]&mask; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && hashes[order[to]]&mask == hashes[order[from]]&mask {
			to++
		}
		for i := from; i < to; i++ {
			for j := i + 1; j < to; j++ {
				if hashes[order[i]].Distance(hashes[order[j]]) <= distance {
					parts.join(order[i], order[j])
				}
			}
		}
		from = to
	}
}

// stars splits a component into groups around one member each.
func stars(same distinctHashes, component []int32, distance int) (groups [][]int) {
	left := component
	for len(left) > 0 {
		best, most := 0, 0
		for i, a := range left {
			near := 0
			for _, b := range left {
				if same.distinct[a].Distance(same.distinct[b]) <= distance {
					near += len(same.of(b))
				}
			}
			if near > most || near == most && same.of(a)[0] < same.of(left[best])[0] {
				best, most = i, near
			}
			if len(left) > maxExact && i >= maxExact {
				break // of very many alike any of the first is a good center
			}
		}
		center := left[best]
		var group []int
		var rest []int32
		for _, b := range left {
			if same.distinct[center].Distance(same.distinct[b]) > distance {
				rest = append(rest, b)
				continue
			}
			for _, at := range same.of(b) {
				group = append(group, int(at))
			}
		}
		if len(group) > 1 {
			slices.Sort(group)
			groups = append(groups, centerFirst(group, int(same.of(center)[0])))
		}
		left = rest
	}
	return groups
}

// maxExact is up to how many different hashes of a component the best center is looked for.
const maxExact = 1000

func centerFirst(group []int, center int) []int {
	i := slices.Index(group, center)
	group = slices.Delete(group, i, i+1)
	return slices.Insert(group, 0, center)
}

// forest is a union of sets.
type forest struct{ parent []int32 }

func newForest(n int) *forest {
	f := &forest{make([]int32, n)}
	for i := range f.parent {
		f.parent[i] = int32(i)
	}
	return f
}

func (f *forest) root(i int32) int32 {
	for f.parent[i] != i {
		f.parent[i] = f.parent[f.parent[i]]
		i = f.parent[i]
	}
	return i
}

func (f *forest) join(a, b int32) {
	if x, y := f.root(a), f.root(b); x != y {
		f.parent[max(x, y)] = min(x, y)
	}
}

// components returns the sets, each in ascending order.
func (f *forest) components() [][]int32 {
	members := map[int32][]int32{}
	var roots []int32
	for i := range f.parent {
		r := f.root(int32(i))
		if len(members[r]) == 0 {
			roots = append(roots, r)
		}
		members[r] = append(members[r], int32(i))
	}
	out := make([][]int32, 0, len(roots))
	for _, r := range roots {
		out = append(out, members[r])
	}
	return out
}
