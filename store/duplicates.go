package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/media/phash"
	"vitrine/store/internal/pg"
)

// Duplicates keeps which assets are duplicates of others by how they look, and which pairs
// somebody said are none.
type Duplicates struct{ s *Store }

// unlinkedNoun is a pair of assets that are no duplicates of each other; its key is both
// hashes, the smaller one first.
var unlinkedNoun = func() *Noun {
	n := rowNoun("unlinked_duplicate", &rowTable{table: "unlinked_duplicates", key: []string{"asset_a", "asset_b"}, columns: []string{"created_by", "created_at"}})
	n.event = func(before, _ json.RawMessage) string {
		if before == nil {
			return "duplicate.unlinked"
		}
		return "duplicate.linked"
	}
	n.events = []string{"duplicate.unlinked", "duplicate.linked"}
	return n
}()

func init() { register(unlinkedNoun, undoRows) }

// Pair is two assets, the one with the smaller hash first.
type Pair [2]library.AssetHash

// PairOf returns the pair of two assets.
func PairOf(a, b library.AssetHash) Pair {
	if b < a {
		a, b = b, a
	}
	return Pair{a, b}
}

// UnlinkResult is what Unlink did.
type UnlinkResult struct {
	OperationID string // empty when nothing changed
	Changed     int    // pairs
	Unchanged   int
	Missing     []library.AssetHash
}

// Unlink notes that no two of some assets are duplicates of each other, or takes that back.
// Assets that the actor does not see are missing, and pairs with them are left out.
func (d *Duplicates) Unlink(ctx context.Context, actor library.Actor, hashes []library.AssetHash, unlink bool) (out UnlinkResult, err error) {
	id, err := d.s.Write(ctx, actor, func(t *Tx) error {
		out = UnlinkResult{}
		rows, err := t.Query(ctx, existingAssets+` ORDER BY asset_h FOR KEY SHARE`, t.tenant(), hashes, viewer(actor))
		if err != nil {
			return err
		}
		have, err := pgx.CollectRows(rows, pgx.RowTo[library.AssetHash])
		if err != nil {
			return err
		}
		for _, h := range distinct(hashes) {
			if !slices.Contains(have, h) {
				out.Missing = append(out.Missing, h)
			}
		}
		var keys []string
		var a, b []library.AssetHash
		for i := range have {
			for _, other := range have[i+1:] {
				a, b, keys = append(a, have[i]), append(b, other), append(keys, string(have[i])+"/"+string(other))
			}
		}
		err = t.Track(ctx, unlinkedNoun, keys, func() error {
			sql, args := `INSERT INTO unlinked_duplicates (tenant_id, asset_a, asset_b, created_by)
				SELECT $1, p.a, p.b, $4 FROM unnest($2::text[], $3::text[]) AS p(a, b) ON CONFLICT DO NOTHING`, []any{t.tenant(), a, b, actor.ID}
			if !unlink {
				sql, args = `DELETE FROM unlinked_duplicates u USING unnest($2::text[], $3::text[]) AS p(a, b)
					WHERE u.tenant_id = $1 AND u.asset_a = p.a AND u.asset_b = p.b`, args[:3]
			}
			tag, err := t.Exec(ctx, sql, args...)
			out.Changed, out.Unchanged = int(tag.RowsAffected()), len(keys)-int(tag.RowsAffected())
			return err
		})
		return err
	})
	out.OperationID = id
	return out, err
}

// Unlinked returns the pairs of a tenant's assets that are no duplicates.
func (d *Duplicates) Unlinked(ctx context.Context, tenant library.TenantID) (pairs map[Pair]bool, err error) {
	err = d.s.readTenant(ctx, tenant, unlinkedPairs, []any{tenant}, func(rows pgx.Rows) (err error) {
		pairs, err = scanPairs(rows)
		return err
	})
	return pairs, err
}

const unlinkedPairs = `SELECT asset_a, asset_b FROM unlinked_duplicates WHERE tenant_id = $1`

func scanPairs(rows pgx.Rows) (map[Pair]bool, error) {
	pairs := map[Pair]bool{}
	var p Pair
	_, err := pgx.ForEachRow(rows, []any{&p[0], &p[1]}, func() error {
		pairs[p] = true
		return nil
	})
	return pairs, err
}

// CheckQueued finds out which assets have become duplicates, or are none any more, since
// their hashes, their visibility or their pairs changed, and makes the index look at
// those again: a page of one tenant in each transaction, until none is left. It reports
// how many changes it looked at. Several processes may call it at once.
func (d *Duplicates) CheckQueued(ctx context.Context) (checked int, err error) {
	for {
		tenants, err := collectIndexer(ctx, d.s, `SELECT DISTINCT tenant_id::text FROM duplicate_checks`, pgx.RowTo[library.TenantID])
		if err != nil || len(tenants) == 0 {
			return checked, err
		}
		before := checked
		for _, tenant := range tenants {
			n, err := d.checkPage(ctx, tenant)
			checked += n
			if err != nil {
				return checked, err
			}
		}
		if checked == before { // another process works on them
			return checked, nil
		}
	}
}

