package store_test

import (
	"testing"

	"vitrine/library"
)

// member returns a credential of a's tenant that is no admin.
func (s bench) member(id string) library.Actor {
	return library.Actor{Kind: library.ActorKey, ID: id, Tenant: s.a.Tenant, Permissions: []library.Permission{library.PermRead, library.PermWrite}}
}

// changeOne changes one asset and returns the operation.
func (s bench) changeOne(t *testing.T, actor library.Actor, hash library.AssetHash, edit func(*library.Asset)) string {
	t.Helper()
	done, err := s.Assets.Change(t.Context(), actor, []library.AssetHash{hash}, edit)
	if err != nil || done.OperationID == "" {
		t.Fatal(done, err)
	}
	return done.OperationID
}

func (s bench) undo(t *testing.T, actor library.Actor, operation string) library.Outcome {
	t.Helper()
	undone, err := s.Operations.Undo(t.Context(), actor, operation, anyone)
	if err != nil || len(undone.Outcomes) != 1 {
		t.Fatal(undone, err)
	}
	return undone.Outcomes[0]
}

func (s bench) asset(t *testing.T, hash library.AssetHash) library.Asset {
	t.Helper()
	d, err := s.Assets.Get(t.Context(), s.a, hash)
	if err != nil {
		t.Fatal(err)
	}
	return d.Asset
}

func TestUndo_OwnerVisibilityAndMetadataAreAsTheyWereAndRedoneAsTheyBecame(t *testing.T) {
	t.Parallel()
	s := open(t)
	n := file("fox")
	n.Asset.Owner, n.Asset.Metadata = "key-one", map[string]any{"client": "Acme", "job": "7"}
	h := add(t, s, s.a, n).Asset.Hash
	before := s.asset(t, h)
	operation := s.changeOne(t, s.a, h, func(a *library.Asset) {
		a.Owner, a.Visibility, a.Metadata = "key-two", library.VisibilityPrivate, map[string]any{"client": "Zenith", "rating": "5"}
	})
	changed := s.asset(t, h)
	same := func(what string, got, want library.Asset) {
		t.Helper()
		if got.Owner != want.Owner || got.Visibility != want.Visibility || len(got.Metadata) != len(want.Metadata) {
			t.Errorf("%s: %s %s %v, want %s %s %v", what, got.Owner, got.Visibility, got.Metadata, want.Owner, want.Visibility, want.Metadata)
		}
		for key, value := range want.Metadata {
			if got.Metadata[key] != value {
				t.Errorf("%s: %s is %v, want %v", what, key, got.Metadata[key], value)
			}
		}
	}
	undone, err := s.Operations.Undo(t.Context(), s.a, operation, anyone)
	if err != nil || undone.Counts[library.OutcomeReverted] != 1 {
		t.Fatal(undone, err)
	}
	same("undone", s.asset(t, h), before)
	if o := s.undo(t, s.a, undone.OperationID); o.Outcome != library.OutcomeReverted {
		t.Errorf("redoing it: %+v", o)
	}
	same("redone", s.asset(t, h), changed)
}

func TestUndo_KeysOfMetadataThatChangedSinceAreKept(t *testing.T) {
	t.Parallel()
	s := open(t)
	n := file("fox")
	n.Asset.Metadata = map[string]any{"client": "Acme", "job": "7"}
	h := add(t, s, s.a, n).Asset.Hash
	operation := s.changeOne(t, s.a, h, func(a *library.Asset) { a.Metadata = map[string]any{"client": "Zenith", "job": "8"} })
	s.changeOne(t, s.a, h, func(a *library.Asset) { a.Metadata = map[string]any{"client": "Third", "job": "8", "new": "x"} })
	if o := s.undo(t, s.a, operation); o.Outcome != library.OutcomePartial || o.Reason == "" {
		t.Errorf("%+v", o)
	}
	if m := s.asset(t, h).Metadata; m["client"] != "Third" || m["job"] != "7" || m["new"] != "x" || len(m) != 3 {
		t.Errorf("%v", m)
	}
}

// TestUndo_WhoMayNotShareAnAssetPutsBackTheRestOfItsChange: a member changes title, tags
// and visibility of what is their own, and gives it away afterwards.
func TestUndo_WhoMayNotShareAnAssetPutsBackTheRestOfItsChange(t *testing.T) {
	t.Parallel()
	s := open(t)
	one, two := s.member("key-one"), s.member("key-two")
	n := file("fox", "old")
	n.Asset.Owner = one.ID
	h := add(t, s, s.a, n).Asset.Hash
	operation := s.changeOne(t, one, h, func(a *library.Asset) {
		a.Title, a.Tags, a.Visibility = "Fox", []string{"new"}, library.VisibilityPublic
		a.Metadata = map[string]any{"k": "v"}
	})
	s.changeOne(t, s.a, h, func(a *library.Asset) { a.Owner = two.ID })
	if o := s.undo(t, one, operation); o.Outcome != library.OutcomePartial || o.Reason == "" {
		t.Errorf("%+v", o)
	}
	if a := s.asset(t, h); a.Title != "" || len(a.Tags) != 1 || a.Tags[0] != "old" || len(a.Metadata) != 0 || a.Visibility != library.VisibilityPublic || a.Owner != two.ID {
		t.Errorf("%q %v %v %s %s", a.Title, a.Tags, a.Metadata, a.Visibility, a.Owner)
	}
}

func TestUndo_AnAssetThatIsPrivateToAnotherByNowIsAsOneThatIsGone(t *testing.T) {
	t.Parallel()
	s := open(t)
	one, two := s.member("key-one"), s.member("key-two")
	n := file("fox")
	n.Asset.Owner = one.ID
	h := add(t, s, s.a, n).Asset.Hash
	operation := s.changeOne(t, one, h, func(a *library.Asset) { a.Visibility = library.VisibilityPublic })
	s.changeOne(t, s.a, h, func(a *library.Asset) { a.Owner, a.Visibility = two.ID, library.VisibilityPrivate })
	undone, err := s.Operations.Undo(t.Context(), one, operation, anyone)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range undone.Outcomes {
		if o.Outcome != library.OutcomeGone || o.Name != "" {
			t.Errorf("%+v", o)
		}
	}
	if a := s.asset(t, h); a.Visibility != library.VisibilityPrivate || a.Owner != two.ID {
		t.Errorf("%s %s", a.Visibility, a.Owner)
	}
}
