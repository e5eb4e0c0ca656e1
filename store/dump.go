package store

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// notDumped are the tables that a dump leaves out, each with its reason. Every other
// table of the schema is dumped, whoever added it.
var notDumped = map[string]string{
	"goose_db_version":   "the versions of the schema are listed in the manifest, and a restore makes that schema",
	"tenant_key":         "every database has a key of its own, which no other one may know",
	"restores":           "it tells what this database was restored from",
	"blob_store":         "it names the folder of files that was there; a restored library takes the one that it was restored into",
	"damaged_files":      "they are found anew in the folder that a library was restored into",
	"uploads":            "their bytes are staged and in no backup; clients begin them again",
	"scrub":              "it tells how far the files of this folder were checked",
	"index_generations":  "they name indexes of the OpenSearch that was there; after a restore a new index is made",
	"river_leader":       "it names the process that looks after the jobs",
	"river_queue":        "it tells which processes run jobs; each notes itself again",
	"river_notification": "it holds messages between processes that run",
	"rule_leaders":       "it names the processes that look after rules",
	"index_state":        "it tells where this database lives and what its indexer has seen",
}

// Dump is one consistent view of the whole library, open for reading. Writers are
// not held up by it. Close it soon: while it is open, PostgreSQL keeps every row
// version that it could see.
type Dump struct {
	cfg      *pgx.ConnConfig
	conn     *pgx.Conn // holds the snapshot
	snapshot string
	schema   string

	At        time.Time       // of the snapshot, by the database's clock
	Versions  []int64         // of the schema, in the order they were applied
	Tables    []DumpTable     // by name
	Sequences []DumpSequence  // by name
	Excluded  []ExcludedTable // by name
}

// DumpTable is one table of a dump.
type DumpTable struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // those that are stored; generated ones follow from them
	Rows    int64    `json:"-"`       // about, as the planner knows them
}

// DumpSequence is where a sequence stands.
type DumpSequence struct {
	Name string `json:"name"`
	Last int64  `json:"last"` // the last number it gave
}

// ExcludedTable is a table that is not dumped, and why.
type ExcludedTable struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// plainText makes values look the same wherever they are read.
var plainText = map[string]string{"timezone": "UTC", "datestyle": "ISO, YMD", "intervalstyle": "postgres", "extra_float_digits": "1",
	"bytea_output": "hex", "client_encoding": "UTF8", "application_name": "vitrine_backup", "lock_timeout": "60s",
	"synchronize_seqscans": "off"} // rows come in the order that they are stored in

// OpenDump takes a snapshot with the owner's login. Tables are found in the catalog.
func OpenDump(ctx context.Context, cfg Config) (*Dump, error) {
	at, err := pgx.ParseConfig(cfg.URL)
	if err != nil {
		return nil, badURL("VITRINE_POSTGRES_URL")
	}
	for name, value := range plainText {
		at.RuntimeParams[name] = value
	}
	d := &Dump{cfg: at}
	if d.conn, err = pgx.ConnectConfig(ctx, at); err != nil {
		return nil, unavailable(err)
	}
	if err := d.open(ctx); err != nil {
		d.Close()
		return nil, unavailable(err)
	}
	return d, nil
}

func (d *Dump) open(ctx context.Context) error {
	if _, err := d.conn.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`); err != nil {
		return err
	}
	err := d.conn.QueryRow(ctx, `SELECT pg_export_snapshot(), now(), (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'goose_db_version'::regclass)`).
		Scan(&d.snapshot, &d.At, &d.schema)
	if err != nil {
		return err
	}
	if d.Versions, err = appliedVersions(ctx, d.conn); err != nil {
		return err
	}
	if err := d.findTables(ctx); err != nil {
		return err
	}
	if err := d.readableByOwner(ctx); err != nil {
		return err
	}
	rows, err := d.conn.Query(ctx, `SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = $1 AND last_value IS NOT NULL
		AND sequencename NOT LIKE 'goose_db_version%' ORDER BY sequencename`, strings.Trim(d.schema, `"`))
	if err != nil {
		return err
	}
	d.Sequences, err = pgx.CollectRows(rows, pgx.RowToStructByPos[DumpSequence])
	d.Sequences = slices.DeleteFunc(d.Sequences, func(s DumpSequence) bool {
		return slices.ContainsFunc(d.Excluded, func(x ExcludedTable) bool { return strings.HasPrefix(s.Name, x.Name+"_") })
	})
	return err
}

// findTables lists the tables of the schema with their stored columns. A table with
// partitions is one table: the database that it is loaded into has partitions of its own.
func (d *Dump) findTables(ctx context.Context) error {
	rows, err := d.conn.Query(ctx, `SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum), greatest(c.reltuples, 0)::bigint +
			coalesce((SELECT sum(greatest(p.reltuples, 0)) FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid WHERE i.inhparent = c.oid), 0)::bigint
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
		WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't' AND c.relnamespace = $1::regnamespace
		  AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_class'::regclass AND e.objid = c.oid AND e.deptype = 'e')
		GROUP BY c.oid ORDER BY c.relname`, d.schema)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[DumpTable])
	if err != nil {
		return err
	}
	for _, t := range all {
		if why, out := notDumped[t.Name]; out {
			d.Excluded = append(d.Excluded, ExcludedTable{t.Name, why})
			continue
		}
		d.Tables = append(d.Tables, t)
	}
	return nil
}

