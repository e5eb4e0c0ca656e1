package automation_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/automation"
	"vitrine/events"
	"vitrine/internal/testenv"
	"vitrine/library"
)

// TestRules_LosingWhatKafkaHeldLosesNoFiring deletes the topic while nobody reads it, and has the
// subscriber go on then.
func TestRules_LosingWhatKafkaHeldLosesNoFiring(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	brokers, prefix := testenv.Kafka(t)
	cfg := events.Config{Prefix: prefix, Brokers: brokers, CatchUpAfter: time.Second, Log: slog.New(slog.DiscardHandler)}
	run := func(f func(context.Context) error) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			if err := f(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}()
		return func() { cancel(); <-done }
	}
	subscriber := func(ctx context.Context) error {
		return events.Run(ctx, e.store, cfg, events.NewMetrics(prometheus.NewRegistry()), events.Subscriber{Name: automation.RuleSubscriber, FromStart: true, Handle: e.rules.Handle})
	}
	relay := func(ctx context.Context) error {
		return events.NewRelay(e.store, cfg, events.NewMetrics(prometheus.NewRegistry())).Run(ctx)
	}
	await := func(what, sql string, want int) {
		t.Helper()
		n := -1
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if n = e.count(sql); n == want {
				return
			}
		}
		t.Fatalf("%s: %d, want %d", what, n, want)
	}
	r := e.rule(library.Rule{Name: "one", Trigger: onEvent("asset.created")})
	stopRelay, stop := run(relay), run(subscriber)
	e.asset(0)
	await("fired through Kafka", `SELECT count(*) FROM rule_runs`, 1)
	stop()
	for n := range 10 {
		e.asset(1 + n) // their events wait in Kafka
	}
	await("events that are not published", `SELECT (SELECT count(*) FROM outbox WHERE topic = 'events') + (SELECT count(*) FROM events WHERE position > (SELECT position FROM event_publishing))`, 0)
	stopRelay()
	if err := testenv.DeleteTopic(t.Context(), brokers, cfg.Topic()); err != nil {
		t.Fatal(err)
	}
	defer run(relay)()
	defer run(subscriber)()
	e.asset(11)
	await("fired without what Kafka held", `SELECT count(*) FROM rule_runs`, 12)
	seen := map[string]bool{}
	for _, x := range e.runs(r) {
		seen[fmt.Sprint(x.Reason["key"])] = x.State == library.FiringDone
	}
	if len(seen) != 12 {
		t.Errorf("it fired for %d of 12 assets: %v", len(seen), seen)
	}
}
