package lineage

import (
	"slices"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// The bounds of the pause that ends a session. People look at pictures for some
// minutes before they go on; after hours they have done something else.
const (
	shortestPause = 20 * time.Minute
	longestPause  = 3 * time.Hour
)

// sessionGap returns the pause that ends a session among assets in order of their
// making: four times the usual one, within the bounds. The median is blind to the
// nights between sessions, which would stretch a mean; of two in the middle it is
// the shorter. A single pause shows no pace: it would always be the usual one.
func sessionGap(list []store.AssetWithLineage) time.Duration {
	pauses := make([]time.Duration, 0, len(list))
	for i := 1; i < len(list); i++ {
		pauses = append(pauses, list[i].CreatedAt.Sub(list[i-1].CreatedAt))
	}
	if len(pauses) < 2 {
		return shortestPause
	}
	slices.Sort(pauses)
	return min(max(4*pauses[(len(pauses)-1)/2], shortestPause), longestPause)
}

// splitSessions cuts assets in order of their making where a pause is longer than gap.
func splitSessions(list []store.AssetWithLineage, gap time.Duration) [][]store.AssetWithLineage {
	var groups [][]store.AssetWithLineage
	start := 0
	for i := 1; i <= len(list); i++ {
		if i == len(list) || list[i].CreatedAt.Sub(list[i-1].CreatedAt) > gap {
			groups = append(groups, list[start:i])
			start = i
		}
	}
	return groups
}

// sessionOf keeps the group that holds an asset.
func sessionOf(groups [][]store.AssetWithLineage, hash library.AssetHash) [][]store.AssetWithLineage {
	return slices.DeleteFunc(groups, func(g []store.AssetWithLineage) bool { return position(g, hash) < 0 })
}

func position(list []store.AssetWithLineage, hash library.AssetHash) int {
	return slices.IndexFunc(list, func(m store.AssetWithLineage) bool { return m.Hash == hash })
}

// limitToNearest keeps the limit assets of all groups that are nearest to one in time,
// and tells whether it left out any.
func limitToNearest(groups [][]store.AssetWithLineage, to store.AssetWithLineage, limit int) (kept [][]store.AssetWithLineage, cut bool) {
	var all []store.AssetWithLineage
	for _, g := range groups {
		all = append(all, g...)
	}
	from, until := 0, len(all)
	for until-from > limit {
		first, last := to.CreatedAt.Sub(all[from].CreatedAt), all[until-1].CreatedAt.Sub(to.CreatedAt)
		if all[from].Hash != to.Hash && (first >= last || all[until-1].Hash == to.Hash) {
			from++
		} else {
			until--
		}
	}
	left := map[library.AssetHash]bool{}
	for _, m := range all[from:until] {
		left[m.Hash] = true
	}
	for _, g := range groups {
		if g = slices.DeleteFunc(slices.Clone(g), func(m store.AssetWithLineage) bool { return !left[m.Hash] }); len(g) > 0 {
			kept = append(kept, g)
		}
	}
	return kept, until-from < len(all)
}
