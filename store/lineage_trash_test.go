package store_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// TestLineageTrash_ChainsInTheIndexFollowTheTrash: whatever goes to the trash or comes back, the
// documents of its parents, children and their descendants say what the rows say,
// and all whose document changes get a new version.
func TestLineageTrash_ChainsInTheIndexFollowTheTrash(t *testing.T) {
	t.Parallel()
	s := open(t)
	top, middle, below := file("top"), from("middle", "top"), from("below", "middle")
	asserted, aside := file("asserted"), file("aside")
	asserted.Asset.Parent = middle.Asset.Hash
	all := []store.NewAsset{top, middle, below, asserted, aside}
	operations := map[library.AssetHash]string{}
	for _, n := range []store.NewAsset{asserted, below, top, aside, middle} { // children before parents
		operations[n.Asset.Hash] = add(t, s, s.a, n).OperationID
	}
	type place struct {
		Parents  []library.AssetHash
		Children int
		Root     library.AssetHash
	}
	documents := func() []indexstate.DocumentRow {
		t.Helper()
		keys := make([]indexstate.DocumentKey, len(all))
		for i, n := range all {
			keys[i] = indexstate.DocumentKey{Tenant: s.a.Tenant, Key: string(n.Asset.Hash)}
		}
		rows, _, err := s.Documents.Read(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	places := func() map[string]place {
		out := map[string]place{}
		for i, r := range documents() {
			if r.State != indexstate.DocumentLive {
				continue
			}
			p := place{Children: r.Children, Root: r.Root}
			for _, x := range append([]indexstate.DocumentParent{{Asset: r.Asset.Parent}}, r.Parents...) {
				if x.Asset != "" {
					p.Parents = append(p.Parents, x.Asset)
				}
			}
			out[all[i].Asset.Filename] = p
		}
		return out
	}
	versions := func() map[string]int64 {
		out := map[string]int64{}
		for i, r := range documents() {
			out[all[i].Asset.Filename] = r.Version
		}
		return out
	}
	whole := map[string]place{
		top.Asset.Filename:      {Children: 1, Root: ""},
		middle.Asset.Filename:   {Parents: []library.AssetHash{top.Asset.Hash}, Children: 2, Root: top.Asset.Hash},
		below.Asset.Filename:    {Parents: []library.AssetHash{middle.Asset.Hash}, Root: top.Asset.Hash},
		asserted.Asset.Filename: {Parents: []library.AssetHash{middle.Asset.Hash}, Root: top.Asset.Hash},
		aside.Asset.Filename:    {},
	}
	check := func(when string, want map[string]place, before map[string]int64, grown ...store.NewAsset) {
		t.Helper()
		got := places()
		for name, p := range got {
			if p.Root == hashNamed(all, name) {
				p.Root = "" // the root of a file without parents is itself
				got[name] = p
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", when, diff)
		}
		for name, v := range versions() {
			should := slices.ContainsFunc(grown, func(n store.NewAsset) bool { return n.Asset.Filename == name })
			if before != nil && v > before[name] != should {
				t.Errorf("%s: version of %s went from %d to %d", when, name, before[name], v)
			}
		}
	}
	check("stored", whole, nil)

	undo := func(operation string) string {
		t.Helper()
		u, err := s.Operations.Undo(t.Context(), s.a, operation, anyone)
		if err != nil {
			t.Fatal(err)
		}
		return u.OperationID
	}
	before := versions()
	trashing := undo(operations[middle.Asset.Hash])
	apart := map[string]place{top.Asset.Filename: {}, below.Asset.Filename: {}, asserted.Asset.Filename: {}, aside.Asset.Filename: {}}
	check("the middle in the trash", apart, before, top, middle, below, asserted)

	before = versions()
	undo(trashing)
	check("the middle back by undoing", whole, before, top, middle, below, asserted)

	before = versions()
	undo(operations[top.Asset.Hash])
	noTop := maps.Clone(whole)
	delete(noTop, top.Asset.Filename)
	noTop[middle.Asset.Filename] = place{Children: 2}
	noTop[below.Asset.Filename] = place{Parents: []library.AssetHash{middle.Asset.Hash}, Root: middle.Asset.Hash}
	noTop[asserted.Asset.Filename] = noTop[below.Asset.Filename]
	check("the top in the trash", noTop, before, top, middle, below, asserted)

	before = versions()
	add(t, s, s.a, top)
	check("the top stored again", whole, before, top, middle, below, asserted)

	before = versions()
	undo(operations[below.Asset.Hash])
	noLeaf := maps.Clone(whole)
	delete(noLeaf, below.Asset.Filename)
	noLeaf[middle.Asset.Filename] = place{Parents: []library.AssetHash{top.Asset.Hash}, Children: 1, Root: top.Asset.Hash}
	check("a leaf in the trash", noLeaf, before, middle, below)
}

func hashNamed(list []store.NewAsset, name string) library.AssetHash {
	for _, n := range list {
		if n.Asset.Filename == name {
			return n.Asset.Hash
		}
	}
	return ""
}
