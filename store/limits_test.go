package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/store"
	"vitrine/store/storetest"
)

func ptr(n int64) *int64 { return &n }

func limit(t *testing.T, s bench, tenant library.TenantID, c store.LimitChange) store.TenantLimits {
	t.Helper()
	l, err := s.Limits.Set(t.Context(), system, tenant, c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// sized makes a NewAsset of a stated size.
func sized(name string, size int64) store.NewAsset {
	n := file(name)
	n.Asset.Size = size
	return n
}

func stored(t *testing.T, s bench, tenant library.TenantID) (sum int64) {
	t.Helper()
	if err := storetest.Owner(t, s.url).QueryRow(t.Context(), `SELECT coalesce(sum(size), 0) FROM assets WHERE tenant_id = $1`, string(tenant)).Scan(&sum); err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestLimits_StorageIsExactWhoeverStoresAtTheSameTime lets forty writers race for room
// for ten files.
func TestLimits_StorageIsExactWhoeverStoresAtTheSameTime(t *testing.T) {
	t.Parallel()
	s := open(t)
	limit(t, s, s.a.Tenant, store.LimitChange{StorageBytes: ptr(1050)})
	var taken, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			_, err := s.Assets.Add(t.Context(), s.a, sized(fmt.Sprint("file ", i), 100))
			switch e := library.AsError(err); {
			case err == nil:
				taken.Add(1)
			case e.Code == library.CodeStorageQuota && e.Kind == library.KindTooLarge:
				refused.Add(1)
			default:
				t.Errorf("storing gave %v", err)
			}
		})
	}
	all.Wait()
	if taken.Load() != 10 || refused.Load() != 30 {
		t.Errorf("%d files were taken and %d refused", taken.Load(), refused.Load())
	}
	if l, err := s.Limits.Get(t.Context(), s.a.Tenant); err != nil || l.StorageUsed != 1000 || stored(t, s, s.a.Tenant) != 1000 {
		t.Errorf("%d bytes are counted, %d stored (%v)", l.StorageUsed, stored(t, s, s.a.Tenant), err)
	}
	if _, err := s.Assets.Add(t.Context(), s.a, sized("small", 50)); err != nil {
		t.Errorf("the last 50 bytes are refused: %v", err)
	}
	if _, err := s.Assets.Add(t.Context(), s.b, sized("another tenant's", 5000)); err != nil {
		t.Errorf("another tenant is limited: %v", err)
	}
	for _, n := range []string{"small", "file 0", "file 1"} { // what is stored already needs no room, whichever of them are
		if err := tryAgain(t, s, n); err != nil {
			t.Error(err)
		}
	}
}

func tryAgain(t *testing.T, s bench, name string) error {
	t.Helper()
	have, err := s.Assets.ExistingOrTrashed(t.Context(), s.a.Tenant, []library.AssetHash{file(name).Asset.Hash})
	if err != nil || !have[file(name).Asset.Hash] {
		return err
	}
	_, err = s.Assets.Add(t.Context(), s.a, sized(name, 100))
	return err
}

// TestLimits_ALimitThatIsSetWhileFilesComeAndGoCountsEveryByte sets, lifts and sets
// the limit again beside writers and a deleter.
func TestLimits_ALimitThatIsSetWhileFilesComeAndGoCountsEveryByte(t *testing.T) {
	t.Parallel()
	s := open(t)
	stop := make(chan struct{})
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := s.Assets.Add(t.Context(), s.a, sized(fmt.Sprintf("w%d-%d", w, i), int64(100+w))); err != nil {
					t.Errorf("storing gave %v", err)
					return
				}
			}
		})
	}
	deleter := storetest.Owner(t, s.url)
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			if _, err := deleter.Exec(t.Context(), `DELETE FROM assets WHERE (tenant_id, asset_h) IN (SELECT tenant_id, asset_h FROM assets LIMIT 1 FOR UPDATE SKIP LOCKED)`); err != nil {
				t.Errorf("deleting gave %v", err)
				return
			}
		}
	})
	for range 8 {
		time.Sleep(100 * time.Millisecond)
		limit(t, s, s.a.Tenant, store.LimitChange{StorageBytes: ptr(1 << 40)})
		time.Sleep(100 * time.Millisecond)
		limit(t, s, s.a.Tenant, store.LimitChange{StorageBytes: ptr(library.Unlimited)})
	}
	limit(t, s, s.a.Tenant, store.LimitChange{StorageBytes: ptr(1 << 40)})
	time.Sleep(100 * time.Millisecond)
	close(stop)
	all.Wait()
	l, err := s.Limits.Get(t.Context(), s.a.Tenant)
	if sum := stored(t, s, s.a.Tenant); err != nil || l.StorageUsed != sum || sum == 0 {
		t.Errorf("%d bytes are counted, %d are stored (%v)", l.StorageUsed, sum, err)
	}
}

func TestLimits_AreDefaultsUntilSetAndAgainWhenReset(t *testing.T) {
	t.Parallel()
	s := open(t)
	if l, err := s.Limits.Get(t.Context(), s.a.Tenant); err != nil || l.Limits != library.DefaultLimits {
		t.Fatalf("a new tenant has %+v (%v)", l, err)
	}
	l := limit(t, s, s.a.Tenant, store.LimitChange{ExportAssets: ptr(5), RunSeconds: ptr(90), SearchesPerMinute: ptr(7), EgressBytesHourly: ptr(0)})
	if l.ExportAssets != 5 || l.RunTime != 90*time.Second || l.SearchesPerMinute != 7 || l.EgressBytesHourly != 0 || l.StorageBytes != library.Unlimited {
		t.Errorf("set to %+v", l)
	}
	l = limit(t, s, s.a.Tenant, store.LimitChange{ExportAssets: ptr(library.Unlimited), RunSeconds: ptr(store.Default), SearchesPerMinute: ptr(store.Default), EgressBytesHourly: ptr(store.Default)})
	want := library.DefaultLimits
	want.ExportAssets = library.Unlimited
	if l.Limits != want {
		t.Errorf("reset to %+v", l)
	}
	for _, bad := range []store.LimitChange{{StorageBytes: ptr(-3)}, {ExportAssets: ptr(0)}, {SearchesPerMinute: ptr(library.MaxSearchesPerMinute + 1)}, {RunSeconds: ptr(0)}} {
		if _, err := s.Limits.Set(t.Context(), system, s.a.Tenant, bad); library.AsError(err).Kind != library.KindInvalid {
			t.Errorf("%+v gave %v", bad, err)
		}
	}
	if _, err := s.Limits.Set(t.Context(), system, "00000000-0000-4000-8000-00000000dead", store.LimitChange{ExportAssets: ptr(1)}); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("a tenant that is not there gave %v", err)
	}
	renamed, err := s.Tenants.Rename(t.Context(), system, s.a.Tenant, "  Studio A ")
	if err != nil || renamed.Name != "Studio A" {
		t.Errorf("renamed to %+v (%v)", renamed, err)
	}
	var actions int
	if err := storetest.Owner(t, s.url).QueryRow(t.Context(), `SELECT count(*) FROM audit WHERE action IN ('tenant.limited', 'tenant.renamed')`).Scan(&actions); err != nil || actions != 3 {
		t.Errorf("%d changes are in the audit trail (%v)", actions, err)
	}
}
