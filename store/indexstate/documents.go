package indexstate

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store/internal/pg"
)

// AssetIndex names the index of assets.
const AssetIndex = "assets"

// DocumentKey names one document of an index among those of all tenants.
type DocumentKey struct {
	Tenant library.TenantID
	Key    string // of an asset, its hash
}

// DocumentVersion is a document and the version that it should have.
type DocumentVersion struct {
	DocumentKey
	Version int64
	Live    bool // false: what it shows is in the trash, or gone
}

// DocumentState is what an index should hold of something.
type DocumentState int

// The states of an asset, or of anything else, as an index sees it.
const (
	DocumentGone    DocumentState = iota // no row: the index holds a tombstone or nothing
	DocumentTrashed                      // a row in the trash: a tombstone
	DocumentLive
)

// TenantDocuments is a tenant and how many documents it should have in an index.
type TenantDocuments struct {
	Tenant    library.TenantID
	Documents int64
}

// DocumentPart is a statement about some documents, which it names by DocumentKeysSQL, and
// what is done with each of its rows.
type DocumentPart struct {
	SQL  string
	Scan func(pgx.Rows) error
}

// DocumentKeysSQL are the documents that a DocumentPart is asked about: k has their
// tenant_id, their key, and their place from 1 as ord.
const DocumentKeysSQL = `unnest($1::text[]::uuid[], $2::text[]) WITH ORDINALITY AS k(tenant_id, key, ord)`

// maxCachedPlan is for how many documents at most a cached plan, made for others, is good.
const maxCachedPlan = 16

