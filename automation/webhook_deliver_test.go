package automation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"vitrine/automation"
	"vitrine/automation/webhook"
	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

func TestDeliverer_EachSubscriberGetsAnEventOnce(t *testing.T) {
	t.Parallel()
	e := newHooks(t)
	other := e.tenant()
	before := e.event(e.actor, "asset.created")
	before.At = time.Now().Add(-time.Minute)
	one, secret := e.hook(e.actor, "one.example.com", "asset.created")
	e.hook(e.actor, "noun.example.com", "asset.*")
	e.hook(e.actor, "all.example.com", "*")
	e.hook(other, "other.example.com", "*")
	off, _ := e.hook(e.actor, "off.example.com", "*")
	if _, _, err := e.store.Webhooks.Change(t.Context(), e.actor, off.ID, func(w *library.Webhook) { w.Enabled = false }); err != nil {
		t.Fatal(err)
	}
	d := e.deliverer(nil)
	e.run(d)
	created, tagged, named := e.event(e.actor, "asset.created"), e.event(e.actor, "asset.tagged"), e.event(e.actor, "pipeline.notified")
	named.Payload = json.RawMessage(fmt.Sprintf(`{"webhook_ids":[%q]}`, one.ID)) // which does not subscribe to the type
	e.handle(d, before, created, created, tagged, named, created)
	want := map[string][]string{"one.example.com": {"asset.created"}, "noun.example.com": {"asset.created", "asset.tagged"}, "all.example.com": {"asset.created", "asset.tagged"}, "other.example.com": nil, "off.example.com": nil}
	e.until("five messages", func() bool {
		return len(e.requests("one.example.com")) == 1 && len(e.requests("noun.example.com")) == 2 && len(e.requests("all.example.com")) == 2
	})
	time.Sleep(100 * time.Millisecond) // nothing follows
	for host, types := range want {
		var got []string
		for _, r := range e.requests(host) {
			var m op.EventMessage
			if err := json.Unmarshal(r.body, &m); err != nil || m.Timestamp == "" || len(m.Data) == 0 {
				t.Errorf("%s: %s %v", host, r.body, err)
			}
			got = append(got, m.Type)
		}
		slices.Sort(got)
		if !slices.Equal(got, types) {
			t.Errorf("%s got %v, want %v", host, got, types)
		}
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if r := e.requests("one.example.com")[0]; verifier.Verify(r.body, r.header) != nil {
		t.Errorf("the signature of %s is not good", r.body)
	}
}

func TestDeliverer_TriesByTheScheduleAndThenDisablesTheWebhook(t *testing.T) {
	t.Parallel()
	e := newHooks(t)
	w, _ := e.hook(e.actor, "down.example.com", "*")
	e.answer("down.example.com", status(500))
	d := e.deliverer(nil)
	e.run(d)
	e.handle(d, e.event(e.actor, "asset.created"))
	for i, delay := range webhook.Delays {
		e.until(fmt.Sprintf("attempt %d", i+1), func() bool { return len(e.deliveries(w, e.actor)[0].Log) == i+1 })
		e.ahead.Add(int64(delay - 2*time.Second))
		time.Sleep(50 * time.Millisecond)
		if n := len(e.requests("down.example.com")); n != i+1 {
			t.Fatalf("%d attempts before the delay of %s is over, want %d", n, delay, i+1)
		}
		e.ahead.Add(int64(delay/10 + 3*time.Second))
	}
	e.until("it is disabled", func() bool { return !e.webhook(w).Enabled })
	got, x := e.requests("down.example.com"), e.deliveries(w, e.actor)[0]
	if len(got) != 10 || x.State != library.DeliveryFailed || x.Attempts != 10 || e.webhook(w).DisabledReason == "" {
		t.Errorf("%d requests, %+v, %+v", len(got), x, e.webhook(w))
	}
	for _, r := range got {
		if r.id != x.ID {
			t.Errorf("an attempt has the id %s, the delivery %s", r.id, x.ID)
		}
	}
	for _, a := range x.Log {
		if a.Status != 500 || a.Error == "" {
			t.Errorf("the log says %+v", a)
		}
	}
	// Somebody repairs the endpoint, enables the webhook and has the message sent again.
	e.answer("down.example.com", nil)
	if _, _, err := e.store.Webhooks.Change(t.Context(), e.actor, w.ID, func(w *library.Webhook) { w.Enabled = true }); err != nil {
		t.Fatal(err)
	}
	if n, err := e.store.Webhooks.Replay(t.Context(), e.actor, w.ID, []string{x.ID}, time.Time{}, time.Now(), ""); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	e.until("it is delivered", func() bool { return e.deliveries(w, e.actor)[0].State == library.DeliveryDelivered })
	if h := e.webhook(w).Health; h.Failures != 0 || h.FailingSince != nil || h.LastSuccess == nil {
		t.Errorf("the webhook is reported as %+v", h)
	}
}

func TestDeliverer_DisablesWhatFailsForLongThoughMessagesTakeTurns(t *testing.T) {
	t.Parallel()
	e := newHooks(t)
	w, _ := e.hook(e.actor, "down.example.com", "*")
	e.answer("down.example.com", status(500))
	d := e.deliverer(nil)
	for range 40 {
		e.handle(d, e.event(e.actor, "asset.created"))
	}
	e.run(d)
	e.until("it fails", func() bool { return e.webhook(w).Health.Failures >= 3 })
	e.ahead.Add(int64(90 * time.Hour))
	e.until("it is disabled", func() bool { return !e.webhook(w).Enabled })
	for _, x := range e.deliveries(w, e.actor) {
		if x.State != library.DeliveryPending {
			t.Errorf("%+v does not wait", x)
		}
	}
}

func TestDeliverer_HonorsRetryAfterForTheWholeEndpoint(t *testing.T) {
	t.Parallel()
	e := newHooks(t)
	w, _ := e.hook(e.actor, "busy.example.com", "*")
	e.answer("busy.example.com", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Retry-After", "3600")
		out.WriteHeader(http.StatusTooManyRequests)
	})
	d := e.deliverer(nil)
	e.run(d)
	e.handle(d, e.event(e.actor, "asset.created"))
	e.until("it is refused", func() bool { return e.webhook(w).Health.BlockedUntil != nil })
	e.handle(d, e.event(e.actor, "asset.created"))
	e.answer("busy.example.com", nil)
	e.ahead.Add(int64(59 * time.Minute))
	time.Sleep(100 * time.Millisecond)
	if n := len(e.requests("busy.example.com")); n != 1 {
		t.Fatalf("%d requests within the hour that the endpoint asked for", n)
	}
	e.ahead.Add(int64(10 * time.Minute))
	e.until("both arrive", func() bool { return len(e.requests("busy.example.com")) == 3 })
}

