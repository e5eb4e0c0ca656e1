package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// made is an operation of the test, as its maker knows it.
type made struct {
	id, actor, tool, noun string
	keys                  []string
	at                    time.Time
	undone                bool
}

// someOperations makes operations of several actors, tools and nouns, a minute apart.
func someOperations(t *testing.T, s bench) (list []made, hashes []library.AssetHash) {
	t.Helper()
	ctx := t.Context()
	for i := range 3 {
		hashes = append(hashes, add(t, s, s.a, uses(fmt.Sprint("fox", i), "lora", "detail")).Asset.Hash)
	}
	if _, err := storetest.Owner(t, s.url).Exec(ctx, `DELETE FROM operations`); err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		actor := s.a
		actor.ID = fmt.Sprint("key-", i%2)
		m := made{actor: actor.ID, tool: []string{"UpdateAsset", "BulkUpdateAssetTags", "CreateSavedSearch"}[i%3], noun: "asset"}
		call := library.WithCall(ctx, library.Call{Tool: m.tool, Permission: library.PermWrite})
		if m.tool == "CreateSavedSearch" {
			saved, id, err := s.SavedSearches.Add(call, actor, library.SavedSearch{Name: fmt.Sprint("search ", i), Mode: "smart", OrderBy: "created"})
			if err != nil {
				t.Fatal(err)
			}
			m.id, m.noun, m.keys = id, "saved_search", []string{saved.ID}
		} else {
			some := hashes[:1+i%3]
			done, err := s.Assets.Change(call, actor, some, func(a *library.Asset) { a.Title = fmt.Sprint(i) })
			if err != nil {
				t.Fatal(err)
			}
			m.id = done.OperationID
			for _, h := range some {
				m.keys = append(m.keys, string(h))
			}
		}
		list = append(list, m)
	}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	db := storetest.Owner(t, s.url)
	for i := range list {
		list[i].at = start.Add(time.Duration(i) * time.Minute)
		list[i].undone = i%4 == 3
		if _, err := db.Exec(ctx, `UPDATE operations SET at = $2, undone_by = CASE WHEN $3 THEN 'x' END WHERE operation_id = $1`, list[i].id, list[i].at, list[i].undone); err != nil {
			t.Fatal(err)
		}
	}
	return list, hashes
}

// passes is the naive filter.
func (m made) passes(f store.OperationFilter) bool {
	return (f.ActorID == "" || f.ActorID == m.actor) && (f.Tool == "" || f.Tool == m.tool) && (f.Noun == "" || f.Noun == m.noun) &&
		(f.Key == "" || slices.Contains(m.keys, f.Key)) && (f.After.IsZero() || !m.at.Before(f.After)) &&
		(f.Before.IsZero() || m.at.Before(f.Before)) && (f.Undone == nil || *f.Undone == m.undone)
}

// TestOperations_ListedByAnyFilterAndPageEqualsANaiveFilter tries filters alone and
// together, in pages of any size.
func TestOperations_ListedByAnyFilterAndPageEqualsANaiveFilter(t *testing.T) {
	t.Parallel()
	s := open(t)
	all, hashes := someOperations(t, s)
	for _, seed := range slices.Concat([]uint64{3}, randtest.Seeds(t)) {
		r := rand.New(rand.NewPCG(seed, 1))
		for i := range 60 {
			f := randomFilter(r, all, hashes, i)
			var want []string
			for _, m := range slices.Backward(all) {
				if m.passes(f) {
					want = append(want, m.id)
				}
			}
			limit := 1 + r.IntN(5)
			if got := s.pages(t, f, limit); !slices.Equal(got, want) {
				t.Errorf("seed %d: %+v in pages of %d gave %v, want %v", seed, f, limit, got, want)
			}
		}
	}
}

// randomFilter filters by one field in the first rounds, then by several.
func randomFilter(r *rand.Rand, all []made, hashes []library.AssetHash, round int) (f store.OperationFilter) {
	m := all[r.IntN(len(all))]
	undone := r.IntN(2) == 0
	set := []func(){
		func() { f.ActorID = m.actor }, func() { f.Tool = m.tool }, func() { f.Noun = m.noun }, func() { f.Key = pick(r, m.keys[0], string(hashes[2])) },
		func() { f.After = m.at }, func() { f.Before = m.at }, func() { f.Undone = &undone },
	}
	if round < 2*len(set) {
		set[round%len(set)]()
		return f
	}
	for _, one := range set {
		if r.IntN(3) == 0 {
			one()
		}
	}
	return f
}

func (s bench) pages(t *testing.T, f store.OperationFilter, limit int) (ids []string) {
	t.Helper()
	for cursor := ""; ; {
		page, err := s.Operations.List(t.Context(), s.a, f, cursor, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page {
			ids = append(ids, o.ID)
		}
		if len(page) < limit {
			return ids
		}
		cursor = page[limit-1].ID
	}
}
