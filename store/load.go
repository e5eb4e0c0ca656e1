package store

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/store/internal/pg"
)

// Load brings a dump into a database, in one transaction.
type Load struct {
	cfg    Config
	conn   *pgx.Conn
	schema string
	loaded []DumpTable
}

// OpenLoad connects with the owner's login. While it is open, no other process can
// load into the same database.
func OpenLoad(ctx context.Context, cfg Config) (*Load, error) {
	at, err := pgx.ParseConfig(cfg.URL)
	if err != nil {
		return nil, badURL("VITRINE_POSTGRES_URL")
	}
	for name, value := range plainText {
		at.RuntimeParams[name] = value
	}
	l := &Load{cfg: cfg}
	if l.conn, err = pgx.ConnectConfig(ctx, at); err != nil {
		return nil, unavailable(err)
	}
	var got bool
	if err := l.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, pg.RestoreLock).Scan(&got); err != nil || !got {
		l.Close()
		if err == nil {
			err = fmt.Errorf("another restore works on this database")
		}
		return nil, unavailable(err)
	}
	return l, nil
}

// Close ends the connection; what was not finished is not there.
func (l *Load) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), connectLimit)
	defer cancel()
	// The server would let go of the lock a moment after the connection is gone.
	_ = l.conn.PgConn().Exec(ctx, `ROLLBACK; SELECT pg_advisory_unlock_all()`).Close()
	l.conn.Close(ctx)
}

// Users counts the sessions of a running service on this database.
func (l *Load) Users(ctx context.Context) (n int, err error) {
	err = l.conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name IN ($1, $2)`, appRole, indexerRole).Scan(&n)
	return n, unavailable(err)
}

// Filled lists the tables that have rows. What the first start of a service writes
// does not count: the default tenant, and the record that it was made.
func (l *Load) Filled(ctx context.Context) ([]string, error) {
	var there bool
	if err := l.conn.QueryRow(ctx, `SELECT to_regclass('goose_db_version') IS NOT NULL`).Scan(&there); err != nil || !there {
		return nil, unavailable(err)
	}
	d := &Dump{conn: l.conn}
	if err := l.conn.QueryRow(ctx, `SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'goose_db_version'::regclass`).Scan(&d.schema); err != nil {
		return nil, unavailable(err)
	}
	if err := d.findTables(ctx); err != nil {
		return nil, unavailable(err)
	}
	if err := d.readableByOwner(ctx); err != nil {
		return nil, err
	}
	var filled []string
	for _, t := range d.Tables {
		where := ""
		switch t.Name {
		case "tenants", "audit":
			where = ` WHERE tenant_id <> '` + string(defaultTenant) + `'`
			if t.Name == "audit" {
				where += ` OR action <> 'tenant.created'`
			}
		}
		var rows bool
		if err := l.conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM `+d.schema+`.`+pgx.Identifier{t.Name}.Sanitize()+where+`)`).Scan(&rows); err != nil {
			return nil, unavailable(err)
		}
		if rows {
			filled = append(filled, t.Name)
		}
	}
	return filled, nil
}

// Begin drops the library's tables, makes the schema of the given versions and opens
// the transaction of the load.
func (l *Load) Begin(ctx context.Context, versions []int64) error {
	if err := remake(ctx, l.cfg.URL, versions); err != nil {
		return err
	}
	err := l.conn.QueryRow(ctx, `SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = 'goose_db_version'::regclass`).Scan(&l.schema)
	if err == nil {
		_, err = l.conn.Exec(ctx, `BEGIN`)
	}
	return unavailable(err)
}