func TestDeliverer_GoneDisablesTheWebhookAtOnce(t *testing.T) {
	t.Parallel()
	e := newHooks(t)
	w, _ := e.hook(e.actor, "gone.example.com", "*")
	e.answer("gone.example.com", status(http.StatusGone))
	d := e.deliverer(nil)
	e.run(d)
	e.handle(d, e.event(e.actor, "asset.created"))
	e.until("it is disabled", func() bool { return !e.webhook(w).Enabled })
	e.handle(d, e.event(e.actor, "asset.created"))
	e.ahead.Add(int64(time.Hour))
	time.Sleep(100 * time.Millisecond)
	if n := len(e.requests("gone.example.com")); n != 1 || e.webhook(w).DisabledReason == "" {
		t.Errorf("%d requests, %+v", n, e.webhook(w))
	}
}

// dead makes a host that takes requests and never answers.
func (e *hooks) dead(host string) {
	e.answer(host, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

func TestDeliverer_DeadEndpointsDelayNoOther(t *testing.T) {
	t.Parallel()
	const dead, messages = 30, 50
	for _, c := range []struct{ name, health string }{
		{"endpoints that answered so far", `INSERT INTO webhook_health (tenant_id, webhook_id, last_success_at) SELECT tenant_id, webhook_id, now() FROM webhooks`},
		{"new endpoints", `INSERT INTO webhook_health (tenant_id, webhook_id, last_success_at) SELECT tenant_id, webhook_id, now() FROM webhooks WHERE name = 'good.example.com'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newHooks(t)
			good, _ := e.hook(e.actor, "good.example.com", "good.event")
			far := e.tenant()
			for i := range dead {
				actor := e.actor
				if i%2 == 0 {
					actor = far
				}
				host := fmt.Sprintf("dead-%d.example.com", i)
				e.hook(actor, host, "dead.event")
				e.dead(host)
			}
			e.exec(`UPDATE webhooks SET timeout_ms = 60000`)
			e.exec(c.health)
			d := e.deliverer(func(cfg *automation.DelivererConfig) { cfg.Slots, cfg.FailingSlots = 4*dead+8, dead })
			for range 5 { // of each to each of the dead
				e.handle(d, e.event(e.actor, "dead.event"), e.event(far, "dead.event"))
			}
			e.run(d)
			e.until("all dead endpoints are asked", func() bool {
				for i := range dead {
					if len(e.requests(fmt.Sprintf("dead-%d.example.com", i))) == 0 {
						return false
					}
				}
				return true
			})
			for range messages {
				e.handle(d, e.event(e.actor, "good.event"))
			}
			e.until("the good endpoint has everything, though no other answers", func() bool { return len(e.requests("good.example.com")) == messages })
			if h := e.webhook(good).Health; h.Failures != 0 {
				t.Errorf("%+v", h)
			}
		})
	}
}

func TestDeliverer_FewRequestsGoToOneEndpointAtOnce(t *testing.T) {
	t.Parallel()
	e := newHooks(t)
	w, _ := e.hook(e.actor, "slow.example.com", "*")
	var now, most atomic.Int64
	code := http.StatusNoContent
	slow := func(out http.ResponseWriter, _ *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		time.Sleep(20 * time.Millisecond)
		out.WriteHeader(code)
	}
	e.answer("slow.example.com", slow)
	d := e.deliverer(nil)
	for range 30 {
		e.handle(d, e.event(e.actor, "asset.created"))
	}
	stop := e.run(d)
	e.until("all are delivered", func() bool { return e.webhook(w).Health.Pending == 0 })
	if n := most.Load(); n < 2 || n > 4 {
		t.Errorf("%d requests at once, want up to 4", n)
	}
	stop()
	// Now it fails: one at a time.
	e.exec(`UPDATE webhook_health SET failures = 1`)
	most.Store(0)
	code = http.StatusInternalServerError
	for range 10 {
		e.handle(d, e.event(e.actor, "asset.created"))
	}
	e.run(d)
	e.until("it fails again", func() bool { return e.webhook(w).Health.Failures >= 3 })
	if n := most.Load(); n != 1 {
		t.Errorf("%d requests at once to an endpoint that fails", n)
	}
}

func TestDeliverer_WhatAKilledProcessHadClaimedIsSentAfterItsLease(t *testing.T) {
	t.Parallel()
	e := newHooks(t)
	w, _ := e.hook(e.actor, "good.example.com", "*")
	d := e.deliverer(nil)
	e.handle(d, e.event(e.actor, "asset.created"))
	claimed, err := e.store.Webhooks.Claim(t.Context(), store.DeliveryClaim{Failing: true, Limit: 10, PerEndpoint: 1, Lease: 15 * time.Second})
	if err != nil || len(claimed) != 1 {
		t.Fatal(claimed, err)
	}
	e.run(d)
	time.Sleep(100 * time.Millisecond)
	if n := len(e.requests("good.example.com")); n != 0 {
		t.Fatalf("%d requests while another process has claimed it", n)
	}
	e.ahead.Add(int64(30 * time.Second))
	e.until("it is delivered", func() bool { return e.webhook(w).Health.Pending == 0 && len(e.requests("good.example.com")) == 1 })
}

func TestDeliverer_AProcessThatEndsGivesUpWhatItDidNotFinish(t *testing.T) {
	t.Parallel()
	e := newHooks(t)
	e.hook(e.actor, "slow.example.com", "*")
	e.answer("slow.example.com", func(out http.ResponseWriter, _ *http.Request) {
		time.Sleep(300 * time.Millisecond)
		out.WriteHeader(http.StatusNoContent)
	})
	hung, _ := e.hook(e.actor, "hung.example.com", "*")
	e.dead("hung.example.com")
	e.exec(`UPDATE webhooks SET timeout_ms = 60000`)
	d := e.deliverer(nil)
	e.handle(d, e.event(e.actor, "asset.created"))
	stop := e.run(d)
	e.until("both are asked", func() bool {
		return len(e.requests("slow.example.com")) == 1 && len(e.requests("hung.example.com")) == 1
	})
	stop()
	e.answer("hung.example.com", nil)
	e.run(d)
	e.until("the other is sent again at once", func() bool { return e.webhook(hung).Health.Pending == 0 })
	if n := len(e.requests("slow.example.com")); n != 1 {
		t.Errorf("what was finished while the process ended was sent %d times", n)
	}
}

func TestDeliverer_SignsWithTheOldSecretUntilItEnds(t *testing.T) {
	t.Parallel()
	e := newHooks(t)
	w, old := e.hook(e.actor, "good.example.com", "*")
	fresh := webhook.NewSecret()
	if err := e.store.Webhooks.Rotate(t.Context(), e.actor, w.ID, e.sealer.Seal(fresh, automation.Endpoint(e.actor.Tenant, w.ID)), time.Now().Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	d := e.deliverer(nil)
	e.run(d)
	for i, both := range []bool{true, false} {
		e.handle(d, e.event(e.actor, "asset.created"))
		e.until("it is delivered", func() bool { return len(e.requests("good.example.com")) == i+1 })
		r := e.requests("good.example.com")[i]
		for secret, want := range map[string]bool{fresh: true, old: both} {
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			if good := verifier.Verify(r.body, r.header) == nil; good != want {
				t.Errorf("%s: verified %v, want %v", map[string]string{fresh: "new", old: "old"}[secret], good, want)
			}
		}
		e.ahead.Add(int64(25 * time.Hour))
	}
	var plain int
	if err := e.owner.QueryRow(t.Context(), `SELECT count(*) FROM webhooks WHERE position(convert_to(substr($1, 7), 'UTF8') in secret) > 0 OR position(decode(substr($1, 7), 'base64') in secret) > 0`, fresh).Scan(&plain); err != nil || plain != 0 {
		t.Errorf("the secret is in the database: %d %v", plain, err)
	}
}

func TestDeliverer_RepeatsARangeAndForgetsWhatIsOld(t *testing.T) {
	t.Parallel()
	e := newHooks(t)
	w, _ := e.hook(e.actor, "good.example.com", "*")
	d := e.deliverer(nil)
	e.run(d)
	for range 3 {
		e.handle(d, e.event(e.actor, "asset.created"))
	}
	e.until("three", func() bool { return e.webhook(w).Health.Pending == 0 && len(e.requests("good.example.com")) == 3 })
	list := e.deliveries(w, e.actor)
	for state, want := range map[string]int64{library.DeliveryFailed: 0, "": 3} {
		n, err := e.store.Webhooks.Replay(t.Context(), e.actor, w.ID, nil, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), state)
		if err != nil || n != want {
			t.Errorf("%q: %d are sent again, want %d; %v", state, n, want, err)
		}
	}
	e.until("six", func() bool { return e.webhook(w).Health.Pending == 0 && len(e.requests("good.example.com")) == 6 })
	count := map[string]int{}
	for _, r := range e.requests("good.example.com") {
		count[r.id]++
	}
	if len(count) != 3 || count[list[0].ID] != 2 {
		t.Errorf("what is sent again has another id: %v", count)
	}
	e.exec(`UPDATE webhook_deliveries SET created_at = now() - interval '31 days' WHERE delivery_id = $1`, list[0].ID)
	if n, err := e.store.Webhooks.Forget(t.Context(), 100); err != nil || n != 1 || len(e.deliveries(w, e.actor)) != 2 {
		t.Errorf("%d %v", n, err)
	}
	other := e.tenant()
	if _, err := e.store.Webhooks.Replay(t.Context(), other, w.ID, nil, time.Time{}, time.Now(), ""); library.AsError(err).Kind != library.KindNotFound {
		t.Errorf("another tenant replays them: %v", err)
	}
}
