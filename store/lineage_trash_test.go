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

// chain is files that were made from each other, and the store that has them.
type chain struct {
	s   bench
	all []store.NewAsset
}

// TestLineageTrash_ChainsInTheIndexFollowTheTrash: whatever goes to the trash or comes back, the
// documents of its parents, children and their descendants say what the rows say,
// and all whose document changes get a new version.
func TestLineageTrash_ChainsInTheIndexFollowTheTrash(t *testing.T) {
	t.Parallel()
	s := open(t)
	top, middle, below := file("top"), from("middle", "top"), from("below", "middle")
	asserted, aside := file("asserted"), file("aside")
	asserted.Asset.Parent = middle.Asset.Hash
	c := chain{s, []store.NewAsset{top, middle, below, asserted, aside}}
	operations := map[library.AssetHash]string{}
	for _, n := range []store.NewAsset{asserted, below, top, aside, middle} { // children before parents
		operations[n.Asset.Hash] = add(t, s, s.a, n).OperationID
	}
	whole := map[string]chainPlace{
		top.Asset.Filename:      {Children: 1, Root: ""},
		middle.Asset.Filename:   {Parents: []library.AssetHash{top.Asset.Hash}, Children: 2, Root: top.Asset.Hash},
		below.Asset.Filename:    {Parents: []library.AssetHash{middle.Asset.Hash}, Root: top.Asset.Hash},
		asserted.Asset.Filename: {Parents: []library.AssetHash{middle.Asset.Hash}, Root: top.Asset.Hash},
		aside.Asset.Filename:    {},
	}
	c.check(t, "stored", whole, nil)

	before := c.versions(t)
	trashing := c.undo(t, operations[middle.Asset.Hash])
	apart := map[string]chainPlace{top.Asset.Filename: {}, below.Asset.Filename: {}, asserted.Asset.Filename: {}, aside.Asset.Filename: {}}
	c.check(t, "the middle in the trash", apart, before, top, middle, below, asserted)

	before = c.versions(t)
	c.undo(t, trashing)
	c.check(t, "the middle back by undoing", whole, before, top, middle, below, asserted)

	before = c.versions(t)
	c.undo(t, operations[top.Asset.Hash])
	noTop := maps.Clone(whole)
	delete(noTop, top.Asset.Filename)
	noTop[middle.Asset.Filename] = chainPlace{Children: 2}
	noTop[below.Asset.Filename] = chainPlace{Parents: []library.AssetHash{middle.Asset.Hash}, Root: middle.Asset.Hash}
	noTop[asserted.Asset.Filename] = noTop[below.Asset.Filename]
	c.check(t, "the top in the trash", noTop, before, top, middle, below, asserted)

	before = c.versions(t)
	add(t, s, s.a, top)
	c.check(t, "the top stored again", whole, before, top, middle, below, asserted)

	before = c.versions(t)
	c.undo(t, operations[below.Asset.Hash])
	noLeaf := maps.Clone(whole)
	delete(noLeaf, below.Asset.Filename)
	noLeaf[middle.Asset.Filename] = chainPlace{Parents: []library.AssetHash{top.Asset.Hash}, Children: 1, Root: top.Asset.Hash}
	c.check(t, "a leaf in the trash", noLeaf, before, middle, below)
}

// chainPlace is what the document of a file says of its chain.
type chainPlace struct {
	Parents  []library.AssetHash
	Children int
	Root     library.AssetHash
}

// documents returns what the documents of all files are built from.
func (c chain) documents(t *testing.T) []indexstate.DocumentRow {
	t.Helper()
	keys := make([]indexstate.DocumentKey, len(c.all))
	for i, n := range c.all {
		keys[i] = indexstate.DocumentKey{Tenant: c.s.a.Tenant, Key: string(n.Asset.Hash)}
	}
	rows, _, err := c.s.Documents.Read(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// places returns what the documents that are shown say, by file name.
func (c chain) places(t *testing.T) map[string]chainPlace {
	t.Helper()
	out := map[string]chainPlace{}
	for i, r := range c.documents(t) {
		if r.State != indexstate.DocumentLive {
			continue
		}
		p := chainPlace{Children: r.Children, Root: r.Root}
		for _, x := range append([]indexstate.DocumentParent{{Asset: r.Asset.Parent}}, r.Parents...) {
			if x.Asset != "" {
				p.Parents = append(p.Parents, x.Asset)
			}
		}
		out[c.all[i].Asset.Filename] = p
	}
	return out
}

// versions returns the versions of the documents by file name.
func (c chain) versions(t *testing.T) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for i, r := range c.documents(t) {
		out[c.all[i].Asset.Filename] = r.Version
	}
	return out
}

// check compares the chain with what is wanted. Since before, the versions of those documents
// grew that are named, and of no other.
func (c chain) check(t *testing.T, when string, want map[string]chainPlace, before map[string]int64, grown ...store.NewAsset) {
	t.Helper()
	got := c.places(t)
	for name, p := range got {
		if p.Root == hashNamed(c.all, name) {
			p.Root = "" // the root of a file without parents is itself
			got[name] = p
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got)\n%s", when, diff)
	}
	for name, v := range c.versions(t) {
		should := slices.ContainsFunc(grown, func(n store.NewAsset) bool { return n.Asset.Filename == name })
		if before != nil && v > before[name] != should {
			t.Errorf("%s: version of %s went from %d to %d", when, name, before[name], v)
		}
	}
}

// undo undoes an operation and returns that of the undoing.
func (c chain) undo(t *testing.T, operation string) string {
	t.Helper()
	u, err := c.s.Operations.Undo(t.Context(), c.s.a, operation, anyone)
	if err != nil {
		t.Fatal(err)
	}
	return u.OperationID
}

func hashNamed(list []store.NewAsset, name string) library.AssetHash {
	for _, n := range list {
		if n.Asset.Filename == name {
			return n.Asset.Hash
		}
	}
	return ""
}
