package events_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"vitrine/events"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/store"
)

func TestLog_PositionsAreInTheOrderOfCommitsWithoutGaps(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.relay()
	e.relay() // two at once
	var hashes []library.AssetHash
	for i := range 5 {
		hashes = append(hashes, e.add(fmt.Sprint(i)))
	}
	stop, read := make(chan struct{}), make(chan []events.Event, 1)
	go func() { read <- e.readUntil(t, stop) }()
	var writers sync.WaitGroup
	for w := range 6 {
		writers.Go(func() {
			for i := range 30 {
				h := hashes[rand.IntN(len(hashes))]
				if _, err := e.store.Assets.Change(t.Context(), e.actor, []library.AssetHash{h}, func(a *library.Asset) { a.Title = fmt.Sprint(w, "/", i) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	want := 5 + 6*30
	e.eventually(30*time.Second, func() string {
		if n := len(e.logged()); n != want {
			return fmt.Sprintf("%d events, want %d", n, want)
		}
		return ""
	})
	close(stop)
	last := map[int]int64{}
	for i, x := range e.logged() {
		if x.Position != int64(i+1) || x.Previous != last[x.Shard] {
			t.Fatalf("event %d has position %d after %d, want after %d", i, x.Position, x.Previous, last[x.Shard])
		}
		last[x.Shard] = x.Position
	}
	if list := <-read; !slices.EqualFunc(list, e.logged(), func(a, b events.Event) bool { return a.Position == b.Position }) {
		t.Errorf("a reader beside the writers got %d events, the log has %d", len(list), want)
	}
}

// readUntil reads the log as a client that remembers a position, until it has read all that had
// come when it was stopped.
func (e *env) readUntil(t *testing.T, stop chan struct{}) (read []events.Event) {
	ended := false
	for after := int64(0); ; {
		list, err := e.store.Events.After(t.Context(), e.actor, after, nil, 7)
		if err != nil {
			t.Error(err)
			return read
		}
		read = append(read, list...)
		if len(list) > 0 {
			after = list[len(list)-1].Position
			continue
		}
		if ended {
			return read
		}
		select {
		case <-stop: // the last events may have come after the read just now
			ended = true
		default:
		}
	}
}

func TestSubscriber_GetsEveryEventInOrderOfItsKeyThroughKafka(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.CatchUpAfter = time.Hour // by Kafka alone
	e.relay()
	got := newSeen()
	e.subscribe(events.Subscriber{Name: "one", FromStart: true, Handle: got.handle})
	e.subscribe(events.Subscriber{Name: "one", FromStart: true, Handle: got.handle}) // another process of it
	other := newSeen()
	e.subscribe(events.Subscriber{Name: "other", FromStart: true, Types: []string{"asset.updated"}, Handle: other.handle})
	var hashes []library.AssetHash
	for i := range 4 {
		hashes = append(hashes, e.add(fmt.Sprint(i)))
	}
	for i := range 20 {
		e.retitle(hashes[i%4], fmt.Sprint("title ", i))
	}
	e.eventually(time.Minute, func() string {
		log := e.logged()
		if len(log) < 24 {
			return "the log is not complete"
		}
		updates := slices.DeleteFunc(slices.Clone(log), func(x events.Event) bool { return x.Type != "asset.updated" })
		return got.wrong(log) + other.wrong(updates)
	})
	if n := other.count(); n != 20 {
		t.Errorf("a subscriber of updates got %d events, want 20", n)
	}
}

func TestSubscriber_LosesNoEventWithTheTopic(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.CatchUpAfter = time.Second
	stopRelay := e.relay()
	got := newSeen()
	s := events.Subscriber{Name: "one", FromStart: true, Handle: got.handle}
	stop := e.subscribe(s)
	h := e.add("a")
	e.eventually(time.Minute, func() string { return got.wrong(e.logged()) + noneBut(got.count(), 1) })
	stop()
	for i := range 20 { // they wait in Kafka
		e.retitle(h, fmt.Sprint("lost ", i))
	}
	e.eventually(time.Minute, func() string { return noneBut(e.unpublished(), 0) + noneBut(len(e.logged()), 21) })
	stopRelay()
	if err := testenv.DeleteTopic(t.Context(), e.cfg.Brokers, e.cfg.Topic()); err != nil {
		t.Fatal(err)
	}
	e.relay()
	e.subscribe(s)
	for i := range 5 {
		e.retitle(h, fmt.Sprint("after ", i))
	}
	e.eventually(time.Minute, func() string { return noneBut(len(e.logged()), 26) + got.wrong(e.logged()) })
}

func TestSubscriber_GetsEventsWhileKafkaIsAway(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.Brokers, e.cfg.CatchUpAfter = []string{"127.0.0.1:1"}, 100*time.Millisecond
	e.relay()
	got := newSeen()
	e.subscribe(events.Subscriber{Name: "one", FromStart: true, Handle: got.handle})
	h := e.add("a")
	for i := range 10 {
		e.retitle(h, fmt.Sprint(i))
	}
	e.eventually(time.Minute, func() string { return noneBut(len(e.logged()), 11) + got.wrong(e.logged()) })
}

func TestSubscriber_StartsWithTheNextEventUnlessItAsksForAll(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.relay()
	before := e.add("before")
	e.eventually(time.Minute, func() string { return noneBut(len(e.logged()), 1) })
	if err := e.store.Subscribers.Add(t.Context(), "late", false); err != nil {
		t.Fatal(err)
	}
	got := newSeen()
	e.subscribe(events.Subscriber{Name: "late", Handle: got.handle})
	e.retitle(before, "after")
	e.eventually(time.Minute, func() string { return noneBut(got.count(), 1) })
	if got.times[e.logged()[0].Position] != 0 {
		t.Error("it got an event from before its start")
	}
}

func TestSubscriber_AnEventThatKeepsFailingBecomesADeadLetterAndIsReplayed(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.relay()
	got := newSeen()
	var mu sync.Mutex
	broken := true
	calls := 0
	poison := e.add("poison")
	e.subscribe(events.Subscriber{Name: "one", FromStart: true, Attempts: 2, Handle: func(ctx context.Context, x events.Event) error {
		mu.Lock()
		defer mu.Unlock()
		if broken && x.Key == "asset/"+string(poison) {
			if calls++; calls%2 == 0 {
				panic("this event ends the handler")
			}
			return errors.New("this event cannot be handled")
		}
		return got.handle(ctx, x)
	}})
	for i := range 20 {
		e.add(fmt.Sprint(i))
	}
	e.eventually(time.Minute, func() string { return noneBut(got.count(), 20) + noneBut(len(e.deadLetters("one")), 1) })
	letters := e.deadLetters("one")
	if len(letters) != 1 || letters[0].Key != "asset/"+string(poison) || letters[0].Reason == "" {
		t.Fatalf("dead letters: %+v", letters)
	}
	mu.Lock()
	broken = false
	mu.Unlock()
	if n, err := e.store.Subscribers.ReplayDeadLetters(t.Context(), "one"); n != 1 || err != nil {
		t.Fatalf("%d dead letters replayed, error %v", n, err)
	}
	e.eventually(time.Minute, func() string { return noneBut(len(e.deadLetters("one")), 0) + got.wrong(e.logged()) })
}

func TestSubscriber_WaitsForWhatIsAwayAndBuriesNothing(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.cfg.CatchUpAfter = 200 * time.Millisecond
	e.relay()
	got := newSeen()
	var mu sync.Mutex
	away := true
	refused := 0
	e.subscribe(events.Subscriber{Name: "one", FromStart: true, Attempts: 1, Handle: func(ctx context.Context, x events.Event) error {
		mu.Lock()
		defer mu.Unlock()
		if away {
			refused++
			return &library.Error{Kind: library.KindUnavailable, Code: library.CodeStoreUnavailable, Detail: "away"}
		}
		return got.handle(ctx, x)
	}})
	h := e.add("a")
	e.retitle(h, "b")
	e.eventually(time.Minute, func() string {
		mu.Lock()
		defer mu.Unlock()
		if refused < 3 {
			return "it was not tried again"
		}
		return ""
	})
	mu.Lock()
	away = false
	mu.Unlock()
	e.eventually(time.Minute, func() string { return noneBut(len(e.logged()), 2) + got.wrong(e.logged()) })
	if n := len(e.deadLetters("one")); n != 0 {
		t.Errorf("%d dead letters, want none", n)
	}
}

func TestSubscriberStates_CountWhatWaits(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.relay()
	if err := e.store.Subscribers.Add(t.Context(), "idle", true); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		e.add(fmt.Sprint(i))
	}
	e.eventually(time.Minute, func() string {
		states, err := e.store.Subscribers.States(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(states) != 1 || states[0].Waiting != 3 || states[0].Oldest <= 0 {
			return fmt.Sprintf("states %+v", states)
		}
		return ""
	})
}

func TestForgetEvents_KeepsThirtyDaysAndWhatIsNotPublished(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for i := range 4 {
		e.add(fmt.Sprint(i))
	}
	if n, err := e.store.Events.Log(t.Context(), 100); n != 4 || err != nil {
		t.Fatalf("%d events logged, error %v", n, err)
	}
	e.exec(`UPDATE events SET at = now() - interval '31 days' WHERE position IN (1, 2, 4)`)
	e.exec(`INSERT INTO event_publishing (position) VALUES (3)`)
	if n, err := e.store.Events.Forget(t.Context(), 100); n != 2 || err != nil {
		t.Fatalf("%d events forgotten, error %v", n, err)
	}
	if l := e.logged(); len(l) != 2 || l[0].Position != 3 || l[1].Position != 4 {
		t.Errorf("the log has %+v", l)
	}
}

func noneBut(have, want int) string {
	if have != want {
		return fmt.Sprintf("%d, want %d; ", have, want)
	}
	return ""
}

func (e *env) deadLetters(subscriber string) []store.DeadLetter {
	e.Helper()
	list, err := e.store.Subscribers.DeadLetters(e.Context(), subscriber, 0, 1000)
	if err != nil {
		e.Fatal(err)
	}
	return list
}

// unpublished counts the events of the log that Kafka does not have.
func (e *env) unpublished() (n int) {
	e.Helper()
	if err := e.owner.QueryRow(e.Context(), `SELECT count(*) FROM events WHERE position > (SELECT position FROM event_publishing)`).Scan(&n); err != nil {
		e.Fatal(err)
	}
	return n
}
