package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"vitrine/automation"
	"vitrine/events"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// TestEventsCommand_ListsSubscribersAndTheirDeadLettersAndReplaysThem, from a subscriber that
// fails to one that has handled everything.
func TestEventsCommand_ListsSubscribersAndTheirDeadLettersAndReplaysThem(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	servicetest.Eventually(t, "the product's own subscribers are listed", func() error {
		if code, out := said(t, e.Cfg, "events", "subscribers"); code != 0 || !strings.Contains(out, automation.RuleSubscriber) || !strings.Contains(out, automation.WebhookSubscriber) {
			return fmt.Errorf("%d %s", code, out)
		}
		return nil
	})
	poison := e.StoreFile("", "poison.png", "image/png", picture(501, "")).Asset.AssetH
	var mended atomic.Bool
	var handled atomic.Int64
	subscribe(t, e, events.Subscriber{Name: "audit", FromStart: true, Attempts: 1, Handle: func(_ context.Context, x events.Event) error {
		if !mended.Load() && strings.Contains(x.Key, poison) {
			return errors.New("the disk of the audit is full")
		}
		handled.Add(1)
		return nil
	}})
	e.StoreFile("", "fine.png", "image/png", picture(502, ""))
	servicetest.Eventually(t, "the event is a dead letter and the other is handled", func() error {
		if letters := deadLetters(t, e.Cfg, "audit"); handled.Load() == 0 || len(letters) != 1 || letters[0]["type"] != "asset.created" || !strings.Contains(fmt.Sprint(letters[0]["key"]), poison) ||
			!strings.Contains(fmt.Sprint(letters[0]["reason"]), "disk of the audit is full") || letters[0]["tenant_id"] != string(e.Tenant) {
			return fmt.Errorf("%d handled, dead letters %v", handled.Load(), letters)
		}
		return nil
	})
	if code, out := said(t, e.Cfg, "events", "subscribers"); code != 0 || !strings.Contains(out, "DEAD LETTERS") || !strings.Contains(strings.Join(strings.Fields(out), " "), "audit 0 0s 1") {
		t.Errorf("subscribers: %d %s", code, out)
	}
	for _, command := range []string{"dead-letters", "replay"} {
		if code, out := said(t, e.Cfg, "events", command, "nobody"); code == 0 || !strings.Contains(out, "vitrine events subscribers") {
			t.Errorf("%s of an unknown subscriber: %d %s", command, code, out)
		}
	}
	mended.Store(true)
	if code, out := said(t, e.Cfg, "events", "replay", "audit"); code != 0 || !strings.Contains(out, "handles 1 dead letters again") {
		t.Errorf("replay: %d %s", code, out)
	}
	servicetest.Eventually(t, "nothing is dead any more", func() error {
		if letters := deadLetters(t, e.Cfg, "audit"); len(letters) > 0 {
			return fmt.Errorf("%v", letters)
		}
		return nil
	})
}

// subscribe runs a subscriber to events until the test ends.
func subscribe(t *testing.T, e *servicetest.Env, s events.Subscriber) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- events.Run(ctx, e.Store, events.Config{Prefix: e.Cfg.Prefix, Brokers: e.Cfg.Brokers, Log: slog.New(slog.DiscardHandler)}, events.NewMetrics(prometheus.NewRegistry()), s)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// deadLetters returns the dead letters of a subscriber as the command lists them.
func deadLetters(t *testing.T, cfg service.Config, subscriber string) (letters []map[string]any) {
	t.Helper()
	code, out := said(t, cfg, "events", "dead-letters", subscriber)
	if code != 0 {
		return nil
	}
	for line := range strings.Lines(out) {
		var letter map[string]any
		if err := json.Unmarshal([]byte(line), &letter); err != nil {
			t.Fatalf("a dead letter is no JSON: %q", line)
		}
		letters = append(letters, letter)
	}
	return letters
}