// Order returns the tables so that each comes after those that it refers to.
func (l *Load) Order(ctx context.Context, tables []DumpTable) ([]DumpTable, error) {
	rows, err := l.conn.Query(ctx, `SELECT c.relname, r.relname FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class r ON r.oid = f.confrelid
		WHERE f.contype = 'f' AND c.oid <> r.oid AND c.relnamespace = $1::regnamespace`, l.schema)
	if err != nil {
		return nil, unavailable(err)
	}
	refers := map[string][]string{}
	var from, to string
	if _, err := pgx.ForEachRow(rows, []any{&from, &to}, func() error { refers[from] = append(refers[from], to); return nil }); err != nil {
		return nil, unavailable(err)
	}
	byName := map[string]DumpTable{}
	for _, t := range tables {
		byName[t.Name] = t
	}
	var ordered []DumpTable
	state := map[string]int{} // 1: being placed, 2: placed
	var place func(name string) error
	place = func(name string) error {
		t, dumped := byName[name]
		switch {
		case !dumped || state[name] == 2:
			return nil
		case state[name] == 1:
			return fmt.Errorf("the tables refer to each other in a circle through %s, so none can be loaded first", name)
		}
		state[name] = 1
		for _, r := range refers[name] {
			if err := place(r); err != nil {
				return err
			}
		}
		state[name] = 2
		ordered = append(ordered, t)
		return nil
	}
	for _, t := range tables {
		if err := place(t.Name); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}

// Has reports whether the schema has a table with the columns of a dump.
func (l *Load) Has(ctx context.Context, t DumpTable) (bool, error) {
	var columns int
	err := l.conn.QueryRow(ctx, `SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE c.relname = $1 AND c.relnamespace = $2::regnamespace AND a.attname = ANY ($3) AND a.attnum > 0 AND NOT a.attisdropped`, t.Name, l.schema, t.Columns).Scan(&columns)
	return columns == len(t.Columns), unavailable(err)
}

// Copy loads one table and reports how many rows came.
func (l *Load) Copy(ctx context.Context, t DumpTable, r io.Reader) (rows int64, err error) {
	err = l.asOwner(ctx, t, func() error {
		tag, err := l.conn.PgConn().CopyFrom(ctx, r, "COPY "+copyTarget(l.schema, t)+" FROM STDIN")
		rows = tag.RowsAffected()
		return err
	})
	return rows, unavailable(err)
}

// ReadBack writes a loaded table as the dump has it: the same lines when every value
// came as it was, but not always in the same order. PostgreSQL puts a row into an
// earlier page where there is room for it.
func (l *Load) ReadBack(ctx context.Context, t DumpTable, w io.Writer) error {
	return unavailable(l.asOwner(ctx, t, func() error {
		_, err := l.conn.PgConn().CopyTo(ctx, w, copyOut(l.schema, t))
		return err
	}))
}

// asOwner runs fn while row level security is not forced on a table and its triggers
// are off. COPY does not load into a table whose policies bind the loading role, and
// what triggers would count is in the dump already.
func (l *Load) asOwner(ctx context.Context, t DumpTable, fn func() error) error {
	name := l.schema + "." + pgx.Identifier{t.Name}.Sanitize()
	var forced bool
	if err := l.conn.QueryRow(ctx, `SELECT relforcerowsecurity FROM pg_class WHERE oid = $1::regclass`, name).Scan(&forced); err != nil {
		return err
	}
	off, on := `ALTER TABLE `+name+` DISABLE TRIGGER USER`, `ALTER TABLE `+name+` ENABLE TRIGGER USER`
	if forced {
		off, on = off+`, NO FORCE ROW LEVEL SECURITY`, on+`, FORCE ROW LEVEL SECURITY`
	}
	if _, err := l.conn.Exec(ctx, off); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err
	}
	_, err := l.conn.Exec(ctx, on)
	return err
}

// Advance sets sequences to where they stood.
func (l *Load) Advance(ctx context.Context, sequences []DumpSequence) error {
	b := &pgx.Batch{}
	for _, s := range sequences {
		b.Queue(`SELECT setval($1::regclass, $2)`, l.schema+"."+pgx.Identifier{s.Name}.Sanitize(), s.Last)
	}
	return unavailable(l.conn.SendBatch(ctx, b).Close())
}

// Finish commits the load, brings the schema up to date and notes which backup it
// was, so that the indexer compares the whole index. It returns how many migrations
// followed.
func (l *Load) Finish(ctx context.Context, backupID string, at time.Time) (migrations int, err error) {
	if _, err := l.conn.Exec(ctx, `COMMIT`); err != nil {
		return 0, unavailable(err)
	}
	if migrations, err = Migrate(ctx, l.cfg); err != nil {
		return migrations, err
	}
	_, err = l.conn.Exec(ctx, `UPDATE index_state SET epoch = gen_random_uuid(), epoch_began = now(), epoch_reason = 'a backup was restored'`)
	if err != nil {
		return migrations, unavailable(err)
	}
	_, err = l.conn.Exec(ctx, `INSERT INTO restores (backup_id, backup_at) VALUES ($1, $2)`, backupID, at)
	if err == nil {
		_, err = l.conn.Exec(ctx, `ANALYZE`)
	}
	return migrations, unavailable(err)
}
