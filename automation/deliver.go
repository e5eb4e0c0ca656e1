package automation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"vitrine/automation/webhook"
	"vitrine/internal/failpoint"
	"vitrine/internal/panics"
	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// DelivererConfig is how deliveries are made. The zero value of every field but Sender, Sealer and
// Log is useful.
type DelivererConfig struct {
	Sender *webhook.Sender
	Sealer *webhook.Sealer
	Log    *slog.Logger
	Now    func() time.Time // nil: the clock of the database, by which all processes go
	// Slots and FailingSlots are how many requests are under way at once to endpoints whose last request
	// succeeded, and to those that failed or are new. Neither takes those of the other, so endpoints that do
	// not answer delay none that does. 0 means 512 and 128.
	Slots        int
	FailingSlots int
	PerEndpoint  int           // requests to one endpoint that are under way at once; 0 means 4; to one that fails it is 1
	Poll         time.Duration // how often due deliveries are looked for; 0 means 250 ms
	Lease        time.Duration // behind an endpoint's timeout, when a delivery of a killed process is tried again; 0 means 5 s
}

// Deliverer delivers events to webhooks.
type Deliverer struct {
	cfg      DelivererConfig
	webhooks *store.Webhooks
	metrics  *Metrics
	interest interest
	lanes    [2]*lane
}

// lane is the endpoints that fail, or all others.
type lane struct {
	failing     bool
	slots       chan struct{} // one in it per request under way
	perEndpoint int
	wake        chan struct{} // there may be something to claim
}

func (l *lane) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// NewDeliverer returns a deliverer.
func NewDeliverer(webhooks *store.Webhooks, cfg DelivererConfig, m *Metrics) *Deliverer {
	cfg.Slots, cfg.FailingSlots, cfg.PerEndpoint = cmp.Or(cfg.Slots, 512), cmp.Or(cfg.FailingSlots, 128), cmp.Or(cfg.PerEndpoint, 4)
	cfg.Poll, cfg.Lease = cmp.Or(cfg.Poll, 250*time.Millisecond), cmp.Or(cfg.Lease, 5*time.Second)
	d := &Deliverer{cfg: cfg, webhooks: webhooks, metrics: m}
	d.lanes[0] = &lane{false, make(chan struct{}, cfg.Slots), cfg.PerEndpoint, make(chan struct{}, 1)}
	d.lanes[1] = &lane{true, make(chan struct{}, cfg.FailingSlots), 1, make(chan struct{}, 1)}
	return d
}

// now returns the time of a clock that is not the database's, or the zero time.
func (d *Deliverer) now() time.Time {
	if d.cfg.Now == nil {
		return time.Time{}
	}
	return d.cfg.Now()
}

// WebhookSubscriber is the name of the subscriber that makes deliveries.
const WebhookSubscriber = "webhooks"

// Handle makes the deliveries of an event. Its subscriber begins with the oldest event.
func (d *Deliverer) Handle(ctx context.Context, e store.LoggedEvent) error {
	wanted, err := d.interest.in(e.Tenant, e.Type, e.At, func() ([]string, time.Time, error) { return d.webhooks.Subscribed(ctx, e.Tenant) })
	if err != nil || !wanted {
		return err
	}
	body, err := json.Marshal(op.EventMessage{Position: e.Position, Type: e.Type, Timestamp: e.At.UTC().Format(time.RFC3339Nano), Key: e.Key, Data: e.Payload})
	if err != nil {
		return err
	}
	made, err := d.webhooks.Deliver(ctx, e, Patterns(e.Type), body)
	if err != nil || made == 0 {
		return err
	}
	for _, l := range d.lanes {
		l.poke()
	}
	return failpoint.Inject("webhooks.delivery_made")
}

const (
	// finishWithin is how long requests under way may take when the process ends.
	finishWithin = 5 * time.Second
	// gather is how long freed slots wait for more of them, so that one query fills several.
	gather = 5 * time.Millisecond
)

// Run sends what is due until ctx ends. Requests under way then have some seconds to finish.
func (d *Deliverer) Run(ctx context.Context) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(finishWithin, cancel) })()
	var lanes sync.WaitGroup
	for _, l := range d.lanes {
		lanes.Go(func() { d.runLane(ctx, requests, l) })
	}
	lanes.Wait()
	return nil
}

// runLane sends to the endpoints of a lane until ctx ends. requests is the context of what it sends.
func (d *Deliverer) runLane(ctx, requests context.Context, l *lane) {
	var under sync.WaitGroup
	defer under.Wait()
	for ctx.Err() == nil {
		list := d.claim(ctx, l)
		for _, due := range list {
			l.slots <- struct{}{} // there is one free: only this loop takes them
			under.Go(func() {
				defer l.poke()
				defer func() { <-l.slots }()
				d.deliver(requests, due)
			})
		}
		if len(list) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-l.wake:
			_ = retry.Sleep(ctx, gather)
		case <-time.After(d.cfg.Poll):
		}
	}
}

