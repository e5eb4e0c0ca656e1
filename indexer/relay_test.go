package indexer

import (
	"context"
	"fmt"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/store"
)

// announced reads the changes topic with a reader of its own and counts events
// by asset.
func (e *env) announced() func() map[library.AssetHash]int {
	cfg := e.cfg
	cfg.dial = nil // it reads whatever a test cuts off
	b := newKafkaClient(cfg)
	if _, err := b.EnsureTopics(e.ctx, map[string]int{e.cfg.changesTopic(): e.cfg.Partitions}); err != nil {
		e.t.Fatal(err)
	}
	sub := b.Subscribe(e.cfg.changesTopic(), e.cfg.Prefix+"witness", 100)
	ctx, cancel := context.WithCancel(context.Background())
	events, done := make(chan Event, 10000), make(chan struct{})
	go func() {
		defer close(done)
		for {
			m, err := sub.Fetch(ctx)
			if err != nil {
				return
			}
			if ev, err := parseEvent(m.Value); err == nil {
				events <- ev
			}
		}
	}()
	e.t.Cleanup(func() { cancel(); <-done; sub.Close(); b.Close() })
	seen := map[library.AssetHash]int{}
	return func() map[library.AssetHash]int {
		for {
			select {
			case ev := <-events:
				seen[library.AssetHash(ev.Key)]++
			default:
				return seen
			}
		}
	}
}

func (e *env) backlog() int64 {
	e.t.Helper()
	n, _, err := e.store.Outbox.Backlog(e.ctx)
	if err != nil {
		return -1
	}
	return n
}

func TestRelay_EveryOutboxRowIsPublishedByOneOfTwoRelays(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.RelayBatch = 7
	var hashes []library.AssetHash
	for i := range 40 {
		hashes = append(hashes, e.add(newAsset(fmt.Sprint(i))).Hash)
	}
	e.run(e.relay(), e.relay())
	seen := e.announced()
	e.eventually(time.Minute, func() string {
		have := seen()
		for _, h := range hashes {
			if have[h] == 0 {
				return fmt.Sprintf("%d of %d assets announced", len(have), len(hashes))
			}
		}
		return ""
	})
	e.eventually(time.Minute, func() string { return noneBut(e.backlog(), 0) })
}

func TestRelay_ChangesWaitInTheOutboxWhileKafkaIsAway(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	g := &gate{}
	e.cfg.dial = g.dial
	e.run(e.relay())
	first := e.add(newAsset("before"))
	seen := e.announced()
	e.eventually(time.Minute, func() string { return missingFrom(seen(), first.Hash) })
	e.eventually(time.Minute, func() string { return noneBut(e.backlog(), 0) }) // its row goes a little later
	g.set(true)
	var hashes []library.AssetHash
	for i := range 10 {
		hashes = append(hashes, e.add(newAsset(fmt.Sprint(i))).Hash)
	}
	time.Sleep(300 * time.Millisecond)
	if n := e.backlog(); n != 10 {
		t.Errorf("%d rows wait while Kafka is away, want 10", n)
	}
	g.set(false)
	e.eventually(time.Minute, func() string { return missingFrom(seen(), hashes...) })
	e.eventually(time.Minute, func() string { return noneBut(e.backlog(), 0) })
}

func noneBut(have, want int64) string {
	if have != want {
		return fmt.Sprintf("%d rows, want %d", have, want)
	}
	return ""
}

func missingFrom(seen map[library.AssetHash]int, hashes ...library.AssetHash) string {
	for _, h := range hashes {
		if seen[h] == 0 {
			return fmt.Sprintf("%s is not announced", h)
		}
	}
	return ""
}

func TestRelay_OutlivesItsDatabaseConnections(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.run(e.relay())
	seen := e.announced()
	first := e.add(newAsset("before"))
	e.eventually(time.Minute, func() string { return missingFrom(seen(), first.Hash) })
	for i := range 3 {
		e.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'vitrine_indexer'`)
		a := e.add(newAsset(fmt.Sprint(i)))
		e.eventually(time.Minute, func() string { return missingFrom(seen(), a.Hash) })
	}
}

func TestRelay_AFailedPublishLeavesItsRows(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.add(newAsset("a"))
	n, err := e.store.Outbox.Claim(e.ctx, 10, func(rows []store.OutboxRow) error {
		if len(rows) != 1 {
			t.Errorf("claimed %d rows", len(rows))
		}
		return errShut
	})
	if n != 0 || err == nil || e.backlog() != 1 {
		t.Errorf("after a failed publish: %d claimed, error %v, %d rows left", n, err, e.backlog())
	}
}
