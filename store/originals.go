package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Originals records where the files lie that are referenced in place.
type Originals struct{ s *Store }

// FileStamp is what a file system says of a file. A file whose stamp is the same has the
// same bytes.
type FileStamp struct {
	Size     int64
	Modified int64 // nanoseconds since 1970
	Changed  int64 // of the inode; 0 where the system has none
	Inode    int64
	Device   int64
}

// Same reports whether a file with stamp b has the bytes that it had with stamp s. Inode and
// device are not compared: both may change when a disk is mounted again.
func (s FileStamp) Same(b FileStamp) bool {
	return s.Size == b.Size && s.Modified == b.Modified && s.Changed == b.Changed
}

// Original is a place where the file of an asset lies, or lay.
type Original struct {
	ID    int64
	Hash  library.AssetHash
	Root  string
	Path  string // below the root, with slashes; any bytes
	Stamp FileStamp
	State library.OriginalState
	Seen  time.Time
	Until *time.Time // nil: it is there now
	// Import is the import that stored the asset from here; empty where the asset was there before.
	Import string
}

const originalColumns = `original_id, asset_h, root, path, size, modified, changed, inode, device, state, seen_at, until, coalesce(import_id, '')`

func scanOriginal(row pgx.CollectableRow) (o Original, err error) {
	var path []byte
	err = row.Scan(&o.ID, &o.Hash, &o.Root, &path, &o.Stamp.Size, &o.Stamp.Modified, &o.Stamp.Changed, &o.Stamp.Inode, &o.Stamp.Device, &o.State, &o.Seen, &o.Until, &o.Import)
	o.Path = string(path)
	return o, err
}

// Of returns the places where the file of an asset that is referenced in place lies, the
// newest first, and none of any other asset.
func (or *Originals) Of(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (list []Original, err error) {
	err = or.s.readTenant(ctx, tenant, `SELECT `+originalColumns+` FROM originals o WHERE tenant_id = $1 AND asset_h = $2 AND until IS NULL
			AND EXISTS (SELECT FROM assets a WHERE a.tenant_id = $1 AND a.asset_h = $2 AND a.in_place)
		ORDER BY state <> 'intact', original_id DESC`, []any{tenant, hash}, func(rows pgx.Rows) (err error) {
		list, err = pgx.CollectRows(rows, scanOriginal)
		return err
	})
	return list, err
}

// History returns every place where the file of an asset lies or lay, the newest first.
func (or *Originals) History(ctx context.Context, tenant library.TenantID, hash library.AssetHash) (list []Original, err error) {
	err = or.s.readTenant(ctx, tenant, `SELECT `+originalColumns+` FROM originals WHERE tenant_id = $1 AND asset_h = $2 ORDER BY until IS NOT NULL, original_id DESC LIMIT 100`,
		[]any{tenant, hash}, func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, scanOriginal)
			return err
		})
	return list, err
}

// Below calls fn for every file that is known to lie below a folder of a root; "" is the
// root itself.
func (or *Originals) Below(ctx context.Context, tenant library.TenantID, root, folder string, fn func(Original) error) error {
	from, to := []byte{}, []byte{0xff, 0xff}
	if folder != "" {
		from, to = []byte(folder+"/"), []byte(folder+"0") // 0 follows the slash
	}
	for after := from; ; {
		var page []Original
		err := or.s.readTenant(ctx, tenant, `SELECT `+originalColumns+` FROM originals
			WHERE tenant_id = $1 AND root = $2 AND until IS NULL AND path > $3 AND path < $4 ORDER BY path LIMIT $5`,
			[]any{tenant, root, after, to, originalsPage}, func(rows pgx.Rows) (err error) {
				page, err = pgx.CollectRows(rows, scanOriginal)
				return err
			})
		if err != nil {
			return err
		}
		for _, o := range page {
			if err := fn(o); err != nil {
				return err
			}
		}
		if len(page) < originalsPage {
			return nil
		}
		after = []byte(page[len(page)-1].Path)
	}
}

// originalsPage is how many rows are read at once.
const originalsPage = 5000

// At returns the files that are known to lie at some paths of a root.
func (or *Originals) At(ctx context.Context, tenant library.TenantID, root string, paths []string) (list []Original, err error) {
	err = or.s.readTenant(ctx, tenant, `SELECT `+originalColumns+` FROM originals WHERE tenant_id = $1 AND root = $2 AND until IS NULL AND path = ANY($3)`,
		[]any{tenant, root, byteStrings(paths)}, func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, scanOriginal)
			return err
		})
	return list, err
}

