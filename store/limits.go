package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/singleflight"

	"vitrine/library"
	"vitrine/store/internal/pg"
)

// Limits keeps the limits of tenants.
type Limits struct{ s *Store }

// LimitChange sets limits of a tenant. Nil leaves one as it is; Default restores its
// default; library.Unlimited lifts it.
type LimitChange struct {
	StorageBytes, ExportAssets, EgressBytesHourly, RunSeconds, SearchesPerMinute *int64
	Outreach                                                                     *bool
}

// Default in a LimitChange restores a limit's default.
const Default int64 = -2

// TenantLimits are the limits of a tenant, those of the defaults included, and what
// it has used of them.
type TenantLimits struct {
	library.Limits
	StorageUsed int64 // bytes; kept only while storage is limited
}

const limitColumns = `coalesce(storage_bytes, $2), coalesce(export_assets, $3), coalesce(egress_bytes_hourly, $4), coalesce(run_seconds, $5),
	coalesce(searches_per_minute, $6), coalesce(storage_used, 0), outreach`

func limitArgs(tenant library.TenantID) []any {
	d := library.DefaultLimits
	return []any{tenant, d.StorageBytes, d.ExportAssets, d.EgressBytesHourly, int64(d.RunTime / time.Second), d.SearchesPerMinute}
}

func scanLimits(row pgx.CollectableRow) (l TenantLimits, err error) {
	var seconds int64
	err = row.Scan(&l.StorageBytes, &l.ExportAssets, &l.EgressBytesHourly, &seconds, &l.SearchesPerMinute, &l.StorageUsed, &l.Outreach)
	l.RunTime = library.Unlimited
	if seconds >= 0 {
		l.RunTime = time.Duration(seconds) * time.Second
	}
	return l, err
}

// Get reads the limits of a tenant. It does not check that there is such a
// tenant: one without a row has the defaults.
func (ls *Limits) Get(ctx context.Context, tenant library.TenantID) (TenantLimits, error) {
	out := TenantLimits{Limits: library.DefaultLimits}
	err := ls.s.readTenant(ctx, tenant, `SELECT `+limitColumns+` FROM tenant_limits WHERE tenant_id = $1`, limitArgs(tenant), func(rows pgx.Rows) error {
		list, err := pgx.CollectRows(rows, scanLimits)
		if len(list) == 1 {
			out = list[0]
		}
		return err
	})
	return out, err
}

