package store_test

import (
	"fmt"
	"testing"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// roots returns the roots that the index is told of some assets.
func (s bench) roots(t *testing.T, list ...store.NewAsset) map[library.AssetHash]int {
	t.Helper()
	keys := make([]indexstate.DocumentKey, len(list))
	for i, n := range list {
		keys[i] = indexstate.DocumentKey{Tenant: s.a.Tenant, Key: string(n.Asset.Hash)}
	}
	rows, _, err := s.Documents.Read(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	roots := map[library.AssetHash]int{}
	for _, r := range rows {
		roots[r.Root]++
	}
	return roots
}

// TestLineageRoot_ALongChainHasOneRoot: a film made picture by picture from the one before is one
// family, however many steps there are.
func TestLineageRoot_ALongChainHasOneRoot(t *testing.T) {
	t.Parallel()
	s := open(t)
	var all []store.NewAsset
	for i := range 80 {
		n := from(fmt.Sprint("step", i), fmt.Sprint("step", i-1))
		add(t, s, s.a, n)
		all = append(all, n)
	}
	if roots := s.roots(t, all...); len(roots) != 1 || roots[all[0].Asset.Hash] != len(all) {
		t.Errorf("%d roots, the first of the chain is that of %d", len(roots), roots[all[0].Asset.Hash])
	}
}

// TestLineageRoot_FilesThatDescendFromEachOtherAreOneFamily: whichever of a cycle is asked, and
// whatever hangs below it, the root is the same.
func TestLineageRoot_FilesThatDescendFromEachOtherAreOneFamily(t *testing.T) {
	t.Parallel()
	s := open(t)
	for cycle := 2; cycle <= 9; cycle++ {
		t.Run(fmt.Sprint(cycle), func(t *testing.T) {
			name := func(i int) string { return fmt.Sprintf("turn%d of %d", i%cycle, cycle) }
			tail := func(i int) string { return fmt.Sprintf("tail%d of %d", i, cycle) }
			var ring, all []store.NewAsset
			for i := range cycle {
				ring = append(ring, from(name(i), name(i+1)))
			}
			all = append(all, ring...)
			for i := range 7 {
				above := name(0)
				if i > 0 {
					above = tail(i - 1)
				}
				all = append(all, from(tail(i), above))
			}
			for _, n := range all {
				add(t, s, s.a, n)
			}
			roots := s.roots(t, all...)
			if len(roots) != 1 {
				t.Fatalf("the roots of one family: %v", roots)
			}
			for root := range roots {
				inRing := false
				for _, n := range ring {
					inRing = inRing || n.Asset.Hash == root
				}
				if !inRing {
					t.Errorf("the root %s is not in the ring", root)
				}
			}
		})
	}
}
