package automation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"vitrine/automation"
	"vitrine/automation/webhook"
	"vitrine/library"
	"vitrine/media/fetch/fetchtest"
	"vitrine/store"
	"vitrine/store/storetest"
)

// hooks is a library with endpoints that receive what a deliverer sends.
type hooks struct {
	*testing.T
	store  *store.Store
	owner  *pgx.Conn
	web    *fetchtest.Web
	sealer *webhook.Sealer
	actor  library.Actor
	ahead  atomic.Int64 // how far the deliverer's clock is ahead, in nanoseconds

	mu       sync.Mutex
	position int64
	got      map[string][]received // by host
	answers  map[string]http.HandlerFunc
}

// received is a request as it came.
type received struct {
	id     string
	header http.Header
	body   []byte
}

func newHooks(t *testing.T) *hooks {
	t.Helper()
	st, url := storetest.Open(t)
	sealer, err := webhook.NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	e := &hooks{T: t, store: st, owner: storetest.Owner(t, url), web: fetchtest.New(t), sealer: sealer, got: map[string][]received{}, answers: map[string]http.HandlerFunc{}}
	e.actor = e.tenant()
	e.web.Handler = http.HandlerFunc(e.receive)
	return e
}

// tenant makes a tenant and returns an admin of it.
func (e *hooks) tenant() library.Actor {
	e.Helper()
	a := library.Actor{Kind: library.ActorSystem, ID: "test", Tenant: library.TenantID(uuid.NewString())}
	e.exec(`INSERT INTO tenants (tenant_id, name) VALUES ($1, 'test')`, string(a.Tenant))
	return a
}

func (e *hooks) exec(sql string, args ...any) {
	e.Helper()
	if _, err := e.owner.Exec(e.Context(), sql, args...); err != nil {
		e.Fatal(err)
	}
}

// receive keeps a request and answers it as the host does; 204 is what most say.
func (e *hooks) receive(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	host := r.Host[:len(r.Host)-len(":"+strconv.Itoa(int(e.web.Port)))]
	e.got[host] = append(e.got[host], received{r.Header.Get("webhook-id"), r.Header, body})
	answer := e.answers[host]
	e.mu.Unlock()
	if answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	answer(w, r)
}

// requests returns what a host has received.
func (e *hooks) requests(host string) []received {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]received{}, e.got[host]...)
}

// answer sets how a host answers from now on.
func (e *hooks) answer(host string, with http.HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answers[host] = with
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// hook adds a webhook at a host below example.com for event types, and returns it with its secret.
func (e *hooks) hook(actor library.Actor, host string, events ...string) (library.Webhook, string) {
	e.Helper()
	e.web.Resolve(host, fetchtest.Public)
	w := library.Webhook{ID: store.NewWebhookID(), Name: host, URL: fmt.Sprintf("https://%s:%d/in", host, e.web.Port), Events: events, Enabled: true, Timeout: 5 * time.Second}
	secret := webhook.NewSecret()
	made, _, err := e.store.Webhooks.Add(e.Context(), actor, w, e.sealer.Seal(secret, automation.Endpoint(actor.Tenant, w.ID)), nil)
	if err != nil {
		e.Fatal(err)
	}
	return made, secret
}

// deliverer returns a deliverer whose clock the test moves.
func (e *hooks) deliverer(adjust func(*automation.DelivererConfig)) *automation.Deliverer {
	cfg := automation.DelivererConfig{
		Sender: webhook.NewSender(webhook.Config{AllowPrivate: fetchtest.Reachable(), RootCAs: e.web.Roots, Resolver: e.web.Resolver}),
		Sealer: e.sealer, Log: slog.New(slog.DiscardHandler), Poll: 10 * time.Millisecond,
		Now: func() time.Time { return time.Now().Add(time.Duration(e.ahead.Load())) },
	}
	if adjust != nil {
		adjust(&cfg)
	}
	return automation.NewDeliverer(e.store.Webhooks, cfg, automation.NewMetrics(prometheus.NewRegistry()))
}

// run runs a deliverer until the returned function or the end of the test stops it.
func (e *hooks) run(d *automation.Deliverer) (stop func()) {
	ctx, cancel := context.WithCancel(e.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := d.Run(ctx); err != nil {
			e.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	e.Cleanup(stop)
	return stop
}

// event returns an event of a tenant's log that happens now.
func (e *hooks) event(actor library.Actor, kind string) store.LoggedEvent {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.position++
	data, _ := json.Marshal(map[string]any{"n": e.position})
	return store.LoggedEvent{Position: e.position, Tenant: actor.Tenant, Type: kind, Key: "asset/1", Payload: data, At: time.Now().Add(time.Millisecond)}
}

func (e *hooks) handle(d *automation.Deliverer, list ...store.LoggedEvent) {
	e.Helper()
	for _, x := range list {
		if err := d.Handle(e.Context(), x); err != nil {
			e.Fatal(err)
		}
	}
}

// until waits for a condition.
func (e *hooks) until(what string, ok func() bool) {
	e.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			e.Fatalf("it did not come to this: %s", what)
		}
	}
}

// deliveries returns the log of a webhook, the oldest first.
func (e *hooks) deliveries(w library.Webhook, actor library.Actor) []library.Delivery {
	e.Helper()
	list, _, err := e.store.Webhooks.Deliveries(e.Context(), actor.Tenant, w.ID, store.DeliveryFilter{}, 200, 0)
	if err != nil {
		e.Fatal(err)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func (e *hooks) webhook(w library.Webhook) library.Webhook {
	e.Helper()
	out, err := e.store.Webhooks.Get(e.Context(), e.actor.Tenant, w.ID)
	if err != nil {
		e.Fatal(err)
	}
	return out
}
