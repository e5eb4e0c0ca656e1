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

func TestExports_TheHourlyQuotaIsExactHoweverManyBeginTogether(t *testing.T) {
	t.Parallel()
	s := open(t)
	added, err := s.Assets.Add(t.Context(), s.a, sized("one", 1000))
	if err != nil {
		t.Fatal(err)
	}
	limit, none := int64(5*1000+999), store.Default
	if _, err := s.Limits.Set(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, s.a.Tenant, store.LimitChange{EgressBytesHourly: &limit, ExportAssets: &none}); err != nil {
		t.Fatal(err)
	}
	var begun, refused atomic.Int32
	var first atomic.Pointer[library.Export]
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			spec := library.SpecOf(library.ExportCustom)
			spec.MaxEdge = 100 + n
			e, err := s.Exports.Start(t.Context(), s.a, spec, []library.AssetHash{added.Asset.Hash}, fmt.Sprint("staged", n))
			switch {
			case err == nil:
				begun.Add(1)
				first.CompareAndSwap(nil, &e)
			case library.AsError(err).Code == library.CodeEgressQuota && library.AsError(err).RetryAfter > 50*time.Minute:
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if begun.Load() != 5 || refused.Load() != 15 {
		t.Fatalf("%d exports began and %d were refused, with room for five", begun.Load(), refused.Load())
	}
	e := *first.Load()
	if again, err := s.Exports.Start(t.Context(), s.a, e.Spec, e.Assets, "staged again"); err != nil || again.ID != e.ID {
		t.Errorf("the same request is the export %q: %v", again.ID, err)
	}
	admin := storetest.Owner(t, s.url)
	if _, err := admin.Exec(t.Context(), `UPDATE assets SET doc_version = doc_version + 1`); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Exports.Start(t.Context(), s.a, e.Spec, e.Assets, "staged again"); err != nil || again.ID != e.ID {
		t.Errorf("a job that sent the asset to the index began the export %q: %v", again.ID, err)
	}
	e.State, e.Failed = library.ExportFailed, []library.ExportFailure{{Asset: e.Assets[0], Code: "X", Detail: "Failed."}}
	if err := s.Exports.Finish(t.Context(), s.a.Tenant, store.ExportClaim{Export: e}); err != nil {
		t.Fatal(err)
	}
	spec := library.SpecOf(library.ExportClient)
	if _, err := s.Exports.Start(t.Context(), s.a, spec, e.Assets, "staged instead"); err != nil {
		t.Errorf("an export that failed still counts: %v", err)
	}
}