// Sample returns some files of a root that were intact when they were last looked at.
func (or *Originals) Sample(ctx context.Context, tenant library.TenantID, root string, limit int) (list []Original, err error) {
	err = or.s.readTenant(ctx, tenant, `SELECT `+originalColumns+` FROM originals WHERE tenant_id = $1 AND root = $2 AND until IS NULL AND state = 'intact' LIMIT $3`,
		[]any{tenant, root, limit}, func(rows pgx.Rows) (err error) {
			list, err = pgx.CollectRows(rows, scanOriginal)
			return err
		})
	return list, err
}

// Restamp keeps what the file system says now of files whose bytes are what was imported.
func (or *Originals) Restamp(ctx context.Context, actor library.Actor, list []Original) error {
	_, err := or.s.Write(ctx, actor, func(t *Tx) error {
		var back []library.AssetHash
		b := &pgx.Batch{}
		for _, o := range list {
			b.Queue(`UPDATE originals SET size = $3, modified = $4, changed = $5, inode = $6, device = $7, state = 'intact', state_at = CASE WHEN state = 'intact' THEN state_at ELSE now() END
				WHERE tenant_id = $1 AND original_id = $2 AND until IS NULL`, t.tenant(), o.ID, o.Stamp.Size, o.Stamp.Modified, o.Stamp.Changed, o.Stamp.Inode, o.Stamp.Device)
			if o.State != library.OriginalIntact {
				back = append(back, o.Hash)
			}
		}
		if err := t.Send(ctx, b); err != nil {
			return err
		}
		return t.touchAssets(ctx, back, "original_intact")
	})
	return err
}

// Mark records that files are not what was imported any more, and returns those whose place
// is a current one. Where the file of an asset lies somewhere else too, its place is only closed, and
// the value is that other path; else it is empty.
func (or *Originals) Mark(ctx context.Context, actor library.Actor, ids []int64, state library.OriginalState) (elsewhere map[int64]string, err error) {
	if state != library.OriginalMissing && state != library.OriginalChanged {
		return nil, fmt.Errorf("originals are not marked as %s", state)
	}
	_, err = or.s.Write(ctx, actor, func(t *Tx) error {
		elsewhere = map[int64]string{}
		rows, err := t.Query(ctx, `UPDATE originals o SET state = CASE WHEN x.path IS NULL THEN $3 ELSE o.state END, state_at = CASE WHEN o.state = $3 THEN o.state_at ELSE now() END, until = CASE WHEN x.path IS NOT NULL THEN now() END
			FROM originals own LEFT JOIN LATERAL (SELECT y.root || '/' || encode(y.path, 'escape') AS path FROM originals y
				WHERE y.tenant_id = $1 AND y.asset_h = own.asset_h AND y.until IS NULL AND y.state = 'intact' AND y.original_id <> ALL($2) ORDER BY y.original_id DESC LIMIT 1) x ON true
			WHERE own.tenant_id = $1 AND own.original_id = ANY($2) AND own.until IS NULL AND o.tenant_id = $1 AND o.original_id = own.original_id
			RETURNING o.original_id, o.asset_h, coalesce(x.path, ''), own.state <> $3`, t.tenant(), ids, string(state))
		if err != nil {
			return err
		}
		var touched []library.AssetHash
		var id int64
		var hash library.AssetHash
		var path string
		var news bool
		if _, err := pgx.ForEachRow(rows, []any{&id, &hash, &path, &news}, func() error {
			if news || path != "" {
				touched = append(touched, hash)
			}
			elsewhere[id] = path
			return nil
		}); err != nil {
			return err
		}
		return t.touchAssets(ctx, touched, "original_"+string(state))
	})
	return elsewhere, err
}

// Moved is a file that was renamed.
type Moved struct {
	From Original
	Path string
	Now  FileStamp
}

// Move records that files lie at other paths of their root now.
func (or *Originals) Move(ctx context.Context, actor library.Actor, importID string, moves []Moved) error {
	_, err := or.s.Write(ctx, actor, func(t *Tx) error {
		var touched []library.AssetHash
		for _, m := range moves {
			touched = append(touched, m.From.Hash)
			b := &pgx.Batch{}
			b.Queue(`UPDATE originals SET until = now() WHERE tenant_id = $1 AND original_id = $2 AND until IS NULL`, t.tenant(), m.From.ID)
			queueOriginals(b, t.tenant(), placedFile{m.From.Hash, importID, Original{Root: m.From.Root, Path: m.Path, Stamp: m.Now}})
			b.Queue(`UPDATE assets SET source_path = $3 WHERE tenant_id = $1 AND asset_h = $2 AND in_place`, t.tenant(), m.From.Hash, library.VisibleText(m.Path))
			if err := t.Send(ctx, b); err != nil {
				return err
			}
		}
		return t.touchAssets(ctx, touched, "original_moved")
	})
	return err
}

