package store_test

import (
	"fmt"
	"testing"

	"vitrine/library"
	"vitrine/store"
)

// TestLineageGraphEdges_TheTrashIsNoDeeperLevel: what is below the last level that is shown counts as
// more to see only if it can be seen.
func TestLineageGraphEdges_TheTrashIsNoDeeperLevel(t *testing.T) {
	t.Parallel()
	s := open(t)
	top := file("top")
	add(t, s, s.a, top)
	add(t, s, s.a, from("middle", "top"))
	below := add(t, s, s.a, from("below", "middle"))
	if c := s.chain(t, top, false, true, 1, 500); !c.HasMoreLevels {
		t.Error("there is a grandchild, and nothing deeper is told of")
	}
	if _, err := s.Operations.Undo(t.Context(), s.a, below.OperationID, anyone); err != nil {
		t.Fatal(err)
	}
	if c := s.chain(t, top, false, true, 1, 500); c.HasMoreLevels {
		t.Error("the grandchild is in the trash and counts as deeper")
	}
}

// TestLineageGraphEdges_RepeatsInTheTrashTakeNoOthersPlace: the limit on repeats is one on those shown.
func TestLineageGraphEdges_RepeatsInTheTrashTakeNoOthersPlace(t *testing.T) {
	t.Parallel()
	s := open(t)
	repeat := func(name string) store.NewAsset {
		n := file(name)
		n.Lineage.Workflow.Hash = "same"
		return n
	}
	of := repeat("of")
	add(t, s, s.a, of)
	hashes := map[library.AssetHash]string{}
	for i := range 4 {
		got := add(t, s, s.a, repeat(fmt.Sprint("repeat", i)))
		hashes[got.Asset.Hash] = got.OperationID
	}
	first, err := s.Lineage.SameWorkflowAndSeed(t.Context(), s.a, of.Asset.Hash, 2)
	if err != nil || len(first) != 2 {
		t.Fatalf("%v %v", first, err)
	}
	for _, m := range first {
		if _, err := s.Operations.Undo(t.Context(), s.a, hashes[m.Hash], anyone); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := s.Lineage.SameWorkflowAndSeed(t.Context(), s.a, of.Asset.Hash, 2); err != nil || len(left) != 2 {
		t.Errorf("%d repeats outside the trash, not 2 (%v)", len(left), err)
	}
}

// TestLineageGraphEdges_ALinkEndsWhenItsParentIsReadOtherwise: a child was linked by the job that an
// older parser read from the parent; the newer one reads another job, or none.
func TestLineageGraphEdges_ALinkEndsWhenItsParentIsReadOtherwise(t *testing.T) {
	t.Parallel()
	s := open(t)
	parent := picture(job(1), 0, 0)
	add(t, s, s.a, parent)
	child := picture(job(2), 0, 1, job(1)+"/")
	add(t, s, s.a, child)
	if c := s.chain(t, child, true, false, 1, 500); len(c.Nodes) != 2 {
		t.Fatalf("%d assets: the child is linked by the job", len(c.Nodes))
	}
	before := s.version(t, child.Asset.Hash)
	parent.Lineage.ImageTool = nil
	s.reread(t, parent)
	c := s.chain(t, child, true, false, 1, 500)
	if len(c.Nodes) != 1 || s.version(t, child.Asset.Hash) == before {
		t.Errorf("%d assets in the chain: the parent is read to be of no job, and the link stayed", len(c.Nodes))
	}
}
