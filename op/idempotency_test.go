package op_test

import (
	"testing"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
	"vitrine/store/storetest"
)

var _ op.IdempotencyStore = (*store.Idempotency)(nil)

func TestIdempotency_AClaimWithoutAnAnswerLapsesAMinuteAfterItsLastRenewalAndAnAnswerAfterADay(t *testing.T) {
	t.Parallel()
	s, url := storetest.Open(t)
	tenant, err := s.Tenants.Create(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, "one")
	if err != nil {
		t.Fatal(err)
	}
	owner := storetest.Owner(t, url)
	age := func(by string) {
		t.Helper()
		if _, err := owner.Exec(t.Context(), `UPDATE idempotency SET created_at = created_at - $1::text::interval`, by); err != nil {
			t.Fatal(err)
		}
	}
	begin := func() (claimed bool, response string) {
		t.Helper()
		held, err := s.Idempotency.Begin(t.Context(), tenant.ID, "k", "key", [32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		return held.Claimed, string(held.Response)
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if claimed, _ := begin(); !claimed {
		t.Fatal("a new key is not claimed")
	}
	age("50 seconds")
	if claimed, response := begin(); claimed || response != "" {
		t.Error("a claim lapses while its call may still run")
	}
	do(s.Idempotency.Renew(t.Context(), tenant.ID, "k", "key"))
	age("50 seconds")
	if claimed, _ := begin(); claimed {
		t.Error("a renewed claim lapses")
	}
	age("20 seconds")
	if claimed, _ := begin(); !claimed {
		t.Error("the claim of a dead process blocks its caller")
	}
	do(s.Idempotency.Release(t.Context(), tenant.ID, "k", "key"))
	if claimed, _ := begin(); !claimed {
		t.Error("a released key stays taken")
	}
	do(s.Idempotency.Finish(t.Context(), tenant.ID, "k", "key", []byte(`{"n":1}`), "v1"))
	age("23 hours")
	if claimed, response := begin(); claimed || response != `{"n": 1}` {
		t.Errorf("the answer is forgotten within the day: %v %q", claimed, response)
	}
	age("2 hours")
	if claimed, _ := begin(); !claimed {
		t.Error("the answer outlives its day")
	}
}
