package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/store"
)

// modelItem is an item of the naive model of two collections.
type modelItem struct {
	id   string
	role library.MemberRole
	body string // of a card; empty: an asset
}

// contents reads a collection as the model has it.
func (s bench) contents(t *testing.T, path string) []modelItem {
	t.Helper()
	_, list, _, err := s.Collections.Items(t.Context(), s.a, path, store.ItemsQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var items []modelItem
	for _, i := range list {
		m := modelItem{id: i.ID, role: i.Role}
		if i.Card != nil {
			m.body = i.Card.Body
		}
		items = append(items, m)
	}
	return items
}

func find(items []modelItem, id string) int {
	return slices.IndexFunc(items, func(i modelItem) bool { return i.id == id })
}

// stay returns how many of two orders' common things can stay where they are: the length
// of a longest common subsequence, by the table of the textbook.
func stay(a, b []modelItem) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := range a {
		for j := range b {
			table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
			if a[i].id == b[j].id {
				table[i+1][j+1] = table[i][j] + 1
			}
		}
	}
	return table[len(a)][len(b)]
}

// checkDifferences compares the differences with what the model's two lists differ in.
func checkDifferences(t *testing.T, was, is []modelItem, got []store.Difference) {
	t.Helper()
	count := map[store.DifferenceKind]int{}
	want := map[store.DifferenceKind]int{}
	moved := map[string]bool{}
	for _, d := range got {
		count[d.Kind]++
		if d.Kind == store.ItemMoved {
			moved[d.ID] = true
		}
		if d.Was != nil && (d.Was.Position >= len(was) || was[d.Was.Position].id != d.ID) || d.Is != nil && (d.Is.Position >= len(is) || is[d.Is.Position].id != d.ID) {
			t.Fatalf("%s of %s names other positions than the items have", d.Kind, d.ID)
		}
	}
	common := 0
	for _, i := range is {
		at := find(was, i.id)
		switch {
		case at < 0:
			want[store.ItemAdded]++
			continue
		case was[at].role != i.role:
			want[store.RoleChanged]++
		case was[at].body != i.body:
			want[store.CardChanged]++
		}
		common++
	}
	want[store.ItemRemoved] = len(was) - common
	want[store.ItemMoved] = common - stay(was, is)
	for _, k := range store.DifferenceKinds {
		if count[k] != want[k] {
			t.Fatalf("%d items are %s, the model says %d", count[k], k, want[k])
		}
	}
	still := func(items, others []modelItem) (ids []string) {
		for _, i := range items {
			if !moved[i.id] && find(others, i.id) >= 0 {
				ids = append(ids, i.id)
			}
		}
		return ids
	}
	if diff := cmp.Diff(still(was, is), still(is, was)); diff != "" {
		t.Fatalf("without what moved the orders differ:\n%s", diff)
	}
}

// merged is what the model says a merge of differences makes of a list.
func merged(target, branch []modelItem, chosen []store.Difference) []modelItem {
	out := slices.Clone(target)
	placed := map[string]modelItem{}
	for _, d := range chosen {
		at := find(out, d.ID)
		switch d.Kind {
		case store.ItemAdded:
			placed[d.ID] = branch[find(branch, d.ID)]
		case store.ItemRemoved:
			out = slices.Delete(out, at, at+1)
		case store.RoleChanged:
			out[at].role = branch[find(branch, d.ID)].role
		case store.CardChanged:
			out[at].body = branch[find(branch, d.ID)].body
		}
	}
	for _, d := range chosen {
		if at := find(out, d.ID); d.Kind == store.ItemMoved {
			placed[d.ID] = out[at]
			out = slices.Delete(out, at, at+1)
		}
	}
	for i, b := range branch {
		item, ok := placed[b.id]
		if !ok {
			continue
		}
		at := 0
		for _, before := range slices.Backward(branch[:i]) {
			if j := find(out, before.id); j >= 0 {
				at = j + 1
				break
			}
		}
		out = slices.Insert(out, at, item)
	}
	return out
}

