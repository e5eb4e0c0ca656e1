package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

// benchTenant opens a store with a tenant of n assets.
func benchTenant(b *testing.B, n int) (s *store.Store, db *pgx.Conn, actor library.Actor) {
	b.Helper()
	s, url := storetest.Open(b)
	home, err := s.Tenants.Create(b.Context(), system, "bench")
	if err != nil {
		b.Fatal(err)
	}
	db = storetest.Owner(b, url)
	if _, err := db.Exec(b.Context(), `INSERT INTO assets (tenant_id, asset_h, sha256, blake3, filename, mime_type, size, created_at, created_by, doc_version)
		SELECT $1, lpad(to_hex(i), 40, '0'), '', '', i || '.png', 'image/png', 1, now(), 'test', 1 FROM generate_series(1, $2) i`, string(home.ID), n); err != nil {
		b.Fatal(err)
	}
	if _, err := db.Exec(b.Context(), `VACUUM ANALYZE assets`); err != nil {
		b.Fatal(err)
	}
	return s, db, library.Actor{Kind: library.ActorKey, ID: "key", Tenant: home.ID, Permissions: library.Permissions}
}

// BenchmarkWrite_HundredThousandAssets changes the tags of 100,000 assets in one operation,
// moves its 200,000 events to the log, as the relay does, and changes the same rows by a
// bare UPDATE in pages of the same size. All alternate, so that a busy machine slows them
// alike.
func BenchmarkWrite_HundredThousandAssets(b *testing.B) {
	const n, page = 100_000, 1000
	s, db, actor := benchTenant(b, n)
	ctx := b.Context()
	pages := make([][]library.AssetHash, n/page)
	for i := range n {
		pages[i/page] = append(pages[i/page], library.AssetHash(fmt.Sprintf("%040x", i+1)))
	}
	var bare, write, log time.Duration
	for round := 0; b.Loop(); round++ {
		start := time.Now()
		if err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			for _, hashes := range pages {
				if _, err := tx.Exec(ctx, `UPDATE assets SET tags = ARRAY[$3], doc_version = doc_version + 1, updated_at = now()
					WHERE tenant_id = $1 AND asset_h = ANY($2)`, string(actor.Tenant), hashes, fmt.Sprint("bare", round)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		bare += time.Since(start)
		start = time.Now()
		if _, err := s.Write(ctx, actor, func(tx *store.Tx) error {
			for _, hashes := range pages {
				if _, err := tx.ChangeAssets(ctx, hashes, func(a *library.Asset) { a.Tags = []string{fmt.Sprint("write", round)} }); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		write += time.Since(start)
		start = time.Now()
		logged := 0
		for {
			got, err := s.Events.Log(ctx, 500)
			if err != nil {
				b.Fatal(err)
			}
			if got == 0 {
				break
			}
			logged += got
		}
		if log += time.Since(start); logged != 2*n { // asset.updated and asset.tagged
			b.Fatalf("%d events", logged)
		}
	}
	b.ReportMetric(log.Seconds()/float64(b.N), "log-s/op")
	b.ReportMetric(log.Seconds()/bare.Seconds(), "log/bare")
	b.ReportMetric(bare.Seconds()/float64(b.N), "bare-s/op")
	b.ReportMetric(write.Seconds()/float64(b.N), "write-s/op")
	b.ReportMetric(write.Seconds()/bare.Seconds(), "write/bare")
}

// BenchmarkEnqueue changes one asset in a write, alone and together with a job.
func BenchmarkEnqueue(b *testing.B) {
	s, _, actor := benchTenant(b, 1000)
	ctx := b.Context()
	change := func(round int, jobs ...store.JobArgs) time.Duration {
		hash := library.AssetHash(fmt.Sprintf("%040x", round%1000+1))
		start := time.Now()
		if _, err := s.Write(ctx, actor, func(tx *store.Tx) error {
			if _, err := tx.ChangeAssets(ctx, []library.AssetHash{hash}, func(a *library.Asset) { a.Title = fmt.Sprint(round, len(jobs)) }); err != nil || len(jobs) == 0 {
				return err
			}
			return tx.Enqueue(ctx, jobs...)
		}); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var alone, together time.Duration
	for round := 0; b.Loop(); round++ {
		alone += change(round)
		together += change(round, store.PreviewJob{Tenant: actor.Tenant, Asset: library.AssetHash(fmt.Sprintf("%040x", round))})
	}
	b.ReportMetric(float64(alone.Microseconds())/float64(b.N), "alone-µs/op")
	b.ReportMetric(float64(together.Microseconds())/float64(b.N), "job-µs/op")
	b.ReportMetric(together.Seconds()/alone.Seconds(), "job/alone")
}