// Set changes limits of a tenant and returns all of them. When storage becomes
// limited, what is stored is added up while nothing can be stored; it may be more than
// the limit, and then nothing further is taken.
func (ls *Limits) Set(ctx context.Context, actor library.Actor, tenant library.TenantID, c LimitChange) (TenantLimits, error) {
	if err := c.check(); err != nil {
		return TenantLimits{}, err
	}
	if err := ls.s.Tenants.exist(ctx, []library.TenantID{tenant}); err != nil {
		return TenantLimits{}, err
	}
	var out TenantLimits
	err := ls.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		b := &pgx.Batch{}
		b.Queue(`SELECT pg_advisory_xact_lock(hashtextextended('storage ' || $1::text, 0))`, string(tenant))
		b.Queue(`INSERT INTO tenant_limits (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING`, tenant)
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		// A statement of its own: it sees every asset that was committed before the lock.
		_, err := tx.Exec(ctx, `WITH wanted AS (
				SELECT `+setColumn("storage_bytes", "$2")+`, `+setColumn("export_assets", "$3")+`, `+setColumn("egress_bytes_hourly", "$4")+`,
					`+setColumn("run_seconds", "$5")+`, `+setColumn("searches_per_minute", "$6")+`
				FROM tenant_limits WHERE tenant_id = $1)
			UPDATE tenant_limits t SET storage_bytes = w.storage_bytes, export_assets = w.export_assets, egress_bytes_hourly = w.egress_bytes_hourly,
				run_seconds = w.run_seconds, searches_per_minute = w.searches_per_minute, outreach = coalesce($7, outreach), updated_at = now(),
				storage_used = CASE WHEN coalesce(w.storage_bytes, -1) >= 0 THEN
					coalesce(t.storage_used, (SELECT coalesce(sum(size), 0) FROM assets WHERE tenant_id = $1 AND NOT in_place)) END
			FROM wanted w WHERE t.tenant_id = $1`,
			tenant, c.StorageBytes, c.ExportAssets, c.EgressBytesHourly, c.RunSeconds, c.SearchesPerMinute, c.Outreach)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT `+limitColumns+` FROM tenant_limits WHERE tenant_id = $1`, limitArgs(tenant)...)
		if err != nil {
			return err
		}
		if out, err = pgx.CollectExactlyOneRow(rows, scanLimits); err != nil {
			return err
		}
		return auditAccess(ctx, tx, actor, tenant, "tenant.limited", string(tenant), map[string]any{"limits": out.Limits})
	})
	return out, err
}

// setColumn is a column's new value: the same, null for the default, or another.
func setColumn(name, arg string) string {
	return `CASE WHEN ` + arg + `::bigint IS NULL THEN ` + name + ` WHEN ` + arg + ` = -2 THEN NULL ELSE ` + arg + ` END AS ` + name
}

func (c LimitChange) check() error {
	var errs []library.FieldError
	for _, f := range []struct {
		name  string
		value *int64
		least int64
		most  int64
	}{
		{"storage_bytes", c.StorageBytes, 0, 1 << 60}, {"export_assets", c.ExportAssets, 1, 1 << 40}, {"egress_bytes_hourly", c.EgressBytesHourly, 0, 1 << 60},
		{"run_seconds", c.RunSeconds, 1, 1 << 30}, {"searches_per_minute", c.SearchesPerMinute, 1, library.MaxSearchesPerMinute},
	} {
		if v := f.value; v != nil && *v != Default && *v != library.Unlimited && (*v < f.least || *v > f.most) {
			errs = append(errs, library.FieldError{Field: f.name, Code: "range", Message: "The value is out of range."})
		}
	}
	if len(errs) > 0 {
		return library.Invalid(errs...)
	}
	return nil
}

const (
	// limitsFresh is how long limits are trusted without asking the database.
	limitsFresh = 5 * time.Second
	// rememberedLimits bounds how many tenants' limits are remembered.
	rememberedLimits = 10_000
)

// LimitCache remembers the limits of tenants for a few seconds, so that a search
// reads none. It is safe for concurrent use.
type LimitCache struct {
	limits *Limits
	known  *lru.Cache[library.TenantID, knownLimits]
	asking singleflight.Group
	now    func() time.Time
}

type knownLimits struct {
	library.Limits
	at time.Time
}

// NewLimitCache makes a cache over the store's limits.
func NewLimitCache(limits *Limits) *LimitCache {
	known, err := lru.New[library.TenantID, knownLimits](rememberedLimits)
	if err != nil {
		panic(err) // only a size below one can fail
	}
	return &LimitCache{limits: limits, known: known, now: time.Now}
}

// Limits returns the limits of a tenant, at most a few seconds old. While the
// database does not answer, older ones hold.
func (c *LimitCache) Limits(ctx context.Context, tenant library.TenantID) (library.Limits, error) {
	k, ok := c.known.Get(tenant)
	if ok && c.now().Sub(k.at) < limitsFresh {
		return k.Limits, nil
	}
	v, err, _ := c.asking.Do(string(tenant), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acquireLimit)
		defer cancel()
		asked := c.now()
		l, err := c.limits.Get(ctx, tenant)
		if err == nil {
			c.known.Add(tenant, knownLimits{l.Limits, asked})
		}
		return l.Limits, err
	})
	switch {
	case err == nil:
		return v.(library.Limits), nil
	case ok:
		return k.Limits, nil
	}
	return library.Limits{}, err
}

// Room refuses a file of a size that a tenant has no room for at this moment. The
// answer that counts is that of Assets.Add; this one spares sending and keeping bytes
// for nothing. It costs nothing where storage is not limited, and refuses nothing
// while the database does not answer.
func (c *LimitCache) Room(ctx context.Context, tenant library.TenantID, size int64) error {
	l, err := c.Limits(ctx, tenant)
	if err != nil || l.StorageBytes == library.Unlimited {
		return ctx.Err()
	}
	now, err := c.limits.Get(ctx, tenant)
	if err != nil || now.StorageBytes == library.Unlimited || now.StorageUsed+size <= now.StorageBytes {
		return ctx.Err()
	}
	return pg.StorageFull(strconv.FormatInt(now.StorageBytes, 10), errors.New("refused before it was stored"))
}
