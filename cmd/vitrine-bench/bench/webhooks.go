package bench

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"vitrine/api/client"
	"vitrine/auth"
	"vitrine/automation/webhook"
	"vitrine/library"
	"vitrine/service"
)

// WebhooksConfig is how much is delivered.
type WebhooksConfig struct {
	Servers   service.Config // PostgresURL, Brokers, OpenSearchURL, Version and Log are used
	Events    int            // of each round, each to every endpoint; 10 to 100,000
	Endpoints int            // that answer; 0 means 10
	Dead      int            // endpoints that do not answer; 0 means 100
	Kafka     string         // its version, where it is known: Kafka itself does not tell

	// Step is told what is done now, for a person who waits.
	Step func(format string, args ...any)
}

// RunWebhooks measures deliveries to endpoints of this process, which answer at once, beside bare
// requests to them, and with endpoints that do not answer beside them.
func RunWebhooks(ctx context.Context, cfg WebhooksConfig) (report WebhooksReport, err error) {
	if cfg.Events < 10 || cfg.Events > 100_000 {
		return report, library.Invalid(library.FieldError{Field: "events", Code: "range", Message: "Give a number of events from 10 to 100000."})
	}
	setDefault(&cfg.Endpoints, 10)
	setDefault(&cfg.Dead, 100)
	r := &receivers{}
	server := httptest.NewTLSServer(r)
	defer server.Close()
	r.url, r.roots = server.URL, x509.NewCertPool()
	r.roots.AddCert(server.Certificate())
	e, err := start(ctx, Config{Servers: cfg.Servers, Count: minCount, Kafka: cfg.Kafka, Step: cfg.Step, hooks: webhook.Config{AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, RootCAs: r.roots}})
	if err != nil {
		return report, err
	}
	defer e.cleanUp(&err)
	defer server.CloseClientConnections() // of the endpoints that do not answer
	report.Setting, report.Events, report.Endpoints, report.Dead = e.setting(ctx), cfg.Events, cfg.Endpoints, cfg.Dead
	d := &delivering{env: e, receivers: r, cfg: cfg}
	report.Figures, err = d.measure(ctx)
	return report, err
}

// receivers are endpoints. Those below /dead answer a ping and nothing else.
type receivers struct {
	url   string
	roots *x509.CertPool

	got         atomic.Int64
	first, last atomic.Int64 // Unix nanoseconds
}

// ServeHTTP implements http.Handler.
func (r *receivers) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	switch {
	case err != nil || bytes.Contains(body, []byte(`"test.ping"`)):
	case strings.HasPrefix(req.URL.Path, "/dead"):
		<-req.Context().Done()
	default:
		now := time.Now().UnixNano()
		r.first.CompareAndSwap(0, now)
		r.last.Store(now)
		r.got.Add(1)
	}
}

func (r *receivers) reset() {
	r.got.Store(0)
	r.first.Store(0)
}

// rate returns how many messages came in a second.
func (r *receivers) rate() float64 {
	return float64(r.got.Load()) / max(time.Duration(r.last.Load()-r.first.Load()).Seconds(), 1e-9)
}

// delivering is a product with webhooks.
type delivering struct {
	*env
	*receivers
	cfg WebhooksConfig

	otherKey string // of the tenant whose endpoints do not answer
}

// deliveryRounds is how often deliveries are measured.
const deliveryRounds = 3

func (d *delivering) measure(ctx context.Context) ([]Figure, error) {
	if err := d.register(ctx, "good", d.cfg.Endpoints); err != nil {
		return nil, err
	}
	var ours, bare []float64
	for i := range deliveryRounds + 1 {
		d.Step("Delivering %d events to %d endpoints, round %d", d.cfg.Events, d.cfg.Endpoints, i)
		rate, err := d.deliver(ctx)
		if err != nil {
			return nil, err
		}
		floor, err := d.post(ctx)
		if err != nil {
			return nil, err
		}
		if i > 0 { // the first round warms up
			ours, bare = append(ours, rate), append(bare, floor)
		}
	}
	row := Row{Name: "all deliveries of a round", Unit: "deliveries/s", Ours: summarize(ours, true), Floor: summarize(bare, true)}
	row.Ratio = row.Ours.P50 / row.Floor.P50
	figures := []Figure{{Key: KeyDeliveries, Value: row.Ratio, Repeats: deliveryRounds, Rows: []Row{row}}}

	if err := d.addTenant(ctx); err != nil {
		return nil, err
	}
	if err := d.register(ctx, "dead", d.cfg.Dead); err != nil {
		return nil, err
	}
	f := Figure{Key: KeyDeadEndpoints, Repeats: 1}
	for _, name := range []string{"in the moment they fall silent", "afterwards"} {
		d.Step("Delivering beside %d endpoints that do not answer", d.cfg.Dead)
		rate, err := d.deliver(ctx)
		if err != nil {
			return nil, err
		}
		f.Rows = append(f.Rows, Row{Name: name, Unit: "deliveries/s", Ours: summarize([]float64{rate}, true), Floor: row.Ours, Ratio: rate / row.Ours.P50})
	}
	f.Value = min(f.Rows[0].Ratio, f.Rows[1].Ratio)
	return append(figures, f), nil
}

