package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// shareOf is a share link that is about to be made.
func shareOf(title string, assets ...library.AssetHash) library.Publication {
	until := time.Now().Add(time.Hour)
	return library.Publication{Title: title, Spec: library.SpecOf(library.ExportShare), HidePrompts: true, Shared: assets, ExpiresAt: &until}
}

// shareChanges makes and deletes share links.
func (s bench) shareChanges(t *testing.T) changes {
	var asset library.AssetHash
	return changes{trash: "deleted",
		read: `SELECT publication_id, jsonb_build_object('title', title, 'slug', slug, 'assets', array_to_string(asset_hs, ','), 'deleted', unpublished_at IS NOT NULL) FROM publications WHERE collection_h IS NULL`,
		random: func(r *rand.Rand, keys []string) string {
			if asset == "" { // not before, so that other nouns' cases do not find it
				asset = add(t, s, s.a, file("shared.png", "a")).Asset.Hash
			}
			if len(keys) > 2 && r.IntN(3) == 0 {
				id, err := s.Shares.Delete(t.Context(), s.a, pick(r, keys...))
				if library.AsError(err).Kind == library.KindNotFound {
					return "" // it is deleted
				}
				return must[string](t)(id, err)
			}
			_, id, err := s.Shares.Create(t.Context(), s.a, shareOf(pick(r, "", "x", "y"), asset), false)
			return must[string](t)(id, err)
		}}
}

func TestShares_RefuseWhatIsPrivateOrOfAnotherTenantAndEndWhenDeleted(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), t.Context()
	var h []library.AssetHash
	for n := range 4 {
		h = append(h, add(t, s, s.a, file(fmt.Sprint("file", n, ".png"), "a")).Asset.Hash)
	}
	if _, err := s.Assets.Change(ctx, s.a, h[1:2], func(a *library.Asset) { a.Visibility, a.Owner = library.VisibilityPrivate, s.a.ID }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trash.Move(ctx, s.a, h[2:3], true); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Shares.Create(ctx, s.a, shareOf("", h[0], h[1]), false); library.AsError(err).Code != library.CodeAssetPrivate {
		t.Errorf("a private asset: %v", err)
	}
	if _, _, err := s.Shares.Create(ctx, s.a, shareOf("", h[0], h[2]), false); library.AsError(err).Code != library.CodeNotFound {
		t.Errorf("an asset in the trash: %v", err)
	}
	if _, _, err := s.Shares.Create(ctx, s.b, shareOf("", h[0]), false); library.AsError(err).Code != library.CodeNotFound {
		t.Errorf("another tenant's asset: %v", err)
	}
	if p, id, err := s.Shares.Create(ctx, s.a, shareOf("", h[1], h[2]), true); err != nil || id != "" || p.ID != "" {
		t.Errorf("a link was made that shares nothing: %+v %v", p, err)
	}
	p, _, err := s.Shares.Create(ctx, s.a, shareOf("x", h[3], h[1], h[0], h[2]), true)
	if err != nil || fmt.Sprint(p.Shared) != fmt.Sprint([]library.AssetHash{h[3], h[0]}) || len(p.Slug) != 26 {
		t.Fatalf("%+v %v", p, err)
	}
	if _, err := s.Trash.Move(ctx, s.a, h[3:], true); err != nil {
		t.Fatal(err)
	}
	list, total, err := s.Shares.List(ctx, s.a.Tenant, 10, 0)
	if err != nil || total != 1 || len(list) != 1 || list[0].ID != p.ID || list[0].Assets != 1 {
		t.Errorf("%d: %+v %v", total, list, err)
	}
	if _, total, err := s.Shares.List(ctx, s.b.Tenant, 10, 0); err != nil || total != 0 {
		t.Errorf("another tenant has %d links: %v", total, err)
	}
	collection := string(s.collect(t, "Published", h[0]))
	if _, _, err := s.publishAs(ctx, collection, "share", "", ""); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []struct {
		actor library.Actor
		id    string
	}{{s.b, p.ID}, {s.a, collection}, {s.a, "01980000-0000-7000-8000-00000000dead"}} {
		if _, err := s.Shares.Delete(ctx, wrong.actor, wrong.id); library.AsError(err).Kind != library.KindNotFound {
			t.Errorf("deleting %s: %v", wrong.id, err)
		}
	}
	endsWhenDeleted(t, s, p)
}

// endsWhenDeleted deletes a share link, and takes that back.
func endsWhenDeleted(t *testing.T, s bench, p library.Publication) {
	t.Helper()
	ctx := t.Context()
	there := func() bool {
		found, err := s.Publications.Find(ctx, p.Segment, p.Slug)
		return err == nil && found.ID == p.ID
	}
	gone, err := s.Shares.Delete(ctx, s.a, p.ID)
	if err != nil || gone == "" || there() {
		t.Errorf("it is deleted by %q and there: %v", gone, err)
	}
	if _, err := s.Shares.Delete(ctx, s.a, p.ID); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := s.Operations.Undo(ctx, s.a, gone, anyone); err != nil || !there() {
		t.Errorf("it is not there after its deletion was undone: %v", err)
	}
}

func TestShares_AnAssetThatIsPurgedAndStoredAgainIsNotShared(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), t.Context()
	var h []library.AssetHash
	for n := range 3 {
		h = append(h, add(t, s, s.a, file(fmt.Sprint("file", n, ".png"), "a")).Asset.Hash)
	}
	p, _, err := s.Shares.Create(ctx, s.a, shareOf("", h[2], h[1], h[0]), false)
	if err != nil {
		t.Fatal(err)
	}
	ended, _, err := s.Shares.Create(ctx, s.a, shareOf("", h[1]), false)
	if err != nil {
		t.Fatal(err)
	}
	operation, err := s.Shares.Delete(ctx, s.a, ended.ID)
	if err != nil {
		t.Fatal(err)
	}
	other := add(t, s, s.b, file("file1.png", "a")).Asset.Hash
	theirs, _, err := s.Shares.Create(ctx, s.b, shareOf("", other), false)
	if err != nil || other != h[1] {
		t.Fatal(other, err)
	}
	if _, err := s.Trash.Move(ctx, s.a, h[1:2], true); err != nil {
		t.Fatal(err)
	}
	if done, err := s.Trash.Purge(ctx, s.a, h[1:2], store.PurgeOptions{}); err != nil || len(done.Purged) != 1 {
		t.Fatalf("%+v %v", done, err)
	}
	add(t, s, s.a, file("file1.png", "a"))
	if _, err := s.Operations.Undo(ctx, s.a, operation, anyone); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		page   library.Publication
		shared []library.AssetHash
	}{{p, []library.AssetHash{h[2], h[0]}}, {ended, nil}, {theirs, h[1:2]}} {
		now, err := s.Publications.Find(ctx, want.page.Segment, want.page.Slug)
		if err != nil {
			t.Fatal(err)
		}
		if list, total, err := s.Publications.Hashes(ctx, now, 10, 0); err != nil || total != len(want.shared) || fmt.Sprint(list) != fmt.Sprint(want.shared) {
			t.Errorf("the link shares %v (%d), want %v: %v", list, total, want.shared, err)
		}
	}
	if list, _, _, err := s.Publications.OfAsset(ctx, s.a, h[1]); err != nil || len(list) != 0 {
		t.Errorf("the asset that was stored again can be seen on %d pages: %v", len(list), err)
	}
}
