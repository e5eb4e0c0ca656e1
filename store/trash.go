package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"vitrine/library"
)

// Trash holds the assets that were taken out of the library and can be brought back until
// they are purged.
type Trash struct{ s *Store }

// Move moves assets to the trash, or back out of it, in one operation that can be undone.
// Assets that the actor does not see are missing; those that are where they should be are
// unchanged.
func (tr *Trash) Move(ctx context.Context, actor library.Actor, hashes []library.AssetHash, trashed bool) (ChangeResult, error) {
	var out ChangeResult
	id, err := tr.s.Write(ctx, actor, func(t *Tx) error {
		if err := lockLineage(ctx, t, t.tenant(), hashes); err != nil {
			return err
		}
		have, err := lockAssets(ctx, t, t.tenant(), hashes)
		if err != nil {
			return err
		}
		var missing []library.AssetHash
		var list []change
		for _, h := range distinct(hashes) {
			a, ok := have[h]
			if !ok || !t.actor.Sees(a) {
				missing = append(missing, h)
				continue
			}
			after := a
			after.Trashed = trashed
			list = append(list, change{before: a, after: after})
		}
		out, err = applyChanges(ctx, t, list)
		out.Missing = missing
		return err
	})
	out.OperationID = id
	return out, err
}

// TrashedAsset is an asset in the trash.
type TrashedAsset struct {
	library.Asset
	TrashedAt time.Time
}

// TrashPlace is a place in the list of the trash; the zero value is before its beginning.
type TrashPlace struct {
	At   time.Time
	Hash library.AssetHash
}

// List returns up to limit assets of the trash that the actor sees, those that were moved
// there first at the beginning, after a place.
func (tr *Trash) List(ctx context.Context, actor library.Actor, after TrashPlace, limit int) (list []TrashedAsset, err error) {
	err = tr.s.readTenant(ctx, actor.Tenant, `SELECT trashed_at, `+assetColumns+` FROM assets
		WHERE tenant_id = $1 AND trashed_at IS NOT NULL AND (trashed_at, asset_h) > ($3, $4::text COLLATE "C") AND `+visibleTo("assets", "$2")+`
		ORDER BY trashed_at, asset_h LIMIT $5`,
		[]any{actor.Tenant, viewer(actor), after.At, after.Hash, limit}, func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (a TrashedAsset, err error) {
				err = row.Scan(append([]any{&a.TrashedAt}, assetFields(&a.Asset)...)...)
				return a, err
			})
			return err
		})
	return list, err
}

// Due lists up to limit assets of all tenants that have been in the trash since before a
// time, in order of their keys after a key.
func (tr *Trash) Due(ctx context.Context, before time.Time, after library.AssetKey, limit int) ([]library.AssetKey, error) {
	if after.Tenant == "" {
		after.Tenant = "00000000-0000-0000-0000-000000000000"
	}
	return collectIndexer(ctx, tr.s, `SELECT tenant_id::text, asset_h FROM assets
		WHERE trashed_at IS NOT NULL AND trashed_at < $1 AND (tenant_id, asset_h) > ($2::text::uuid, $3::text COLLATE "C") ORDER BY tenant_id, asset_h LIMIT $4`,
		func(row pgx.CollectableRow) (k library.AssetKey, err error) {
			err = row.Scan(&k.Tenant, &k.Hash)
			return k, err
		}, before, string(after.Tenant), string(after.Hash), limit)
}

// Absent returns what became of those of these assets that were taken out of the library:
// InTrash or Purged. Assets that the actor does not see are left out.
func (tr *Trash) Absent(ctx context.Context, actor library.Actor, hashes []library.AssetHash) (map[library.AssetHash]string, error) {
	out := map[library.AssetHash]string{}
	err := tr.s.readTenant(ctx, actor.Tenant, `SELECT asset_h, true FROM assets
			WHERE tenant_id = $1 AND asset_h = ANY($2) AND trashed_at IS NOT NULL AND `+visibleTo("assets", "$3")+`
		UNION ALL SELECT asset_h, false FROM asset_tombstones t
			WHERE tenant_id = $1 AND asset_h = ANY($2) AND NOT EXISTS (SELECT FROM assets a WHERE a.tenant_id = $1 AND a.asset_h = t.asset_h)`,
		[]any{actor.Tenant, hashes, viewer(actor)}, func(rows pgx.Rows) error {
			var h library.AssetHash
			var trashed bool
			_, err := pgx.ForEachRow(rows, []any{&h, &trashed}, func() error {
				if out[h] = Purged; trashed {
					out[h] = InTrash
				}
				return nil
			})
			return err
		})
	return out, err
}

