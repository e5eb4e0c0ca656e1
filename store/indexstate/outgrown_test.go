package indexstate_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"vitrine/library"
	"vitrine/store/storetest"
)

func TestOutgrownTenants_AreThoseWithMoreAssetsThanMost(t *testing.T) {
	t.Parallel()
	st, url := storetest.Open(t)
	conn := storetest.Owner(t, url)
	with := func(assets int) library.TenantID {
		t.Helper()
		tenant := uuid.NewString()
		if _, err := conn.Exec(t.Context(), `INSERT INTO tenants (tenant_id, name) VALUES ($1, $2)`, tenant, tenant); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), `INSERT INTO models (tenant_id, model_hash, type, name, display_name) VALUES ($1, repeat('a', 40), 'checkpoint', 'm', 'm')`, tenant); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(t.Context(), plansLibrary, tenant, 1, assets); err != nil {
			t.Fatal(err)
		}
		return library.TenantID(tenant)
	}
	with(0)
	with(4)
	five, six, moved := with(5), with(6), with(7)
	want := []library.TenantID{five, six}
	slices.Sort(want)
	for _, apart := range [][]library.TenantID{{moved}, nil} {
		if apart == nil {
			want = append(want, moved)
			slices.Sort(want)
		}
		got, err := st.Documents.OutgrownTenants(t.Context(), apart, 4)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("apart from %v: %v, error %v, want %v", apart, got, err, want)
		}
	}
}