// readSnapshot reads what documents are made of, and which index generations there are,
// in one round trip and one snapshot: a caller whose answer lacks a generation that is
// being built has read nothing that the backfill of that generation will not read again.
func (d db) readSnapshot(ctx context.Context, keys []DocumentKey, parts []DocumentPart) ([]Generation, error) {
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, pg.Unavailable(err)
	}
	// A connection whose transaction did not end is closed on release.
	defer conn.Release()

	tenants, names := splitKeys(keys)
	b := &pgx.Batch{}
	b.Queue(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`)
	// A plan that is kept was made when the tables had another size: in a library that an import
	// is filling it reads whole tables. To plan again pays for itself where there are many keys.
	b.Queue(`SELECT set_config('plan_cache_mode', CASE WHEN $1 THEN 'force_custom_plan' ELSE 'auto' END, true)`, len(keys) > maxCachedPlan)
	for _, part := range parts {
		b.Queue(part.SQL, tenants, names)
	}
	b.Queue(generationsSQL)
	b.Queue(`COMMIT`)
	res := conn.SendBatch(ctx, b)
	defer res.Close()
	generations, err := readParts(res, parts)
	return generations, pg.Unavailable(err)
}

func readParts(res pgx.BatchResults, parts []DocumentPart) ([]Generation, error) {
	for range 2 { // the beginning, and the way of planning
		if _, err := res.Exec(); err != nil {
			return nil, err
		}
	}
	for _, part := range parts {
		if err := eachRow(res, part.Scan); err != nil {
			return nil, err
		}
	}
	rows, err := res.Query()
	if err != nil {
		return nil, err
	}
	generations, err := pgx.CollectRows(rows, scanGeneration)
	if err != nil {
		return nil, err
	}
	_, err = res.Exec()
	return generations, err
}

func eachRow(res pgx.BatchResults, scan func(pgx.Rows) error) error {
	rows, err := res.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// splitKeys returns the tenants and the keys, as statements take them.
func splitKeys(keys []DocumentKey) (tenants, names []string) {
	tenants, names = make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		tenants[i], names[i] = string(k.Tenant), k.Key
	}
	return tenants, names
}

// queryVersions runs a statement whose rows are a tenant, a key, a version and whether
// the document is live.
func (d db) queryVersions(ctx context.Context, sql string, args ...any) ([]DocumentVersion, error) {
	return pg.Collect(ctx, d.pool, sql, func(row pgx.CollectableRow) (v DocumentVersion, err error) {
		err = row.Scan(&v.Tenant, &v.Key, &v.Version, &v.Live)
		return v, err
	}, args...)
}

// countDocuments runs a statement whose rows are a tenant and a number.
func (d db) countDocuments(ctx context.Context, sql string) ([]TenantDocuments, error) {
	return pg.Collect(ctx, d.pool, sql, pgx.RowToStructByPos[TenantDocuments])
}

// DocumentTable is a table each of whose rows is a document of an index: it has the
// columns tenant_id, doc_version, updated_at and, of what is in the trash or gone,
// deleted_at. Rows are never deleted while the index may have heard of them.
type DocumentTable struct {
	db
	index            string
	table, keyColumn string
}

// Table returns the rows of a table as documents of an index. The names are part
// of the program, never of a request.
func (ds *Documents) Table(index, table, keyColumn string) *DocumentTable {
	return &DocumentTable{ds.db, index, table, keyColumn}
}

// VersionsAfter returns the rows of one tenant that follow after, in order of their key,
// deleted ones included, at most limit of them. An empty after starts at the first.
func (dt *DocumentTable) VersionsAfter(ctx context.Context, tenant library.TenantID, after string, limit int) ([]DocumentVersion, error) {
	return dt.queryVersions(ctx, `SELECT tenant_id::text, `+dt.keyColumn+`, doc_version, deleted_at IS NULL FROM `+dt.table+`
		WHERE tenant_id = $1 AND `+dt.keyColumn+` > $2 ORDER BY `+dt.keyColumn+` LIMIT $3`, string(tenant), after, limit)
}

// Count counts the rows of every tenant that has some, deleted ones included, in order of the tenant.
func (dt *DocumentTable) Count(ctx context.Context) ([]TenantDocuments, error) {
	return dt.countDocuments(ctx, `SELECT tenant_id::text, count(*) FROM `+dt.table+` GROUP BY tenant_id ORDER BY tenant_id`)
}

// CountLive is Count without the deleted rows.
func (dt *DocumentTable) CountLive(ctx context.Context) ([]TenantDocuments, error) {
	return dt.countDocuments(ctx, `SELECT tenant_id::text, count(*) FROM `+dt.table+` WHERE deleted_at IS NULL GROUP BY tenant_id ORDER BY tenant_id`)
}

// TombstonesBefore returns those of some rows that were deleted before a time.
func (dt *DocumentTable) TombstonesBefore(ctx context.Context, before time.Time, keys []DocumentKey) ([]DocumentVersion, error) {
	tenants, names := splitKeys(keys)
	return dt.queryVersions(ctx, `SELECT d.tenant_id::text, d.`+dt.keyColumn+`, d.doc_version, false
		FROM `+DocumentKeysSQL+`
		JOIN `+dt.table+` d ON d.tenant_id = k.tenant_id AND d.`+dt.keyColumn+` = k.key
		WHERE d.deleted_at < $3 ORDER BY k.ord`, tenants, names, before)
}

// DocumentHead is what an index knows of every document, whatever it shows.
type DocumentHead struct {
	DocumentKey
	State           DocumentState
	Version         int64 // of what it shows or of its tombstone; 0 when the database knows neither
	HasIndexFailure bool  // index_failures has a row about it
	UpdatedAt       time.Time
}

// Read reads the heads of some documents, one per key in the order of the keys, and which
// index generations there are, in one snapshot with some more parts.
func (dt *DocumentTable) Read(ctx context.Context, keys []DocumentKey, parts ...DocumentPart) ([]DocumentHead, []Generation, error) {
	heads := make([]DocumentHead, len(keys))
	for i, k := range keys {
		heads[i].DocumentKey = k
	}
	var ord int
	all := []DocumentPart{
		{`SELECT k.ord, d.doc_version, d.deleted_at IS NOT NULL, d.updated_at FROM ` + DocumentKeysSQL + ` JOIN ` + dt.table + ` d
			ON d.tenant_id = k.tenant_id AND d.` + dt.keyColumn + ` = k.key`, func(r pgx.Rows) error {
			var h DocumentHead
			var deleted bool
			if err := r.Scan(&ord, &h.Version, &deleted, &h.UpdatedAt); err != nil {
				return err
			}
			h.State = DocumentLive
			if deleted {
				h.State = DocumentTrashed
			}
			h.DocumentKey = keys[ord-1]
			heads[ord-1] = h
			return nil
		}},
		{`SELECT k.ord FROM ` + DocumentKeysSQL + ` JOIN index_failures f ON f.index_name = '` + dt.index + `' AND f.tenant_id = k.tenant_id AND f.key = k.key`,
			func(r pgx.Rows) error {
				if err := r.Scan(&ord); err != nil {
					return err
				}
				heads[ord-1].HasIndexFailure = true
				return nil
			}},
	}
	generations, err := dt.readSnapshot(ctx, keys, append(all, parts...))
	return heads, generations, err
}
