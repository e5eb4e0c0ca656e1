package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// collection makes a collection and returns its path.
func (s bench) collection(t *testing.T, name, parent string) string {
	t.Helper()
	out, err := s.Collections.Create(t.Context(), s.a, library.Collection{Name: name, DisplayName: name}, parent)
	if err != nil {
		t.Fatal(err)
	}
	return out.Path
}

// put adds assets to a collection behind all others.
func (s bench) put(t *testing.T, path string, hashes ...library.AssetHash) store.ItemsChange {
	t.Helper()
	out, err := s.Collections.Add(t.Context(), s.a, path, store.NewItems{Assets: hashes})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// items lists the ids of a collection's items as an actor sees them.
func (s bench) items(t *testing.T, actor library.Actor, path string, q store.ItemsQuery) (ids []string, total int) {
	t.Helper()
	q.Limit = 1000
	_, list, total, err := s.Collections.Items(t.Context(), actor, path, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		ids = append(ids, i.ID)
	}
	return ids, total
}

// constraintOf returns the name of the constraint that refused a statement.
func constraintOf(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.ConstraintName
	}
	return ""
}

// repeatWhileBusy repeats a write that was refused because all connections are busy, as the refusal advises.
func repeatWhileBusy(t *testing.T, write func() error) {
	t.Helper()
	err := write()
	for range 20 {
		var e *library.Error
		if !errors.As(err, &e) || e.Code != "STORE_UNAVAILABLE" {
			break
		}
		err = write()
	}
	if err != nil {
		t.Error(err)
	}
}

// TestCollections_FiftyWritersLeaveOneOrder lets 50 writers put assets and cards into one
// collection at random places at once. Each is there once, at a place of its own.
func TestCollections_FiftyWritersLeaveOneOrder(t *testing.T) {
	t.Parallel()
	s := open(t)
	path := s.collection(t, "shared", "")
	const writers, each = 50, 4
	var hashes []library.AssetHash
	for i := range writers * each {
		hashes = append(hashes, add(t, s, s.a, file(fmt.Sprint("w", i))).Asset.Hash)
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				at := (w * 7) % (i + 3)
				n := store.NewItems{Assets: hashes[w*each+i : w*each+i+1]}
				if w%2 == 0 {
					n.Position = &at
				}
				repeatWhileBusy(t, func() error {
					_, err := s.Collections.Add(t.Context(), s.a, path, n)
					return err
				})
			}
			repeatWhileBusy(t, func() error {
				_, err := s.Collections.AddCard(t.Context(), s.a, path, library.TextCard{Heading: fmt.Sprint(w)}, nil)
				return err
			})
		})
	}
	wg.Wait()
	ids, total := s.items(t, s.a, path, store.ItemsQuery{})
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if total != writers*(each+1) || len(seen) != total {
		t.Errorf("%d items, %d different ones, of %d", total, len(seen), writers*(each+1))
	}
	var ranks int
	if err := storetest.Owner(t, s.url).QueryRow(t.Context(), `SELECT count(DISTINCT rank) FROM collection_items`).Scan(&ranks); err != nil || ranks != total {
		t.Errorf("%d items have %d ranks, %v", total, ranks, err)
	}
}

