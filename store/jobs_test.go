package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store"
)

// waiting counts the jobs that could run.
func (s bench) waiting(t *testing.T) (n int64) {
	t.Helper()
	counts, err := s.Jobs.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counts {
		n += c.Jobs
	}
	return n
}

func TestEnqueue_AJobIsThereIfAndOnlyIfItsTransactionCommits(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	refused := errors.New("refused")
	enqueue := func(result error) error {
		_, err := s.Write(ctx, s.a, func(tx *store.Tx) error {
			if err := tx.Enqueue(ctx, store.PreviewJob{Tenant: s.a.Tenant, Asset: file("fox").Asset.Hash}); err != nil {
				return err
			}
			return result
		})
		return err
	}
	if err := enqueue(refused); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	if n := s.waiting(t); n != 0 {
		t.Errorf("%d jobs of a transaction that was rolled back", n)
	}
	if err := enqueue(nil); err != nil {
		t.Fatal(err)
	}
	if n := s.waiting(t); n != 1 {
		t.Errorf("%d jobs of a transaction that committed", n)
	}
}

func TestEnqueue_AnAssetBringsThePreviewJobOfItsTransaction(t *testing.T) {
	t.Parallel()
	s := open(t)
	add(t, s, s.a, file("fox"))
	if n := s.waiting(t); n != 1 {
		t.Errorf("%d jobs after one asset was stored", n)
	}
	s.asOwner(t, func(c *pgx.Conn) {
		var same bool
		if err := c.QueryRow(t.Context(), `SELECT a.xmin = j.xmin FROM assets a, river_job j`).Scan(&same); err != nil || !same {
			t.Errorf("the job was not written in the asset's transaction, %v", err)
		}
	})
	add(t, s, s.a, file("fox", "again"))
	if n := s.waiting(t); n != 1 {
		t.Errorf("%d jobs after the same bytes were stored again", n)
	}
}

func TestEnqueue_AHealedFileGetsItsPreviewAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	n := file("fox")
	add(t, s, s.a, n)
	if err := s.PreviewFailures.Record(ctx, s.a.Tenant, n.Asset.Hash, store.PreviewFailure{Code: store.PreviewDamaged, Reason: "it is damaged"}); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Assets.Get(ctx, s.a, n.Asset.Hash); err != nil || d.NoPreview != (store.PreviewFailure{Code: store.PreviewDamaged, Reason: "it is damaged"}) {
		t.Fatalf("%q, %v", d.NoPreview, err)
	}
	if _, err := s.Files.RecordDamage(ctx, library.AssetKey{Tenant: s.a.Tenant, Hash: n.Asset.Hash}, library.FileHash); err != nil {
		t.Fatal(err)
	}
	if got := add(t, s, s.a, n); !got.Healed {
		t.Fatalf("%+v", got)
	}
	if d, err := s.Assets.Get(ctx, s.a, n.Asset.Hash); err != nil || d.NoPreview != (store.PreviewFailure{}) {
		t.Errorf("%q, %v", d.NoPreview, err)
	}
	if n := s.waiting(t); n != 2 {
		t.Errorf("%d jobs", n)
	}
}

// tenantless is a job that says nothing of its tenant.
type tenantless struct{}

func (tenantless) Kind() string { return "tenantless" }

func TestEnqueue_NobodySeesOrMakesJobsOfAnotherTenant(t *testing.T) {
	t.Parallel()
	s := open(t)
	ctx := t.Context()
	add(t, s, s.a, file("a's"))
	add(t, s, s.b, file("b's"))
	for name, job := range map[string]store.JobArgs{"of another tenant": store.PreviewJob{Tenant: s.b.Tenant, Asset: file("b's").Asset.Hash},
		"of no tenant": tenantless{}, "of a tenant that is none": store.PreviewJob{Tenant: "x"}} {
		if _, err := s.Write(ctx, s.a, func(tx *store.Tx) error { return tx.Enqueue(ctx, job) }); err == nil {
			t.Errorf("a job %s was taken", name)
		}
	}
	s.asOwner(t, func(c *pgx.Conn) { s.checkRights(ctx, t, c, s.a.Tenant) })
	if n := s.waiting(t); n != 2 {
		t.Errorf("%d jobs", n)
	}
}

// checkRights tries as the role of requests what it may do with jobs, as one tenant.
func (s bench) checkRights(ctx context.Context, t *testing.T, c *pgx.Conn, tenant library.TenantID) {
	t.Helper()
	if _, err := c.Exec(ctx, `SET ROLE vitrine_app`); err != nil {
		t.Fatal(err)
	}
	count := func(where string) (n int) {
		t.Helper()
		if err := c.QueryRow(ctx, `SELECT count(*) FROM river_job WHERE `+where).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count("true"); n != 0 {
		t.Errorf("%d jobs are read without a tenant", n)
	}
	if _, err := c.Exec(ctx, `SELECT set_config('app.tenant', $1, false)`, s.Claim(tenant)); err != nil {
		t.Fatal(err)
	}
	if n, own := count("true"), count("args ->> 'tenant_id' = '"+string(tenant)+"'"); n != 1 || own != 1 {
		t.Errorf("%d jobs are read as one tenant, %d of its own", n, own)
	}
	for _, sql := range []string{`DELETE FROM river_job`, `UPDATE river_job SET state = 'available'`, `UPDATE river_job SET args = '{}'`,
		`SELECT * FROM river_leader`, `SELECT * FROM river_queue`, `INSERT INTO river_notification (payload, topic) VALUES ('x', 'x')`} {
		if _, err := c.Exec(ctx, sql); err == nil {
			t.Errorf("the role of requests may %s", sql)
		}
	}
}