// What became of an asset that is not in the library any more.
const (
	InTrash = "trashed"
	Purged  = "purged"
)

// PurgeOptions narrow what Purge deletes.
type PurgeOptions struct {
	Before     time.Time // only what was moved to the trash before; the zero time: everything
	Referenced bool      // also what a snapshot holds
}

// PurgeResult is what became of assets that were to be purged.
type PurgeResult struct {
	Purged     []AssetFile // their rows are gone; their files are to be removed by RemoveFile
	Referenced []library.AssetHash
	NotInTrash []library.AssetHash // or not there, or moved there too late
}

// maxPurge is how many assets one transaction deletes: as many as a sweep removes files
// without being asked, should the process end before their files are gone.
const maxPurge = 100

// Purge deletes assets of the trash for good, with all that is known of them. Whether an
// asset is still in the trash and what refers to it is looked at in the transaction that
// deletes it, under its lock. What refers to an asset and is not deleted with it keeps it.
func (tr *Trash) Purge(ctx context.Context, actor library.Actor, hashes []library.AssetHash, opt PurgeOptions) (PurgeResult, error) {
	var out PurgeResult
	for batch := range slices.Chunk(distinct(hashes), maxPurge) {
		done, err := tr.purgeBatch(ctx, actor, batch, opt)
		if isReferenced(err) { // by something that this package does not know: find out which
			done, err = tr.purgeEach(ctx, actor, batch, opt)
		}
		out.Purged = append(out.Purged, done.Purged...)
		out.Referenced = append(out.Referenced, done.Referenced...)
		out.NotInTrash = append(out.NotInTrash, done.NotInTrash...)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func (tr *Trash) purgeEach(ctx context.Context, actor library.Actor, batch []library.AssetHash, opt PurgeOptions) (out PurgeResult, err error) {
	for _, h := range batch {
		done, err := tr.purgeBatch(ctx, actor, []library.AssetHash{h}, opt)
		if isReferenced(err) {
			done, err = PurgeResult{Referenced: []library.AssetHash{h}}, nil
		}
		if err != nil {
			return out, err
		}
		out.Purged = append(out.Purged, done.Purged...)
		out.Referenced = append(out.Referenced, done.Referenced...)
		out.NotInTrash = append(out.NotInTrash, done.NotInTrash...)
	}
	return out, nil
}

// isReferenced reports that a row cannot go because another one refers to it.
func isReferenced(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "23503" || pg.Code == "23001")
}

// purgeCandidate is a row of the trash under its lock.
type purgeCandidate struct {
	file       AssetFile
	version    int64
	referenced bool
}

func (tr *Trash) purgeBatch(ctx context.Context, actor library.Actor, hashes []library.AssetHash, opt PurgeOptions) (out PurgeResult, err error) {
	_, err = tr.s.Write(ctx, actor, func(t *Tx) error {
		out = PurgeResult{}
		list, err := t.lockTrash(ctx, hashes, opt.Before)
		if err != nil {
			return err
		}
		there := map[library.AssetHash]bool{}
		var gone []library.AssetHash
		for _, c := range list {
			there[c.file.Hash] = true
			if c.referenced && !opt.Referenced {
				out.Referenced = append(out.Referenced, c.file.Hash)
				continue
			}
			gone, out.Purged = append(gone, c.file.Hash), append(out.Purged, c.file)
			if err := t.recordPurge(ctx, c); err != nil {
				return err
			}
		}
		for _, h := range hashes {
			if !there[h] {
				out.NotInTrash = append(out.NotInTrash, h)
			}
		}
		return t.deleteAssets(ctx, gone)
	})
	if err != nil {
		return PurgeResult{}, err
	}
	return out, nil
}

// lockTrash reads those of some assets that are in the trash and that the actor sees, and
// keeps them there.
func (t *Tx) lockTrash(ctx context.Context, hashes []library.AssetHash, before time.Time) ([]purgeCandidate, error) {
	if err := t.lockFiles(ctx, hashes); err != nil {
		return nil, err
	}
	rows, err := t.Query(ctx, `SELECT a.asset_h, a.filename, a.mime_type, a.size, a.doc_version, EXISTS (SELECT FROM collection_items i
			JOIN collections c ON c.tenant_id = i.tenant_id AND c.collection_h = i.collection_h
			WHERE i.tenant_id = a.tenant_id AND i.asset_h = a.asset_h AND c.frozen AND c.deleted_at IS NULL)
		FROM assets a WHERE a.tenant_id = $1 AND a.asset_h = ANY($2) AND a.trashed_at IS NOT NULL AND ($3::timestamptz IS NULL OR a.trashed_at < $3) AND `+visibleTo("a", "$4")+`
		ORDER BY a.asset_h FOR UPDATE OF a`, t.tenant(), hashes, nullTime(before), viewer(t.actor))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c purgeCandidate, err error) {
		err = row.Scan(&c.file.Hash, &c.file.Filename, &c.file.MIMEType, &c.file.Size, &c.version, &c.referenced)
		return c, err
	})
}

func nullTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// recordPurge writes what is left of an asset: a line of the audit trail, an event, and
// that its document goes. Nothing can be undone.
func (t *Tx) recordPurge(ctx context.Context, c purgeCandidate) error {
	hash := string(c.file.Hash)
	if err := t.Audit(ctx, "asset.purged", hash, map[string]any{"filename": c.file.Filename, "size": c.file.Size, "mime_type": c.file.MIMEType}); err != nil {
		return err
	}
	if err := t.Emit(ctx, library.Event{Type: "asset.deleted", Key: "asset/" + hash,
		Payload: library.ChangeEvent{Noun: "asset", ID: hash, Changed: []string{}, Cause: t.cause()}}); err != nil {
		return err
	}
	return t.reindexAsset(ctx, c.file.Hash, c.version+1, "purged")
}

// deleteAssets deletes rows that are locked, and all that goes with them.
func (t *Tx) deleteAssets(ctx context.Context, hashes []library.AssetHash) error {
	if len(hashes) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO asset_tombstones (tenant_id, asset_h, doc_version) SELECT tenant_id, asset_h, doc_version + 1 FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2)
		ON CONFLICT (tenant_id, asset_h) DO UPDATE SET doc_version = greatest(asset_tombstones.doc_version, excluded.doc_version), deleted_at = now()`, t.tenant(), hashes)
	b.Queue(unshare, t.tenant(), hashes)
	b.Queue(`DELETE FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2)`, t.tenant(), hashes)
	return t.Send(ctx, b)
}

// fileLock is the key of the lock on the file of an asset. Who writes the row of a file
// shares it; who deletes row or file holds it alone.
const fileLock = `hashtextextended('file ' || $1::text || `

// lockFiles keeps others from storing files of these hashes until the transaction ends.
func (t *Tx) lockFiles(ctx context.Context, hashes []library.AssetHash) error {
	_, err := t.Exec(ctx, `SELECT pg_advisory_xact_lock(key) FROM (SELECT DISTINCT `+fileLock+`h, 0) AS key FROM unnest($2::text[]) AS x(h) ORDER BY key) AS ordered`,
		string(t.tenant()), hashes)
	return err
}

// RemoveFile calls remove while nobody can store the same bytes, unless the asset has a row
// again.
func (tr *Trash) RemoveFile(ctx context.Context, actor library.Actor, hash library.AssetHash, remove func() error) error {
	_, err := tr.s.Write(ctx, actor, func(t *Tx) error {
		if err := t.lockFiles(ctx, []library.AssetHash{hash}); err != nil {
			return err
		}
		var back bool
		if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM assets WHERE tenant_id = $1 AND asset_h = $2)`, t.tenant(), hash).Scan(&back); err != nil || back {
			return err
		}
		return remove()
	})
	return err
}
