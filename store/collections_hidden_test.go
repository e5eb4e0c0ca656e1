package store_test

import (
	"fmt"
	"slices"
	"testing"

	"vitrine/library"
	"vitrine/store"
)

func testHiddenItems(t *testing.T, s bench) {
	owner, member := s.a, s.a
	owner.Permissions, member.Permissions, member.ID = []library.Permission{library.PermWrite}, []library.Permission{library.PermWrite}, "key-member"
	path := s.collection(t, "mixed", "")
	var all, public []string
	for i := range 6 {
		n := file(fmt.Sprint("mixed", i))
		n.Asset.Owner, n.Asset.Visibility = owner.ID, library.VisibilityTeam
		if i%2 == 1 {
			n.Asset.Visibility = library.VisibilityPrivate
		}
		h := add(t, s, owner, n).Asset.Hash
		if all = append(all, string(h)); i%2 == 0 {
			public = append(public, string(h))
		}
		if out, err := s.Collections.Add(t.Context(), owner, path, store.NewItems{Assets: []library.AssetHash{h}}); err != nil || len(out.Added) != 1 {
			t.Fatal(out, err)
		}
	}
	trashed := add(t, s, s.a, file("trashed"))
	s.put(t, path, trashed.Asset.Hash)
	if _, err := s.Operations.Undo(t.Context(), s.a, trashed.OperationID, anyone); err != nil {
		t.Fatal(err)
	}
	for who, c := range map[string]struct {
		actor library.Actor
		want  []string
	}{"owner": {owner, all}, "member": {member, public}} {
		for _, q := range []store.ItemsQuery{{}, {Nested: true}} {
			if ids, total := s.items(t, c.actor, path, q); !slices.Equal(ids, c.want) || total != len(c.want) {
				t.Errorf("%s sees %d: %v, want %v", who, total, ids, c.want)
			}
		}
		if byAdded, _ := s.items(t, c.actor, path, store.ItemsQuery{ByAdded: true}); len(byAdded) != len(c.want) || byAdded[0] != c.want[len(c.want)-1] {
			t.Errorf("%s sees by time %v", who, byAdded)
		}
		list, _, err := s.Collections.List(t.Context(), c.actor, "", 5, true, 10, 0)
		if err != nil || list[0].Assets != int64(len(c.want)) {
			t.Errorf("%s counts %+v, %v", who, list, err)
		}
	}
	hidesFromChanges(t, s, member, path, all, public)
	if ids, _ := s.items(t, owner, "theirs", store.ItemsQuery{}); !slices.Equal(ids, public) {
		t.Errorf("the branch holds %v", ids)
	}
}

// hidesFromChanges has a member, who sees some of all items, branch the collection, add and remove
// what the member does not see, and place an item among those that are seen.
func hidesFromChanges(t *testing.T, s bench, member library.Actor, path string, all, public []string) {
	t.Helper()
	branch, err := s.Collections.Branch(t.Context(), member, path, store.NewBranch{Name: "theirs", Type: library.BranchSnapshot})
	if err != nil || branch.Items != int64(len(public)) {
		t.Errorf("a member's branch has %d items, %v", branch.Items, err)
	}
	hidden := library.AssetHash(all[1])
	if out, err := s.Collections.Add(t.Context(), member, path, store.NewItems{Assets: []library.AssetHash{hidden}}); err != nil || len(out.Missing) != 1 {
		t.Errorf("a member adds what it does not see: %+v %v", out, err)
	}
	if out, err := s.Collections.Remove(t.Context(), member, path, []library.AssetHash{hidden}); err != nil || len(out.Missing) != 1 {
		t.Errorf("a member removes what it does not see: %+v %v", out, err)
	}
	zero := 1 // between the first and the second that the member sees
	extra := add(t, s, s.a, file("extra")).Asset.Hash
	if _, err := s.Collections.Add(t.Context(), member, path, store.NewItems{Assets: []library.AssetHash{extra}, Position: &zero}); err != nil {
		t.Fatal(err)
	}
	if ids, _ := s.items(t, member, path, store.ItemsQuery{}); !slices.Equal(ids, []string{public[0], string(extra), public[1], public[2]}) {
		t.Errorf("position 1 of a member is %v", ids)
	}
}
