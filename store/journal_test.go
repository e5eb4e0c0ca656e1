package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

func TestJournal_TakesToolPermissionAndRequestFromTheCall(t *testing.T) {
	t.Parallel()
	s := open(t)
	h := add(t, s, s.a, file("fox")).Asset.Hash
	ctx := library.WithCall(t.Context(), library.Call{Tool: "PurgeAsset", Permission: library.PermAdmin, RequestID: "r-1"})
	done, err := s.Assets.Change(ctx, s.a, []library.AssetHash{h}, func(a *library.Asset) { a.Title = "x" })
	if err != nil {
		t.Fatal(err)
	}
	get := func(id string) library.Operation {
		t.Helper()
		list, err := s.Operations.List(t.Context(), s.a, store.OperationFilter{}, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list {
			if o.ID == id {
				return o
			}
		}
		t.Fatalf("%s is not listed", id)
		return library.Operation{}
	}
	if o := get(done.OperationID); o.Tool != "PurgeAsset" || o.Permission != library.PermAdmin || o.RequestID != "r-1" || o.Changes["asset"] != 1 || o.ActorID != s.a.ID {
		t.Errorf("%+v", o)
	}
	refused := errors.New("not allowed")
	if _, err := s.Operations.Undo(t.Context(), s.a, done.OperationID, func(o library.Operation) error {
		if o.Permission != library.PermAdmin {
			t.Errorf("asked about %+v", o)
		}
		return refused
	}); !errors.Is(err, refused) {
		t.Errorf("an undo that is not allowed gave %v", err)
	}
	undone, err := s.Operations.Undo(t.Context(), s.a, done.OperationID, anyone)
	if err != nil {
		t.Fatal(err)
	}
	if o := get(undone.OperationID); o.Permission != library.PermAdmin || o.Undoes != done.OperationID || get(done.OperationID).UndoneBy != o.ID {
		t.Errorf("redoing it must need what it needed: %+v", o)
	}
}

func TestUndo_LastMeansTheCredentialsOwnLastOperationThatStands(t *testing.T) {
	t.Parallel()
	s := open(t)
	h := add(t, s, s.a, file("fox")).Asset.Hash
	title := func(actor library.Actor, title string) string {
		t.Helper()
		done, err := s.Assets.Change(t.Context(), actor, []library.AssetHash{h}, func(a *library.Asset) { a.Title = title })
		if err != nil {
			t.Fatal(err)
		}
		return done.OperationID
	}
	other := s.a
	other.ID = "key-other"
	first, second := title(s.a, "one"), title(s.a, "two")
	if _, err := s.Operations.Undo(t.Context(), other, store.LastOperation, anyone); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("another credential's last operation: %v", err)
	}
	theirs := title(other, "three")
	if _, err := s.Operations.Undo(t.Context(), other, store.LastOperation, anyone); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{second, first} {
		if undone, err := s.Operations.Undo(t.Context(), s.a, store.LastOperation, anyone); err != nil || undone.Undone.ID != want {
			t.Errorf("undid %s %v, not %s", undone.Undone.ID, err, want)
		}
	}
	d, err := s.Assets.Get(t.Context(), s.a, h)
	if err != nil || d.Asset.Title != "" {
		t.Errorf("the title is %q after all of %s was undone, %v", d.Asset.Title, theirs, err)
	}
}

func TestAudit_OfPersonalDataHasFieldNamesAndNoValues(t *testing.T) {
	t.Parallel()
	s := open(t)
	saved, _, err := s.SavedSearches.Add(t.Context(), s.a, library.SavedSearch{Name: "ordinary", Mode: "smart", OrderBy: "created"})
	if err != nil {
		t.Fatal(err)
	}
	personal := store.SavedSearchNoun.Personal()
	if _, err := s.Write(t.Context(), s.a, func(tx *store.Tx) error {
		return tx.Track(t.Context(), personal, []string{saved.ID}, func() error {
			_, err := tx.Exec(t.Context(), `UPDATE saved_searches SET description = 'private words' WHERE tenant_id = $1`, s.a.Tenant)
			return err
		})
	}); err != nil {
		t.Fatal(err)
	}
	var audit, journal string
	if err := storetest.Owner(t, s.url).QueryRow(t.Context(), `SELECT (SELECT string_agg(detail::text, ' ') FROM audit WHERE action = 'saved_search.updated'),
		(SELECT string_agg(after::text, ' ') FROM journal)`).Scan(&audit, &journal); err != nil {
		t.Fatal(err)
	}
	if audit != `{"fields": ["description"]}` || !strings.Contains(journal, "private words") {
		t.Errorf("the audit trail has %s, the journal %s", audit, journal)
	}
}

// TestJournal_OfConcurrentChangesHasEachValueOnceBeforeAndAfter: in the journal of one
// field every value is left as often as it is reached, but for the first and the last. A
// change whose before is not what another left would break that.
func TestJournal_OfConcurrentChangesHasEachValueOnceBeforeAndAfter(t *testing.T) {
	t.Parallel()
	s := open(t)
	var hashes []library.AssetHash
	for i := range 4 {
		hashes = append(hashes, add(t, s, s.a, file(fmt.Sprint("fox", i))).Asset.Hash)
	}
	saved, _, err := s.SavedSearches.Add(t.Context(), s.a, library.SavedSearch{Name: "shared", Mode: "smart", OrderBy: "created"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 2))
			actor := s.a
			actor.ID = fmt.Sprint("key-", worker)
			for i := range 30 {
				value := fmt.Sprint(worker, "-", i)
				var err error
				switch r.IntN(3) {
				case 0:
					_, _, err = s.SavedSearches.Change(t.Context(), actor, saved.ID, func(have *library.SavedSearch) error { have.Description = value; return nil })
				case 1:
					some := []library.AssetHash{hashes[r.IntN(4)], hashes[r.IntN(4)]}
					_, err = s.Assets.Change(t.Context(), actor, some, func(a *library.Asset) { a.Title = value })
				default:
					if _, err = s.Operations.Undo(t.Context(), actor, store.LastOperation, anyone); library.AsError(err).Kind == library.KindNotFound {
						err = nil
					}
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for field, now := range map[string]string{"title": `SELECT asset_h AS key, title AS value FROM assets`, "description": `SELECT saved_search_id, description FROM saved_searches`} {
		movesAreEven(t, s, field, now)
	}
}

// movesAreEven fails where a value of a field is not left as often as it is reached; now selects the
// keys and values of today.
func movesAreEven(t *testing.T, s bench, field, now string) {
	t.Helper()
	rows, err := storetest.Owner(t, s.url).Query(t.Context(), `SELECT key, value FROM (
				SELECT key, after ->> '`+field+`' AS value, 1 AS n FROM journal WHERE before ? '`+field+`'
				UNION ALL SELECT key, before ->> '`+field+`', -1 FROM journal WHERE before ? '`+field+`'
				UNION ALL SELECT key, '', 1 FROM (`+now+`) AS every(key, value)
				UNION ALL SELECT key, value, -1 FROM (`+now+`) AS every(key, value)) AS moves
			GROUP BY key, value HAVING sum(n) <> 0`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s of %s: %q is reached and left not equally often", field, key, value)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