// readableByOwner refuses a dump that would silently lack rows: forced row level
// security hides them from an owner without a policy of its own. Migrate makes one
// for every table.
func (d *Dump) readableByOwner(ctx context.Context) error {
	var hidden []string
	err := d.conn.QueryRow(ctx, `SELECT coalesce(array_agg(c.relname::text ORDER BY c.relname), '{}') FROM pg_class c, pg_roles me
		WHERE me.rolname = current_user AND NOT me.rolsuper AND NOT me.rolbypassrls
		  AND c.relkind IN ('r', 'p') AND c.relnamespace = $1::regnamespace AND c.relrowsecurity AND c.relforcerowsecurity
		  AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd = '*' AND p.polpermissive
		    AND me.oid = ANY (p.polroles) AND pg_get_expr(p.polqual, p.polrelid) = 'true')`, d.schema).Scan(&hidden)
	if err == nil && len(hidden) > 0 {
		err = fmt.Errorf("row level security hides rows of %s from this login; run vitrine migrate with it, or use the login that owns the tables", strings.Join(hidden, ", "))
	}
	return err
}

// Copy writes a table in the text format of COPY and reports how many rows it has.
// It may be called for several tables at once: each has a connection of its own that
// sees the same snapshot.
func (d *Dump) Copy(ctx context.Context, t DumpTable, w io.Writer) (rows int64, err error) {
	conn, err := d.join(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tag, err := conn.PgConn().CopyTo(ctx, w, copyOut(d.schema, t))
	return tag.RowsAffected(), unavailable(err)
}

// copyOut returns the statement that reads a table. COPY of its name would refuse one
// with partitions.
func copyOut(schema string, t DumpTable) string {
	return "COPY (SELECT " + t.columns() + " FROM " + schema + "." + pgx.Identifier{t.Name}.Sanitize() + ") TO STDOUT"
}

func copyTarget(schema string, t DumpTable) string {
	return schema + "." + pgx.Identifier{t.Name}.Sanitize() + " (" + t.columns() + ")"
}

func (t DumpTable) columns() string {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = pgx.Identifier{c}.Sanitize()
	}
	return strings.Join(columns, ", ")
}

// join opens a connection that sees the dump's snapshot.
func (d *Dump) join(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, d.cfg.Copy())
	if err != nil {
		return nil, unavailable(err)
	}
	_, err = conn.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT '`+d.snapshot+`'`)
	if err != nil {
		conn.Close(context.WithoutCancel(ctx))
		return nil, unavailable(err)
	}
	return conn, nil
}

// DumpedFile is the file that an asset's row promises.
type DumpedFile struct {
	Tenant library.TenantID
	Asset  library.AssetHash
	SHA256 string
	Size   int64
	Model  bool // a 3D model, which may have a poster
	// InPlace means that the library has no file: it is referenced where its owner keeps it.
	InPlace bool
}

// Files lists the files of every asset, the trash and those referenced in place included.
func (d *Dump) Files(ctx context.Context, fn func(DumpedFile) error) error {
	conn, err := d.join(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	inPlace := "false" // in a schema that older programs made
	if slices.ContainsFunc(d.Tables, func(t DumpTable) bool { return t.Name == "originals" }) {
		inPlace = "in_place"
	}
	rows, err := conn.Query(ctx, `SELECT tenant_id::text, asset_h, sha256, size, mime_type LIKE 'model/%' OR claimed_type LIKE 'model/%', `+inPlace+` FROM assets ORDER BY tenant_id, asset_h`)
	if err != nil {
		return unavailable(err)
	}
	var f DumpedFile
	_, err = pgx.ForEachRow(rows, []any{&f.Tenant, &f.Asset, &f.SHA256, &f.Size, &f.Model, &f.InPlace}, func() error { return fn(f) })
	return unavailable(err)
}

// Close lets go of the snapshot.
func (d *Dump) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), connectLimit)
	defer cancel()
	d.conn.Close(ctx)
}

// appliedVersions lists the migrations that a database has, in the order of their
// versions, and refuses versions that this program does not know.
func appliedVersions(ctx context.Context, conn *pgx.Conn) ([]int64, error) {
	rows, err := conn.Query(ctx, `SELECT version_id FROM (
			SELECT DISTINCT ON (version_id) version_id, is_applied FROM goose_db_version WHERE version_id > 0 ORDER BY version_id, id DESC) v
		WHERE is_applied ORDER BY version_id`)
	if err != nil {
		return nil, err
	}
	versions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, err
	}
	return versions, KnownVersions(versions)
}

// KnownVersions refuses versions of the schema that only a newer program knows.
func KnownVersions(versions []int64) error {
	known := migrationVersions()
	for _, v := range versions {
		if !slices.Contains(known, v) {
			return fmt.Errorf("the schema has version %d, which this program does not know: use the version of vitrine that made it, or a newer one", v)
		}
	}
	return nil
}

// AssetExists reports whether an asset has a row at this moment.
func AssetExists(ctx context.Context, cfg Config, k library.AssetKey) (there bool, err error) {
	conn, err := connectOwner(ctx, cfg.URL)
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM assets WHERE tenant_id = $1 AND asset_h = $2)`, k.Tenant, k.Hash).Scan(&there)
	return there, unavailable(err)
}