// addTenant makes a tenant for the endpoints that do not answer: one tenant may have too few.
func (d *delivering) addTenant(ctx context.Context) error {
	other, err := d.Store.Tenants.Create(ctx, actor, "dead")
	if err != nil {
		return err
	}
	d.otherKey, _, err = auth.IssueKey(ctx, d.Store.Keys, actor, auth.KeyRequest{Name: "dead", Tenant: other.ID, Permissions: library.Permissions})
	return err
}

// as returns a client of the tenant that has webhooks of a kind.
func (d *delivering) as(kind string) *client.Client {
	c := d.client()
	if kind == "dead" {
		c.Key = d.otherKey
	}
	return c
}

// register makes webhooks for the events of the measurement.
func (d *delivering) register(ctx context.Context, kind string, n int) error {
	d.Step("Registering %d webhooks", n)
	for i := range n {
		made, err := d.as(kind).RegisterWebhook(ctx, client.RegisterWebhookInput{Name: fmt.Sprintf("%s %d", kind, i), URL: fmt.Sprintf("%s/%s/%d", d.receivers.url, kind, i), Events: []string{"asset.updated"}})
		if err == nil && !made.Ping.Delivered {
			err = fmt.Errorf("the ping of a webhook was not delivered: %s", made.Ping.Error)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// deliver emits the events of a round and returns how many deliveries came in a second at the
// endpoints that answer, from the first to the last.
func (d *delivering) deliver(ctx context.Context) (float64, error) {
	d.reset()
	conn, err := pgx.Connect(ctx, d.env.cfg.PostgresURL)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = unforced(ctx, conn, []string{"outbox"}, func() error {
		_, err := conn.Exec(ctx, fmt.Sprintf(`INSERT INTO outbox (tenant_id, topic, key, type, payload) SELECT tenant_id, 'events', 'asset/' || lpad(to_hex(n), 40, '0'), 'asset.updated',
			jsonb_build_object('asset_h', lpad(to_hex(n), 40, '0'), 'fields', '["tags"]'::jsonb) FROM tenants, generate_series(1, %d) n`, d.cfg.Events))
		return err
	})
	if err != nil {
		return 0, err
	}
	if _, err := conn.Exec(ctx, `SELECT pg_notify('outbox', '')`); err != nil {
		return 0, err
	}
	want := int64(d.cfg.Events * d.cfg.Endpoints)
	err = until(ctx, 5*time.Millisecond, 10*time.Minute, "the endpoints have every event", func() (bool, error) { return d.got.Load() >= want, nil })
	if err == nil && d.got.Load() != want {
		err = fmt.Errorf("%d deliveries came of %d", d.got.Load(), want)
	}
	return d.rate(), err
}

// post makes as many bare requests to the same endpoints, four at a time to each, and returns how
// many came in a second.
func (d *delivering) post(ctx context.Context) (float64, error) {
	d.reset()
	body := []byte(`{"id":1,"type":"asset.updated","timestamp":"2026-01-01T00:00:00.000000Z","key":"asset/0000000000000000000000000000000000000001","data":{"asset_h":"0000000000000000000000000000000000000001","fields":["tags"]}}`)
	g, ctx := errgroup.WithContext(ctx)
	for i := range d.cfg.Endpoints {
		var next atomic.Int64
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: d.roots}}} // as webhooks are sent
		for range 4 {
			g.Go(func() error {
				for next.Add(1) <= int64(d.cfg.Events) {
					if err := postOnce(ctx, c, fmt.Sprintf("%s/good/%d", d.receivers.url, i), body); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	err := g.Wait()
	return d.rate(), err
}

func postOnce(ctx context.Context, c *http.Client, url string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	res, err := c.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