// TestMerge_RandomBranchesEqualANaiveModel changes a collection and a branch of it at
// random, compares them, merges all or some differences in either direction, and undoes.
func TestMerge_RandomBranchesEqualANaiveModel(t *testing.T) {
	t.Parallel()
	s := open(t)
	var assets []library.AssetHash
	for i := range 14 {
		assets = append(assets, add(t, s, s.a, file(fmt.Sprint("merged", i))).Asset.Hash)
	}
	for _, seed := range slices.Concat([]uint64{5, 6, 7}, randtest.Seeds(t)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 8))
			source := s.collection(t, fmt.Sprint("source", seed), "")
			s.shuffle(t, r, source, assets, 12)
			branch := must[store.CollectionChange](t)(s.Collections.Branch(t.Context(), s.a, source, store.NewBranch{Name: fmt.Sprint("branch", seed), Type: library.BranchEditable})).Path
			for range 6 {
				s.shuffle(t, r, branch, assets, r.IntN(10))
				s.shuffle(t, r, source, assets, r.IntN(4))
				from, into := branch, source
				if r.IntN(3) == 0 {
					from, into = source, branch
				}
				s.mergeSome(t, r, from, into)
			}
		})
	}
}

// mergeSome compares, merges, undoes and merges again.
func (s bench) mergeSome(t *testing.T, r *rand.Rand, from, into string) {
	t.Helper()
	was, is := s.contents(t, into), s.contents(t, from)
	diff := must[store.Comparison](t)(s.Collections.Compare(t.Context(), s.a, from, into, nil))
	checkDifferences(t, was, is, diff.Differences)
	choice := store.Choice{Kinds: store.DifferenceKinds}
	for range r.IntN(2) * 3 {
		all := slices.Concat(was, is)
		choice.Items = append(choice.Items, all[r.IntN(len(all))].id)
	}
	if r.IntN(3) == 0 {
		choice.Kinds = []store.DifferenceKind{store.DifferenceKinds[r.IntN(5)], store.DifferenceKinds[r.IntN(5)]}
	}
	done := must[store.MergeChange](t)(s.Collections.Merge(t.Context(), s.a, from, into, choice, nil))
	for _, d := range done.Merged {
		if !slices.Contains(choice.Kinds, d.Kind) || len(choice.Items) > 0 && !slices.Contains(choice.Items, d.ID) {
			t.Fatalf("%s of %s was merged, which was not chosen", d.Kind, d.ID)
		}
	}
	want := merged(was, is, done.Merged)
	if len(choice.Items) == 0 && len(choice.Kinds) == 5 {
		want = is
	}
	if diff := cmp.Diff(want, s.contents(t, into), cmp.AllowUnexported(modelItem{})); diff != "" {
		t.Fatalf("merging %v (-model +library)\n%s", choice, diff)
	}
	if (done.OperationID == "") != (len(done.Merged) == 0) {
		t.Fatalf("%d merged differences gave the operation %q", len(done.Merged), done.OperationID)
	}
	if done.OperationID == "" {
		return
	}
	undone, err := s.Operations.Undo(t.Context(), s.a, done.OperationID, anyone)
	if err != nil || undone.Counts[library.OutcomeReverted] != int64(len(undone.Outcomes)) {
		t.Fatalf("undoing gave %+v %v", undone, err)
	}
	if diff := cmp.Diff(was, s.contents(t, into), cmp.AllowUnexported(modelItem{})); diff != "" {
		t.Fatalf("after the undo (-was +is)\n%s", diff)
	}
	if r.IntN(2) == 0 {
		must[store.MergeChange](t)(s.Collections.Merge(t.Context(), s.a, from, into, choice, nil))
	}
}