// placedFile is a file and where it lies.
type placedFile struct {
	hash     library.AssetHash
	importID string // that stored the asset; empty where it was there before
	at       Original
}

// queueOriginals adds the statement that records where files lie. What was there before
// and is another asset's has changed. Of several files at one place the last is the one that
// is there.
func queueOriginals(b *pgx.Batch, tenant library.TenantID, files ...placedFile) {
	last := map[[2]string]int{}
	for i, f := range files {
		last[[2]string{f.at.Root, f.at.Path}] = i
	}
	rows := make([]placedFile, 0, len(files))
	for i, f := range files {
		if last[[2]string{f.at.Root, f.at.Path}] == i {
			rows = append(rows, f)
		}
	}
	b.Queue(`INSERT INTO originals (tenant_id, asset_h, import_id, root, path, size, modified, changed, inode, device)
		SELECT $1::uuid, h, nullif(m, ''), r, p, s, w, c, i, d FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[]) AS u(h, m, r, p, s, w, c, i, d)
		ON CONFLICT (tenant_id, root, path) WHERE until IS NULL DO UPDATE SET size = excluded.size, modified = excluded.modified, changed = excluded.changed,
			inode = excluded.inode, device = excluded.device, state = 'intact'`,
		tenant, column(rows, func(f placedFile) library.AssetHash { return f.hash }), column(rows, func(f placedFile) string { return f.importID }),
		column(rows, func(f placedFile) string { return f.at.Root }), column(rows, func(f placedFile) []byte { return []byte(f.at.Path) }),
		column(rows, func(f placedFile) int64 { return f.at.Stamp.Size }), column(rows, func(f placedFile) int64 { return f.at.Stamp.Modified }),
		column(rows, func(f placedFile) int64 { return f.at.Stamp.Changed }), column(rows, func(f placedFile) int64 { return f.at.Stamp.Inode }),
		column(rows, func(f placedFile) int64 { return f.at.Stamp.Device }))
}

// closeReplaced ends the rows of paths that have other bytes now, and returns the assets
// that were there.
func (t *Tx) closeReplaced(ctx context.Context, files []InPlaceFile) (lost []library.AssetHash, err error) {
	roots, paths, hashes := make([]string, len(files)), make([][]byte, len(files)), make([]string, len(files))
	for i, f := range files {
		roots[i], paths[i], hashes[i] = f.Original.Root, []byte(f.Original.Path), string(f.New.Asset.Hash)
	}
	rows, err := t.Query(ctx, `UPDATE originals o SET until = now(), state = 'changed', state_at = now() FROM unnest($2::text[], $3::bytea[], $4::text[]) AS u(root, path, hash)
		WHERE o.tenant_id = $1 AND o.root = u.root AND o.path = u.path AND o.until IS NULL AND o.asset_h <> u.hash RETURNING o.asset_h`, t.tenant(), roots, paths, hashes)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[library.AssetHash])
}

// touchAssets makes the index look again at assets of which something beside their rows
// has changed.
func (t *Tx) touchAssets(ctx context.Context, hashes []library.AssetHash, reason string) error {
	if len(hashes) == 0 {
		return nil
	}
	rows, err := t.Query(ctx, `WITH locked AS (SELECT asset_h FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) ORDER BY asset_h FOR UPDATE)
		UPDATE assets a SET doc_version = doc_version + 1 FROM locked WHERE a.tenant_id = $1 AND a.asset_h = locked.asset_h RETURNING a.asset_h, a.doc_version`, t.tenant(), hashes)
	if err != nil {
		return err
	}
	versions := map[library.AssetHash]int64{}
	var hash library.AssetHash
	var version int64
	if _, err := pgx.ForEachRow(rows, []any{&hash, &version}, func() error { versions[hash] = version; return nil }); err != nil {
		return err
	}
	for h, v := range versions {
		if err := t.reindexAsset(ctx, h, v, reason); err != nil {
			return err
		}
	}
	return nil
}

func byteStrings(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}