// TestCollections_FiftyMoversLeaveATree moves the collections of one tree below each
// other at once: whatever wins, all are still there and no path is a cycle.
func TestCollections_FiftyMoversLeaveATree(t *testing.T) {
	t.Parallel()
	s := open(t)
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprint("c", i))
		s.collection(t, names[i], "")
	}
	list, _, err := s.Collections.List(t.Context(), s.a, "", 5, false, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for w := range 50 {
		wg.Go(func() {
			from, to := list[w%8].Hash, list[(w*5+w/8+1)%8].Hash
			if _, err := s.Collections.Move(t.Context(), s.a, string(from), string(to)); err != nil && library.AsError(err).Kind != library.KindInvalid {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	after, total, err := s.Collections.List(t.Context(), s.a, "", 5, false, 100, 0)
	if err != nil || total != 8 {
		t.Fatalf("%d collections are left, %v", total, err)
	}
	byHash := map[library.CollectionHash]library.Collection{}
	for _, e := range after {
		byHash[e.Hash] = e.Collection
	}
	for _, e := range after {
		want := e.Name
		for up := e.Parent; up != ""; up = byHash[up].Parent {
			if want = byHash[up].Name + "." + want; strings.Count(want, ".") > 5 {
				t.Fatalf("%s is below itself", e.Path)
			}
		}
		if e.Path != want {
			t.Errorf("the path is %s, by the parents it is %s", e.Path, want)
		}
	}
}

// TestCollections_TheDatabaseRefusesWhatTheTreeMustNotBe writes past the store.
func TestCollections_TheDatabaseRefusesWhatTheTreeMustNotBe(t *testing.T) {
	t.Parallel()
	s := open(t)
	h := add(t, s, s.a, file("fox")).Asset.Hash
	path := ""
	for i := range 5 {
		path = s.collection(t, fmt.Sprint("l", i), path)
	}
	s.put(t, "l0", h)
	snapshot, err := s.Collections.Branch(t.Context(), s.a, "l0", store.NewBranch{Name: "frozen", Type: library.BranchSnapshot})
	if err != nil {
		t.Fatal(err)
	}
	smart, err := s.Collections.Create(t.Context(), s.a, library.Collection{Name: "smart", SavedSearch: "x"}, "")
	if err != nil {
		t.Fatal(err)
	}
	insert := `INSERT INTO collections (tenant_id, collection_h, parent_h, name, path, created_by) SELECT '` + string(s.a.Tenant) + `', lpad('%s', 40, '0'), collection_h, '%s', 'x', 't' FROM collections WHERE path = '%s'`
	for what, c := range map[string]struct{ sql, constraint string }{
		"a sixth level":             {fmt.Sprintf(insert, "1", "deep", path), "collections_depth"},
		"a second of one name":      {fmt.Sprintf(insert, "2", "l1", "l0"), "collections_path"},
		"a collection below itself": {`UPDATE collections SET parent_h = (SELECT collection_h FROM collections WHERE path = 'l0.l1') WHERE path = 'l0'`, "collections_cycle"},
		"a parent in the trash":     {`UPDATE collections SET deleted_at = now() WHERE path = 'l0'`, "collections_children"},
		"a label with a dot":        {fmt.Sprintf(insert, "3", "a.b", "l0"), "collections_name_check"},
		"a snapshot that grows":     {`INSERT INTO collection_items (tenant_id, collection_h, item_id, card, rank, added_by) VALUES ('` + string(s.a.Tenant) + `', '` + string(snapshot.Hash) + `', 'x', '{}', 'i00000000000', 't')`, "collection_items_frozen"},
		"a snapshot that shrinks":   {`DELETE FROM collection_items WHERE collection_h = '` + string(snapshot.Hash) + `'`, "collection_items_frozen"},
		"a snapshot that changes":   {`UPDATE collection_items SET role = 'Logo' WHERE collection_h = '` + string(snapshot.Hash) + `'`, "collection_items_frozen"},
		"a snapshot that thaws":     {`UPDATE collections SET frozen = false WHERE collection_h = '` + string(snapshot.Hash) + `'`, "collections_frozen"},
		"a smart one with items":    {`INSERT INTO collection_items (tenant_id, collection_h, item_id, card, rank, added_by) VALUES ('` + string(s.a.Tenant) + `', '` + string(smart.Hash) + `', 'x', '{}', 'i00000000000', 't')`, "collection_items_smart"},
	} {
		s.asOwner(t, func(c2 *pgx.Conn) {
			_, err := c2.Exec(t.Context(), c.sql)
			if constraintOf(err) != c.constraint {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	if _, err := s.Collections.Add(t.Context(), s.a, "frozen", store.NewItems{Assets: []library.AssetHash{h}}); library.AsError(err).Code != library.CodeFrozen {
		t.Errorf("adding to a snapshot: %v", err)
	}
	if _, err := s.Collections.Add(t.Context(), s.a, "smart", store.NewItems{Assets: []library.AssetHash{h}}); library.AsError(err).Code != library.CodeSmartCollection {
		t.Errorf("adding to a smart collection: %v", err)
	}
}

// TestCollections_HidePrivateAssetsFromOtherMembers counts, lists and branches a
// collection with private assets as their owner and as another member.
func TestCollections_HidePrivateAssetsFromOtherMembers(t *testing.T) {
	t.Parallel()
	for _, plan := range storetest.Plans {
		t.Run(strings.Join(plan, " "), func(t *testing.T) { t.Parallel(); testHiddenItems(t, open(t, plan...)) })
	}
}

// TestCollections_ANameTakenWithTheLongestLabelIsAnsweredByAFreeOne takes labels of the
// greatest length, and uses the names that the errors offer.
func TestCollections_ANameTakenWithTheLongestLabelIsAnsweredByAFreeOne(t *testing.T) {
	t.Parallel()
	s := open(t)
	long := strings.Repeat("n", library.MaxCollectionName)
	parent := s.collection(t, "home", "")
	s.collection(t, long, parent)
	for range 12 { // past the first number of two digits
		_, err := s.Collections.Create(t.Context(), s.a, library.Collection{Name: long, DisplayName: long}, parent)
		known := library.AsError(err)
		if known.Code != library.CodeNameTaken || len(known.Fields) != 1 {
			t.Fatal(err)
		}
		offered, _, _ := strings.Cut(strings.TrimPrefix(known.Fields[0].Hint, "Use "), ",")
		if library.CollectionLabel(offered) != offered {
			t.Fatalf("%q of %d characters is cut", offered, len(offered))
		}
		s.collection(t, offered, parent)
	}
}

// TestCollections_OfAnotherTenantAreNotThere names a collection of another tenant.
func TestCollections_OfAnotherTenantAreNotThere(t *testing.T) {
	t.Parallel()
	s := open(t)
	path := s.collection(t, "mine", "")
	mine, err := s.Collections.Get(t.Context(), s.a, path, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{path, string(mine.Hash)} {
		_, gotErr := s.Collections.Get(t.Context(), s.b, ref, true)
		_, moveErr := s.Collections.Move(t.Context(), s.b, ref, "")
		_, deleteErr := s.Collections.Delete(t.Context(), s.b, ref)
		_, addErr := s.Collections.Add(t.Context(), s.b, ref, store.NewItems{})
		_, belowErr := s.Collections.Create(t.Context(), s.b, library.Collection{Name: "x"}, ref)
		for what, err := range map[string]error{"get": gotErr, "move": moveErr, "delete": deleteErr, "add": addErr, "create": belowErr} {
			if library.AsError(err).Kind != library.KindNotFound {
				t.Errorf("%s of %s: %v", what, ref, err)
			}
		}
	}
	list, total, err := s.Collections.List(t.Context(), s.b, "", 5, true, 10, 0)
	if err != nil || total != 0 || len(list) != 0 {
		t.Errorf("another tenant lists %v %v", list, err)
	}
}

// TestCollections_ALargeMoveIsIndexedInTheBackground moves a collection with more assets
// than an operation sees to itself.
func TestCollections_ALargeMoveIsIndexedInTheBackground(t *testing.T) {
	t.Parallel()
	s := open(t)
	db := storetest.Owner(t, s.url)
	ctx := t.Context()
	s.collection(t, "big", "")
	s.collection(t, "home", "")
	const n = 2500
	if _, err := db.Exec(ctx, `INSERT INTO assets (tenant_id, asset_h, sha256, blake3, filename, mime_type, size, created_at, created_by, doc_version)
		SELECT $1, lpad(to_hex(i), 40, '0'), '', '', i || '.png', 'image/png', 1, now(), 'test', 1 FROM generate_series(1, $2) i`, string(s.a.Tenant), n); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(ctx, `INSERT INTO collection_items (tenant_id, collection_h, item_id, asset_h, rank, added_by)
		SELECT a.tenant_id, c.collection_h, a.asset_h, a.asset_h, 'i' || right(a.asset_h, 10) || '1', 't' FROM assets a, collections c WHERE c.path = 'big'`); err != nil {
		t.Fatal(err)
	}
	moved, err := s.Collections.Move(ctx, s.a, "big", "home")
	if err != nil || !moved.Pending || moved.Path != "home.big" {
		t.Fatalf("%+v %v", moved, err)
	}
	if queued, err := s.Collections.QueuedForReindex(ctx); err != nil || queued != 1 {
		t.Errorf("%d collections are queued, %v", queued, err)
	}
	var wg sync.WaitGroup
	for range 3 { // several processes
		wg.Go(func() {
			if _, err := s.Collections.ReindexQueued(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var bumped, waiting, queued int
	if err := db.QueryRow(ctx, `SELECT (SELECT count(*) FROM assets WHERE doc_version = 2), (SELECT count(*) FROM outbox WHERE topic = 'documents'), (SELECT count(*) FROM collection_reindex)`).
		Scan(&bumped, &waiting, &queued); err != nil || bumped != n || waiting != n || queued != 0 {
		t.Errorf("%d of %d assets have a new version, %d wait for the index, %d collections are queued, %v", bumped, n, waiting, queued, err)
	}
	few, err := s.Collections.Branch(ctx, s.a, "home", store.NewBranch{Type: library.BranchSnapshot, SnapshotLabel: "v1"})
	if err != nil || few.Pending || !strings.HasPrefix(few.Name, "homesnapshot2") {
		t.Errorf("%+v %v", few, err)
	}
	if _, err := s.Collections.Branch(ctx, s.a, "home", store.NewBranch{Type: library.BranchSnapshot, SnapshotLabel: "v1"}); library.AsError(err).Code != library.CodeNameTaken {
		t.Errorf("a second snapshot with the label: %v", err)
	}
}

// TestCollectionError_NamesTheFreeName asks for names that are taken and levels that are not
// there.
func TestCollectionError_NamesTheFreeName(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.collection(t, "neon", "")
	s.collection(t, "neon2", "")
	_, err := s.Collections.Create(t.Context(), s.a, library.Collection{Name: "neon"}, "")
	e := library.AsError(err)
	if e.Code != library.CodeNameTaken || len(e.Fields) != 1 || e.Fields[0].Field != "name" || !strings.Contains(e.Fields[0].Hint, "neon3") {
		t.Errorf("%+v", e)
	}
	path := "neon"
	for range 4 {
		path = s.collection(t, "x", path)
	}
	_, err = s.Collections.Create(t.Context(), s.a, library.Collection{Name: "y"}, path)
	if e := library.AsError(err); e.Code != library.CodeValidationFailed || e.Fields[0].Field != "parent_path" {
		t.Errorf("%+v", e)
	}
	_, err = s.Collections.Move(t.Context(), s.a, "neon.x", "neon.x.x")
	if e := library.AsError(err); e.Code != library.CodeValidationFailed || e.Fields[0].Field != "new_parent_path" {
		t.Errorf("%+v", e)
	}
}

// TestCollections_PathsOfAnAssetFollowAMove reads where an asset is.
func TestCollections_PathsOfAnAssetFollowAMove(t *testing.T) {
	t.Parallel()
	s := open(t)
	h := add(t, s, s.a, file("fox")).Asset.Hash
	s.collection(t, "a", "")
	s.collection(t, "b", "a")
	s.collection(t, "c", "")
	s.put(t, "a.b", h)
	s.put(t, "c", h)
	if _, err := s.Collections.Move(t.Context(), s.a, "a", "c"); err != nil {
		t.Fatal(err)
	}
	d, err := s.Assets.Get(t.Context(), s.a, h)
	if diff := cmp.Diff([]string{"c", "c.a.b"}, d.Collections); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
