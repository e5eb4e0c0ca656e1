package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// publishAs publishes a collection with a preset, title and slug.
func (s bench) publishAs(ctx context.Context, c, preset, title, slug string) (library.Publication, string, error) {
	return s.Publications.Publish(ctx, s.a, c, nil, func(_ library.Collection, p *library.Publication) error {
		if p.Spec, p.Title = library.SpecOf(library.ExportPreset(preset)), title; slug != "" {
			p.Slug = slug
		}
		return nil
	})
}

func (s bench) collect(t *testing.T, name string, assets ...library.AssetHash) library.CollectionHash {
	t.Helper()
	made, err := s.Collections.Create(t.Context(), s.a, library.Collection{Name: library.CollectionLabel(name), DisplayName: name}, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(assets) > 0 {
		if _, err := s.Collections.Add(t.Context(), s.a, string(made.Hash), store.NewItems{Assets: assets}); err != nil {
			t.Fatal(err)
		}
	}
	return made.Collection.Hash
}

// publicationChanges publishes collections, changes how, and takes pages away. A page that was taken
// away comes back by undoing alone here: see TestPublications_APageThatComesBackKeepsItsAddresses.
func (s bench) publicationChanges(t *testing.T) changes {
	var collections []string
	db := storetest.Owner(t, s.url)
	return changes{trash: "unpublished",
		read: `SELECT publication_id, jsonb_build_object('title', title, 'slug', slug, 'spec', spec::text, 'prompts', hide_prompts, 'password', password_hash, 'unpublished', unpublished_at IS NOT NULL) FROM publications`,
		refused: func(now things, key string, as thing) bool {
			for k, v := range now {
				if k != key && v["slug"] == as["slug"] {
					return true
				}
			}
			return false
		},
		random: func(r *rand.Rand, _ []string) string {
			for len(collections) < 5 { // not before, so that other nouns' cases do not find them
				collections = append(collections, string(s.collect(t, fmt.Sprint("page ", len(collections)))))
			}
			c := pick(r, collections...)
			var gone bool
			if err := db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM publications WHERE publication_id = $1 AND unpublished_at IS NOT NULL)`, c).Scan(&gone); err != nil {
				t.Fatal(err)
			}
			if gone {
				return ""
			}
			if r.IntN(6) == 0 {
				_, id, err := s.Publications.Unpublish(t.Context(), s.a, c)
				return must[string](t)(id, err)
			}
			_, id, err := s.Publications.Publish(t.Context(), s.a, c, nil, func(_ library.Collection, p *library.Publication) error {
				p.Spec, p.Title, p.HidePrompts = library.SpecOf(library.ExportPreset(pick(r, "share", "client"))), pick(r, "", "x", "y"), r.IntN(2) == 0
				if p.PasswordHash = pick(r, "", "$argon2id$a"); r.IntN(3) == 0 {
					p.Slug = pick(r, "north", "south", "west")
				}
				return nil
			})
			return must[string](t)(id, err)
		}}
}

func TestPublications_APageThatComesBackKeepsItsAddresses(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), t.Context()
	asset := add(t, s, s.a, file("one.png", "a")).Asset.Hash
	c := s.collect(t, "Night Märkte", asset)
	first, made, err := s.publishAs(ctx, string(c), "share", "Night", "")
	if err != nil || first.Slug != "night-markte" || len(first.Segment) != 16 || made == "" {
		t.Fatalf("%+v %v", first, err)
	}
	seen := func() bool {
		p, err := s.Publications.Find(ctx, first.Segment, first.Slug)
		return err == nil && p.Public(time.Now())
	}
	id := first.PictureID(asset)
	if _, _, err := s.Publications.Unpublish(ctx, s.a, string(c)); err != nil || seen() {
		t.Errorf("the page is still there: %v", err)
	}
	if _, again, err := s.Publications.Unpublish(ctx, s.a, string(c)); err != nil || again != "" {
		t.Errorf("taking it away twice is the operation %q: %v", again, err)
	}
	second, again, err := s.publishAs(ctx, string(c), "client", "Night again", "")
	if err != nil || second.Segment != first.Segment || second.Slug != first.Slug || second.PictureID(asset) != id || !second.PublishedAt.After(first.PublishedAt) || !seen() {
		t.Errorf("%+v %v", second, err)
	}
	for _, op := range []string{again, made} { // taken away again, and what was made is not there as it was
		if _, err := s.Operations.Undo(ctx, s.a, op, anyone); err != nil {
			t.Fatal(err)
		}
		if seen() {
			t.Error("the page is there after its publication was undone")
		}
	}
	if _, _, err := s.publishAs(ctx, string(c), "share", "", ""); err != nil || !seen() {
		t.Errorf("published a third time: %v", err)
	}
	if _, err := s.Collections.Delete(ctx, s.a, string(c)); err != nil || seen() {
		t.Errorf("a deleted collection is still published: %v", err)
	}
}

func TestPublications_ShowNothingThatIsPrivateOrInTheTrash(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), t.Context()
	var hashes []library.AssetHash
	for n := range 4 {
		hashes = append(hashes, add(t, s, s.a, file(fmt.Sprint("file", n, ".png"), "a")).Asset.Hash)
	}
	alone := add(t, s, s.a, file("alone.png", "a")).Asset.Hash
	p, _, err := s.publishAs(ctx, string(s.collect(t, "Some", hashes...)), "share", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Assets.Change(ctx, s.a, hashes[1:2], func(a *library.Asset) { a.Visibility, a.Owner = library.VisibilityPrivate, s.a.ID }); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trash.Move(ctx, s.a, hashes[2:3], true); err != nil {
		t.Fatal(err)
	}
	list, total, err := s.Publications.Hashes(ctx, p, 10, 0)
	if err != nil || total != 2 || fmt.Sprint(list) != fmt.Sprint([]library.AssetHash{hashes[0], hashes[3]}) {
		t.Errorf("shown are %d: %v, %v", total, list, err)
	}
	found, err := s.Publications.Assets(ctx, p, append(hashes, alone))
	if err != nil || len(found) != 2 || found[hashes[0]].Asset.Hash != hashes[0] {
		t.Errorf("found are %v, %v", found, err)
	}
	for h, want := range map[library.AssetHash]int{hashes[0]: 1, hashes[1]: 0, alone: 0} {
		list, paths, private, err := s.Publications.OfAsset(ctx, s.a, h)
		if err != nil || len(list) != want || private != (h == hashes[1]) || (len(paths) == 0) != (h == alone) {
			t.Errorf("%s: %d pages, %v, private %v, %v", h, len(list), paths, private, err)
		}
	}
	other := s.b
	if _, _, _, err := s.Publications.OfAsset(ctx, other, hashes[0]); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("another tenant asks: %v", err)
	}
	if _, _, err := s.Publications.Of(ctx, other, string(p.Collection)); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("another tenant asks: %v", err)
	}
	if _, _, err := s.Publications.Publish(ctx, other, string(p.Collection), nil, nil); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("another tenant publishes: %v", err)
	}
}

func TestPublications_AnAddressIsOfOnePageAlone(t *testing.T) {
	t.Parallel()
	s, ctx := open(t), t.Context()
	one := s.collect(t, "Same name")
	below, err := s.Collections.Create(ctx, s.a, library.Collection{Name: "samename", DisplayName: "Same, näme!"}, "samename")
	if err != nil {
		t.Fatal(err)
	}
	two := below.Collection.Hash
	p, _, err := s.publishAs(ctx, string(one), "share", "", "")
	if err != nil {
		t.Fatal(err)
	}
	q, _, err := s.publishAs(ctx, string(two), "share", "", "")
	if err != nil || p.Slug != "same-name" || q.Slug != "same-name-2" || p.Segment != q.Segment {
		t.Errorf("%s/%s and %s/%s: %v", p.Segment, p.Slug, q.Segment, q.Slug, err)
	}
	if _, _, err := s.publishAs(ctx, string(two), "share", "", p.Slug); library.AsError(err).Code != library.CodeNameTaken {
		t.Errorf("a slug that is taken: %v", err)
	}
	theirs, err := s.Collections.Create(ctx, s.b, library.Collection{Name: "samename", DisplayName: "Same name"}, "")
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := s.Publications.Publish(ctx, s.b, string(theirs.Collection.Hash), nil, func(_ library.Collection, p *library.Publication) error {
		p.Spec = library.SpecOf(library.ExportShare)
		return nil
	})
	if err != nil || b.Slug != p.Slug || b.Segment == p.Segment {
		t.Errorf("another tenant's page is %s/%s beside %s: %v", b.Segment, b.Slug, p.Segment, err)
	}
	if _, err := s.Publications.Find(ctx, b.Segment, q.Slug); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("a slug below another tenant's segment: %v", err)
	}
	if found, err := s.Publications.Find(ctx, q.Segment, q.Slug); err != nil || found.ID != q.ID || found.Tenant != s.a.Tenant {
		t.Errorf("%+v %v", found, err)
	}
	wrong := errors.New("refused")
	if _, _, err := s.Publications.Publish(ctx, s.a, string(one), nil, func(library.Collection, *library.Publication) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}

func TestPublications_APictureIDSaysNothingOfTheAssetAndIsOfOnePublication(t *testing.T) {
	t.Parallel()
	p, q := library.Publication{Secret: "one"}, library.Publication{Secret: "two"}
	r := rand.New(rand.NewPCG(3, 1))
	seen := map[string]bool{}
	for range 500 {
		raw := make([]byte, 20)
		for i := range raw {
			raw[i] = byte(r.IntN(256))
		}
		h := library.AssetHash(fmt.Sprintf("%x", raw))
		id := p.PictureID(h)
		if got, ok := p.AssetOf(id); !ok || got != h || len(id) != 40 || id != p.PictureID(h) || seen[id] {
			t.Fatalf("%s became %s and %s", h, id, got)
		}
		seen[id] = true
		if _, ok := q.AssetOf(id); ok {
			t.Fatal("a picture's id is one of another publication")
		}
		at := r.IntN(len(id))
		other := id[:at] + string("AB"[strings.IndexByte("A", id[at])+1]) + id[at+1:]
		if _, ok := p.AssetOf(other); ok && other != id {
			t.Fatalf("%s was made of %s by hand", other, id)
		}
	}
	for _, id := range []string{"", "x", strings.Repeat("A", 40), strings.Repeat("A", 41), strings.Repeat("=", 40), "../../../../etc/passwd", string(make([]byte, 40))} {
		if _, ok := p.AssetOf(id); ok {
			t.Errorf("%q is a picture's id", id)
		}
	}
}