// shuffle changes a collection at random.
func (s bench) shuffle(t *testing.T, r *rand.Rand, path string, assets []library.AssetHash, steps int) {
	t.Helper()
	for range steps {
		a, at := assets[r.IntN(len(assets))], r.IntN(8)
		role := library.MemberRoles[r.IntN(2)]
		items := s.contents(t, path)
		var card string
		for _, i := range items {
			if i.body != "" && r.IntN(2) == 0 {
				card = i.id
			}
		}
		var err error
		switch what := r.IntN(7); {
		case what < 3:
			_, err = s.Collections.Add(t.Context(), s.a, path, store.NewItems{Assets: []library.AssetHash{a}, Position: &at, Role: &role})
		case what == 3:
			_, err = s.Collections.Remove(t.Context(), s.a, path, []library.AssetHash{a})
		case card == "":
			_, err = s.Collections.AddCard(t.Context(), s.a, path, library.TextCard{Body: "first"}, &at)
		case what == 4:
			_, err = s.Collections.RemoveCard(t.Context(), s.a, path, card)
		default:
			_, err = s.Collections.ChangeCard(t.Context(), s.a, path, card, &at, func(c *library.TextCard) error { c.Body = pick(r, "first", "second", "third"); return nil })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestMerge_KeepsWhatWasAddedToTheSourceSince merges a branch without a choice, after the
// source got an asset of its own.
func TestMerge_KeepsWhatWasAddedToTheSourceSince(t *testing.T) {
	t.Parallel()
	s := open(t)
	first, later, mine := add(t, s, s.a, file("first")).Asset.Hash, add(t, s, s.a, file("later")).Asset.Hash, add(t, s, s.a, file("mine")).Asset.Hash
	source := s.collection(t, "source", "")
	s.put(t, source, first)
	must[store.CollectionChange](t)(s.Collections.Branch(t.Context(), s.a, source, store.NewBranch{Name: "branch", Type: library.BranchEditable}))
	time.Sleep(2 * time.Millisecond)
	s.put(t, source, later)
	s.put(t, "branch", mine)
	must[store.ItemsChange](t)(s.Collections.Remove(t.Context(), s.a, "branch", []library.AssetHash{first}))
	done := must[store.MergeChange](t)(s.Collections.Merge(t.Context(), s.a, "branch", "", store.Choice{}, nil))
	if len(done.Merged) != 2 || done.Collection.Path != source {
		t.Errorf("merged %+v", done)
	}
	if ids, _ := s.items(t, s.a, source, store.ItemsQuery{}); len(ids) != 2 || !slices.Contains(ids, string(later)) || !slices.Contains(ids, string(mine)) {
		t.Errorf("the source holds %v", ids)
	}
	diff := must[store.Comparison](t)(s.Collections.Compare(t.Context(), s.a, "branch", "", nil))
	if len(diff.Differences) != 1 || !diff.Differences[0].Since {
		t.Errorf("the branch still differs by %+v", diff.Differences)
	}
	must[store.MergeChange](t)(s.Collections.Merge(t.Context(), s.a, "branch", "", store.Choice{Items: []string{string(later)}}, nil))
	if ids, _ := s.items(t, s.a, source, store.ItemsQuery{}); !slices.Equal(ids, []string{string(mine)}) {
		t.Errorf("the source holds %v", ids)
	}
}

// TestMerge_RefusesWhatCannotBe merges into a snapshot, of what is no branch, and with
// itself, and of another tenant.
func TestMerge_RefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	s := open(t)
	source := s.collection(t, "source", "")
	h := add(t, s, s.a, file("one")).Asset.Hash
	must[store.CollectionChange](t)(s.Collections.Branch(t.Context(), s.a, source, store.NewBranch{Name: "frozen", Type: library.BranchSnapshot}))
	s.put(t, source, h)
	for what, c := range map[string]struct {
		actor      library.Actor
		from, into string
		code       string
	}{
		"a snapshot":           {s.a, source, "frozen", library.CodeFrozen},
		"no branch":            {s.a, source, "", library.CodeConflict},
		"itself":               {s.a, source, source, library.CodeConflict},
		"of another tenant":    {s.b, "frozen", source, library.CodeNotFound},
		"something not there":  {s.a, "nowhere", source, library.CodeNotFound},
		"into what is nowhere": {s.a, source, "nowhere", library.CodeNotFound},
	} {
		if _, err := s.Collections.Merge(t.Context(), c.actor, c.from, c.into, store.Choice{}, nil); library.AsError(err).Code != c.code {
			t.Errorf("%s: %v", what, err)
		}
	}
	// From a snapshot into its source: back to what was frozen.
	must[store.MergeChange](t)(s.Collections.Merge(t.Context(), s.a, "frozen", "", store.Choice{Kinds: store.DifferenceKinds}, nil))
	if ids, _ := s.items(t, s.a, source, store.ItemsQuery{}); len(ids) != 0 {
		t.Errorf("the source holds %v", ids)
	}
}