func (d *Deliverer) claim(ctx context.Context, l *lane) []store.DueDelivery {
	free := cap(l.slots) - len(l.slots)
	if free == 0 {
		return nil
	}
	list, err := d.webhooks.Claim(ctx, store.DeliveryClaim{Now: d.now(), Failing: l.failing, Limit: free, PerEndpoint: l.perEndpoint, Lease: d.cfg.Lease})
	if err != nil && ctx.Err() == nil {
		d.cfg.Log.Warn("due webhook deliveries could not be read; trying again", "error", err)
		_ = retry.Sleep(ctx, time.Second)
	}
	return list
}

// deliver makes one attempt at a delivery and records what became of it.
func (d *Deliverer) deliver(ctx context.Context, due store.DueDelivery) {
	err := panics.Try(func() error {
		if err := failpoint.Inject("webhooks.claimed"); err != nil {
			return err
		}
		res, err := d.send(ctx, due)
		if err != nil {
			return err
		}
		if err := failpoint.Inject("webhooks.sent"); err != nil {
			return err
		}
		return d.record(context.WithoutCancel(ctx), due, res)
	})
	if err == nil {
		return
	}
	if ctx.Err() == nil { // the lease ends, and it is tried again
		d.cfg.Log.Error("a webhook delivery could not be made", "webhook", due.WebhookID, "delivery", due.ID, "error", err)
		return
	}
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	_ = d.webhooks.Release(soon, due) // or else its lease ends
}

// releaseWithin bounds the time in which a process that ends gives up a claim.
const releaseWithin = 2 * time.Second

func (d *Deliverer) send(ctx context.Context, due store.DueDelivery) (webhook.Response, error) {
	endpoint := Endpoint(due.Tenant, due.WebhookID)
	secret, err := d.cfg.Sealer.Open(due.Secret, endpoint)
	if err != nil {
		return webhook.Response{At: time.Now(), Err: err.Error()}, nil
	}
	secrets := []string{secret}
	if due.OldSecret != nil {
		if old, err := d.cfg.Sealer.Open(due.OldSecret, endpoint); err == nil {
			secrets = append(secrets, old)
		}
	}
	return d.cfg.Sender.Send(ctx, webhook.Message{ID: due.ID, Body: []byte(due.Body), Secrets: secrets, URL: due.URL, Timeout: time.Duration(due.TimeoutMS) * time.Millisecond})
}

// Endpoint names a webhook of a tenant when secrets are sealed.
func Endpoint(tenant library.TenantID, webhookID string) string {
	return string(tenant) + "/" + webhookID
}

// Attempt is a response as the log of deliveries keeps it.
func Attempt(r webhook.Response) library.DeliveryAttempt {
	return library.DeliveryAttempt{At: r.At.UTC(), DurationMS: r.Took.Milliseconds(), Status: r.Status, Error: r.Err, Response: r.Body}
}

// giveUp is how long an endpoint may fail before it is disabled, however many messages took turns in
// trying it: as long as all attempts at one message take.
const giveUp = 84 * time.Hour

// record keeps what became of an attempt, and disables an endpoint that is gone, or that took
// nothing while a message was tried as often as it may be.
func (d *Deliverer) record(ctx context.Context, due store.DueDelivery, r webhook.Response) error {
	out := store.DeliveryOutcome{Now: d.now(), Attempt: Attempt(r), Delivered: r.Delivered()}
	if !out.Delivered {
		var again bool
		out.RetryIn, again = webhook.Next(due.Attempts+1, r.RetryAfter)
		out.Last, out.PauseFor = !again, webhook.Pause(due.Failures+1, r)
	}
	d.metrics.observe(r)
	if err := d.webhooks.Finish(ctx, due, out); err != nil {
		return err
	}
	at := cmp.Or(out.Now, r.At)
	switch {
	case out.Delivered:
		return nil
	case r.Gone():
		return d.webhooks.Disable(ctx, due.Tenant, due.WebhookID, "The endpoint answered 410 Gone.", at)
	case out.Last:
		return d.webhooks.Disable(ctx, due.Tenant, due.WebhookID, fmt.Sprintf("All %d attempts at a delivery failed, and none at another succeeded meanwhile: %s.", len(webhook.Delays)+1, r.Err), due.CreatedAt)
	case due.FailingSince != nil && at.Sub(*due.FailingSince) > giveUp:
		return d.webhooks.Disable(ctx, due.Tenant, due.WebhookID, fmt.Sprintf("Every attempt failed since %s: %s.", due.FailingSince.UTC().Format(time.RFC3339), r.Err), *due.FailingSince)
	}
	return nil
}