// Queued returns how many changes wait for CheckQueued.
func (d *Duplicates) Queued(ctx context.Context) (n int, err error) {
	err = d.s.indexer.QueryRow(ctx, `SELECT count(*) FROM duplicate_checks`).Scan(&n)
	return n, unavailable(err)
}

// checkWork is about how many comparisons one transaction makes for its page: a second's.
const checkWork = 1_000_000_000

// checkPage looks at the next changes of a tenant. Processes take turns, so that what one
// read is not older than what another wrote.
func (d *Duplicates) checkPage(ctx context.Context, tenant library.TenantID) (n int, err error) {
	actor := library.Actor{Kind: library.ActorSystem, ID: "duplicates", Tenant: tenant}
	_, err = d.s.Write(ctx, actor, func(t *Tx) error {
		n = 0
		var mine bool
		if err := t.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, pg.LockOf(pg.DuplicatesLock, string(tenant))).Scan(&mine); err != nil || !mine {
			return err
		}
		var pictures int
		if err := t.QueryRow(ctx, `SELECT count(*) FROM asset_fingerprints WHERE tenant_id = $1 AND phash IS NOT NULL`, tenant).Scan(&pictures); err != nil {
			return err
		}
		changed, err := takeChecks(ctx, t, min(max(checkWork/max(pictures, 1), 100), 10_000))
		if n = len(changed); err != nil || n == 0 {
			return err
		}
		return d.markDuplicates(ctx, t, changed)
	})
	return n, err
}

// takeChecks takes the next changes from the queue.
func takeChecks(ctx context.Context, t *Tx, limit int) ([]phash.Hash, error) {
	rows, err := t.Query(ctx, `DELETE FROM duplicate_checks WHERE tenant_id = $1 AND check_id IN (
		SELECT check_id FROM duplicate_checks WHERE tenant_id = $1 LIMIT $2) RETURNING phash`, t.tenant(), limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (phash.Hash, error) {
		var bits int64
		err := row.Scan(&bits)
		return phash.Hash(bits), err //nolint:gosec // the same 64 bits
	})
}

// picture is an asset with its perceptual hash, and whether it counts as a duplicate.
type picture struct {
	asset     library.AssetHash
	hash      *int64 // nil: it has none any more
	duplicate bool
}

// markDuplicates sets which assets near some hashes are duplicates.
func (d *Duplicates) markDuplicates(ctx context.Context, t *Tx, changed []phash.Hash) error {
	pictures, seen, err := readPictures(ctx, t)
	if err != nil {
		return err
	}
	rows, err := t.Query(ctx, unlinkedPairs, t.tenant())
	if err != nil {
		return err
	}
	unlinked, err := scanPairs(rows)
	if err != nil {
		return fmt.Errorf("reading unlinked pairs: %w", err)
	}
	apart := func(i, j int) bool { return unlinked[PairOf(pictures[i].asset, pictures[j].asset)] }
	if len(unlinked) == 0 {
		apart = nil
	}
	now, both := []string{}, []string{}
	for i, is := range phash.Paired(seen, changed, phash.Alike, apart) {
		if is = is && pictures[i].hash != nil; is != pictures[i].duplicate {
			both = append(both, string(pictures[i].asset))
			if is {
				now = append(now, string(pictures[i].asset))
			}
		}
	}
	for _, p := range pictures {
		if p.hash == nil {
			both = append(both, string(p.asset))
		}
	}
	if len(both) == 0 {
		return nil
	}
	slices.Sort(both)
	if err := t.reindexAssets(ctx, "duplicates", slices.Compact(both)); err != nil {
		return err
	}
	_, err = t.Exec(ctx, `UPDATE asset_fingerprints SET duplicate = asset_h = ANY($3) WHERE tenant_id = $1 AND asset_h = ANY($2)`, t.tenant(), both, now)
	return err
}

// readPictures reads the hashes of a tenant's pictures, and those without that still count
// as duplicates, which are seen as gone.
func readPictures(ctx context.Context, t *Tx) (pictures []picture, seen []phash.Seen, err error) {
	rows, err := t.Query(ctx, `SELECT p.asset_h, p.phash, p.duplicate, p.phash IS NULL OR a.trashed_at IS NOT NULL, a.visibility = 'private', CASE WHEN a.visibility = 'private' THEN a.owner ELSE '' END
		FROM asset_fingerprints p JOIN assets a USING (tenant_id, asset_h) WHERE p.tenant_id = $1 AND (p.phash IS NOT NULL OR p.duplicate)`, t.tenant())
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p picture
		var s phash.Seen
		if err := rows.Scan(&p.asset, &p.hash, &p.duplicate, &s.Gone, &s.Hidden, &s.Owner); err != nil {
			return nil, nil, err
		}
		if p.hash != nil {
			s.Hash = phash.Hash(*p.hash) //nolint:gosec // the same 64 bits
		}
		pictures, seen = append(pictures, p), append(seen, s)
	}
	return pictures, seen, rows.Err()
}
