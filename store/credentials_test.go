package store_test

import (
	"testing"

	"vitrine/library"
	"vitrine/store"
)

// TestCredentials_IngredientsOfContentCredentialsAreFoundByTheirIDs: whichever comes first, the
// file that bears the id is the parent, whatever the ingredient's title says.
func TestCredentials_IngredientsOfContentCredentialsAreFoundByTheirIDs(t *testing.T) {
	t.Parallel()
	made := func(content, manifest, instance string) store.NewAsset {
		n := file(content)
		n.Lineage.C2PA = &library.C2PA{ManifestID: manifest, InstanceID: instance, Signature: "unverified"}
		return n
	}
	edited := func(content, id string) store.NewAsset {
		n := file(content)
		n.Lineage.Parents = []library.Parent{{Kind: "c2pa_ingredient", Name: "another name.png", Hash: "c2pa:" + id}}
		return n
	}
	for _, parentFirst := range []bool{true, false} {
		s := open(t)
		first, second := made("first", "urn:c2pa:1", "xmp:iid:1"), made("second", "urn:c2pa:2", "xmp:iid:2")
		byManifest, byInstance, nobody := edited("by manifest", "urn:c2pa:1"), edited("by instance", "xmp:iid:2"), edited("nobody's", "urn:c2pa:3")
		order := []store.NewAsset{first, second, byManifest, byInstance, nobody}
		if !parentFirst {
			order = []store.NewAsset{nobody, byInstance, byManifest, second, first}
		}
		stored := map[library.AssetHash]store.AddResult{}
		for _, n := range order {
			stored[n.Asset.Hash] = add(t, s, s.a, n)
		}
		add(t, s, s.b, made("of another tenant", "urn:c2pa:3", ""))
		expect := func(child store.NewAsset, parent library.AssetHash, by string) {
			t.Helper()
			c := s.chain(t, child, true, false, 5, 500)
			if len(c.Edges) != 1 || c.Edges[0].Asset != parent || c.Edges[0].Evidence != by {
				t.Errorf("parent first %v: links %+v, want %s by %s", parentFirst, c.Edges, parent, by)
			}
		}
		expect(byManifest, first.Asset.Hash, "c2pa")
		expect(byInstance, second.Asset.Hash, "c2pa")
		expect(nobody, "", "")

		trashing, err := s.Operations.Undo(t.Context(), s.a, stored[first.Asset.Hash].OperationID, anyone)
		if err != nil {
			t.Fatal(err)
		}
		expect(byManifest, "", "")
		if _, err := s.Operations.Undo(t.Context(), s.a, trashing.OperationID, anyone); err != nil {
			t.Fatal(err)
		}
		expect(byManifest, first.Asset.Hash, "c2pa")

		add(t, s, s.a, made("a copy", "urn:c2pa:1", "xmp:iid:9"))
		add(t, s, s.a, edited("after the copy", "urn:c2pa:1"))
		expect(edited("after the copy", "urn:c2pa:1"), "", "") // two files bear the id
	}
}
