package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/library"
	"vitrine/store"
)

func (s bench) reread(t *testing.T, n store.NewAsset) bool {
	t.Helper()
	changed, err := s.Extraction.Replace(t.Context(), s.a, n)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func (s bench) version(t *testing.T, h library.AssetHash) int64 {
	t.Helper()
	d, err := s.Assets.Get(t.Context(), s.a, h)
	if err != nil {
		t.Fatal(err)
	}
	return d.Asset.DocVersion
}

func TestReextract_ReadingTheSameAgainChangesNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	n := file("fox")
	n.Lineage.Parents = []library.Parent{{Kind: "input_image", Name: "Parent\x00.png", JobID: "ABC"}}
	h := add(t, s, s.a, n).Asset.Hash
	n.ParserVersion, n.Chunks = 2, nil
	if s.reread(t, n) {
		t.Error("the same lineage counts as a change")
	}
	n.Report = map[string]string{"state": "full", "reason": "ok"}
	if s.reread(t, n) || s.version(t, h) != 1 {
		t.Error("another report, which no search shows, counts as a change")
	}
	r, err := s.Extraction.Report(t.Context(), s.a)
	if err != nil || r.States["full"] != 1 {
		t.Errorf("the new report was not kept: %+v %v", r, err)
	}
	if s.reread(t, file("never stored")) {
		t.Error("an asset that is gone was changed")
	}
}

func TestReextract_ParentsKeepTheirLinksAsLongAsTheFileMeansThem(t *testing.T) {
	t.Parallel()
	s := open(t)
	kept, dropped, late := add(t, s, s.a, file("kept")).Asset.Hash, add(t, s, s.a, file("dropped")).Asset.Hash, add(t, s, s.a, file("late")).Asset.Hash
	named := func(names ...string) (list []library.Parent) {
		for _, n := range names {
			list = append(list, library.Parent{Kind: "input_image", Name: n + ".png"})
		}
		return list
	}
	n := file("child")
	n.Lineage.Parents = named("kept", "dropped")
	child := add(t, s, s.a, n).Asset.Hash
	grandchild := file("grandchild")
	grandchild.Lineage.Parents = named("child")
	below := add(t, s, s.a, grandchild).Asset.Hash
	parents := func() (out []library.AssetHash) {
		d, err := s.Assets.Get(t.Context(), s.a, child)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range d.Parents {
			out = append(out, p.Asset)
		}
		return out
	}
	was := map[library.AssetHash]int64{}
	for _, h := range []library.AssetHash{kept, dropped, late, child, below} {
		was[h] = s.version(t, h)
	}
	grown := func(want ...library.AssetHash) { t.Helper(); grownSince(t, s, was, want...) }
	n.Lineage.Parents = named("kept")
	if !s.reread(t, n) {
		t.Fatal("a parent less is no change")
	}
	if diff := cmp.Diff([]library.AssetHash{kept}, parents()); diff != "" {
		t.Error("after a parent was dropped", diff)
	}
	grown(dropped, child, below)
	n.Lineage.Parents = named("late", "kept")
	s.reread(t, n)
	if diff := cmp.Diff([]library.AssetHash{late, kept}, parents()); diff != "" {
		t.Error("after another parent was found", diff)
	}
	grown(late, kept, child, below)
	n.Lineage.Parents = named("dropped", "kept")
	s.reread(t, n)
	if diff := cmp.Diff([]library.AssetHash{dropped, kept}, parents()); diff != "" {
		t.Error("after one parent took another's place", diff)
	}
	grown(dropped, late, child, below)
}

// grownSince fails unless the versions of these assets grew since they were noted, and of no other; it notes
// them anew.
func grownSince(t *testing.T, s bench, was map[library.AssetHash]int64, want ...library.AssetHash) {
	t.Helper()
	for h, v := range was {
		now := s.version(t, h)
		should := false
		for _, w := range want {
			should = should || w == h
		}
		if now > v != should {
			t.Errorf("version of %s went from %d to %d", h, v, now)
		}
		was[h] = now
	}
}

func TestReextract_TheExtractionReportCountsReasonsWithExamples(t *testing.T) {
	t.Parallel()
	s := open(t)
	report := func(name, state, reason, by string, seen ...string) library.AssetHash {
		n := file(name)
		n.Report = map[string]any{"state": state, "reason": reason, "by": by, "seen": seen}
		return add(t, s, s.a, n).Asset.Hash
	}
	report("full", "full", "ok", "")
	shop := report("shop", "none", "stripped", "Photoshop")
	report("chat", "none", "stripped", "Telegram")
	report("chat 2", "none", "stripped", "Telegram")
	report("nodes", "partial", "unknown_nodes", "", "Fancy", "Other")
	report("nodes 2", "partial", "unknown_nodes", "", "Fancy")
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		report(name, "none", "no_metadata", "")
	}
	add(t, s, s.a, file("no report"))
	gone := file("gone")
	gone.Report = map[string]any{"state": "none", "reason": "unreadable"}
	if _, err := s.Operations.Undo(t.Context(), s.a, add(t, s, s.a, gone).OperationID, anyone); err != nil {
		t.Fatal(err)
	}
	add(t, s, s.b, file("another tenant's"))
	r, err := s.Extraction.Report(t.Context(), s.a)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"full": 1, "partial": 2, "none": 10, "": 1}, r.States); diff != "" || r.Assets != 14 {
		t.Errorf("%d assets, states %s", r.Assets, diff)
	}
	type line struct {
		Name  string
		Count int64
		Shown int
	}
	var got []line
	for _, c := range r.Reasons {
		got = append(got, line{c.Reason, c.Count, len(c.Examples)})
		for _, d := range c.Details {
			got = append(got, line{"  " + d.Name, d.Count, len(d.Examples)})
		}
	}
	want := []line{{"no_metadata", 7, 5}, {"stripped", 3, 3}, {"  Telegram", 2, 2}, {"  Photoshop", 1, 1}, {"unknown_nodes", 2, 2}, {"  Fancy", 2, 2}, {"  Other", 1, 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-want +got): %s", diff)
	}
	if d := r.Reasons[1].Details[1]; d.Examples[0] != shop {
		t.Errorf("the example of Photoshop is %v", d.Examples)
	}
}
