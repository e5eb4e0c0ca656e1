package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

func (s bench) unlinkChanges(t *testing.T) changes {
	pairs := func() (list []string) {
		var hashes []library.AssetHash
		for i := range 4 {
			hashes = append(hashes, add(t, s, s.a, file(fmt.Sprint("twin", i))).Asset.Hash)
		}
		for i := range hashes {
			for j := range i {
				p := store.PairOf(hashes[i], hashes[j])
				list = append(list, string(p[0])+"/"+string(p[1]))
			}
		}
		return list
	}
	return changes{read: `SELECT asset_a || '/' || asset_b, jsonb_build_object('created', created_at, 'by', created_by) FROM unlinked_duplicates`,
		random: s.rows(t, store.UnlinkedNoun, pairs, `INSERT INTO unlinked_duplicates (tenant_id, asset_a, asset_b, created_by) VALUES ($1, $2, $3, $4)
			ON CONFLICT (tenant_id, asset_a, asset_b) DO UPDATE SET created_by = excluded.created_by`,
			`DELETE FROM unlinked_duplicates WHERE tenant_id = $1 AND asset_a = $2 AND asset_b = $3`)}
}

// duplicate is an asset of the test below, as the test knows it.
type duplicate struct {
	hash    library.AssetHash
	phash   uint64
	trashed bool
	private string // its owner
	purged  bool
}

// TestDuplicates_FollowEveryChangeOfWhatLooksAlike changes hashes, the trash, visibility and
// pairs at random and compares the marks, and what the index is told, with all pairs.
func TestDuplicates_FollowEveryChangeOfWhatLooksAlike(t *testing.T) {
	t.Parallel()
	s := open(t)
	owner := storetest.Owner(t, s.url)
	ctx := context.Background()
	for _, seed := range randtest.Seeds(t) {
		r := rand.New(rand.NewPCG(seed, 3))
		made, err := s.Tenants.Create(ctx, system, fmt.Sprint("seed", seed))
		if err != nil {
			t.Fatal(err)
		}
		s.a.Tenant = made.ID
		var list []*duplicate
		for i := range 7 {
			a := add(t, s, s.a, file(fmt.Sprint("dup", seed, i))).Asset
			list = append(list, &duplicate{hash: a.Hash})
		}
		unlinked := map[store.Pair]bool{}
		for step := range randtest.Cases(t, 80) {
			d := list[r.IntN(len(list))]
			if !d.purged {
				changeDuplicate(t, s, r, d, list, unlinked)
			}
			if r.IntN(3) > 0 && step > 0 {
				continue // several changes are looked at together
			}
			if _, err := s.Duplicates.CheckQueued(ctx); err != nil {
				t.Fatal(err)
			}
			compareDuplicates(t, owner, seed, s.a.Tenant, list, unlinked)
		}
	}
}

func changeDuplicate(t *testing.T, s bench, r *rand.Rand, d *duplicate, list []*duplicate, unlinked map[store.Pair]bool) {
	t.Helper()
	ctx := t.Context()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	switch r.IntN(9) {
	case 0, 1, 2:
		if d.phash != 0 && r.IntN(2) == 0 {
			return // pairs of what looks alike are what matters
		}
		d.phash = []uint64{0, 0xFFFF0000, 0xFFFF00FF, 0xFFFFFFFF, 0xFFFF0000FFFF}[r.IntN(5)]
		phash := &d.phash
		if d.phash == 0 {
			phash = nil
		}
		_, _, err := s.Previews.Set(ctx, s.a.Tenant, d.hash, nil, phash)
		fail(err)
	case 3, 4:
		d.trashed = !d.trashed
		_, err := s.Trash.Move(ctx, s.a, []library.AssetHash{d.hash}, d.trashed)
		fail(err)
	case 5:
		if d.trashed {
			return
		}
		d.private = pick(r, "", "ann", "bob")
		_, err := s.Assets.Change(ctx, s.a, []library.AssetHash{d.hash}, func(a *library.Asset) {
			a.Owner, a.Visibility = d.private, library.VisibilityPrivate
			if d.private == "" {
				a.Visibility = library.VisibilityTeam
			}
		})
		fail(err)
	case 6, 7:
		other := list[r.IntN(len(list))]
		if other == d || other.trashed || d.trashed || other.purged {
			return
		}
		p := store.PairOf(d.hash, other.hash)
		_, err := s.Duplicates.Unlink(ctx, s.a, p[:], !unlinked[p])
		fail(err)
		unlinked[p] = !unlinked[p]
	case 8:
		if d.trashed && r.IntN(2) == 0 {
			_, err := s.Trash.Purge(ctx, s.a, []library.AssetHash{d.hash}, store.PurgeOptions{})
			fail(err)
			d.purged = true
		}
	}
}

func compareDuplicates(t *testing.T, owner *pgx.Conn, seed uint64, tenant library.TenantID, list []*duplicate, unlinked map[store.Pair]bool) {
	t.Helper()
	for _, d := range list {
		want := false
		for _, o := range list {
			want = want || d != o && !d.trashed && !o.trashed && !d.purged && !o.purged && d.phash != 0 && o.phash != 0 &&
				onesOf(d.phash^o.phash) <= 8 && (o.private == "" || o.private == d.private) && !unlinked[store.PairOf(d.hash, o.hash)]
		}
		var is bool
		err := owner.QueryRow(t.Context(), `SELECT coalesce(bool_or(duplicate), false) FROM asset_fingerprints WHERE tenant_id = $1 AND asset_h = $2`, tenant, d.hash).Scan(&is)
		if err != nil || is != want {
			t.Fatalf("seed %d: %+v is a duplicate: %v, not %v (%v)", seed, *d, is, want, err)
		}
	}
}

func onesOf(n uint64) (ones int) {
	for ; n != 0; n &= n - 1 {
		ones++
	}
	return ones
}
