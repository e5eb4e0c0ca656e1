package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/kafkaclient"
	"vitrine/internal/panics"
	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/store"
)

// Subscriber is who wants events, and what it does with them.
type Subscriber struct {
	// Name names its positions, its consumer group and its metrics. It never changes: a
	// new name is a new subscriber.
	Name string
	// Types are the types that Handle gets; nil means all.
	Types []string
	// FromStart makes a new subscriber begin with the oldest event that is kept,
	// and not with the next one.
	FromStart bool
	// Handle does the work for one event. It is called at least once for each, so its
	// effect must be the same when it is called again, and for the events of one key in
	// their order. An error of the kind library.KindUnavailable says that what Handle
	// needs is away: the event waits, and those behind it in its shard too. After any other
	// error Handle is called again, and in the end the event becomes a dead letter.
	Handle func(ctx context.Context, e Event) error
	// Timeout bounds one call of Handle; 0 means 30 s, which is also the most.
	Timeout time.Duration
	// Attempts is how often Handle is called before the event becomes a dead letter; 0 means 4.
	Attempts int
}

const (
	maxTimeout = 30 * time.Second // below the time after which the database ends an idle transaction
	attempts   = 4
	// parallel is how many shards one subscriber handles at once in this process.
	parallel = 2
	// batchEvents is how many events are handled before the position is stored at the latest.
	batchEvents = 64
	// batchWait is how long a batch from Kafka waits for more.
	batchWait = 20 * time.Millisecond
	// measureEvery is how often the metrics of subscribers are read.
	measureEvery = 5 * time.Second
	// stallAfter is how long a reader may sit idle beside unread messages.
	stallAfter = 15 * time.Second
)

// Run serves subscribers until ctx ends and then returns nil. It outlives any failure
// of PostgreSQL and Kafka. Any number of processes may run the same subscribers.
func Run(ctx context.Context, st *store.Store, cfg Config, m *Metrics, subscribers ...Subscriber) error {
	cfg = cfg.withDefaults()
	var g errgroup.Group
	for _, s := range subscribers {
		if s.Timeout == 0 || s.Timeout > maxTimeout {
			s.Timeout = maxTimeout
		}
		if s.Attempts == 0 {
			s.Attempts = attempts
		}
		r := &runner{Subscriber: s, store: st, cfg: cfg, metrics: m, log: cfg.Log.With("service", s.Name)}
		g.Go(func() error { return r.run(ctx) })
	}
	g.Go(func() error {
		for ctx.Err() == nil {
			if list, err := st.Subscribers.States(ctx); err == nil {
				m.setStates(list)
			}
			_ = retry.Sleep(ctx, measureEvery)
		}
		return nil
	})
	return g.Wait()
}

// runner serves one subscriber.
type runner struct {
	Subscriber
	store   *store.Store
	cfg     Config
	metrics *Metrics
	log     *slog.Logger
}

func (r *runner) run(ctx context.Context) error {
	err := retry.UntilDone(ctx, func(ctx context.Context) error { return r.store.Subscribers.Add(ctx, r.Name, r.FromStart) },
		func(err error) { r.log.Warn("the subscriber cannot start yet; retrying", "error", err) })
	if err != nil {
		return nil
	}
	var g sync.WaitGroup
	g.Go(func() { r.readKafka(ctx) })
	g.Go(func() { r.catchUp(ctx) })
	g.Wait()
	return nil
}

// readKafka opens one reader after the other until ctx ends. Offsets only say what Kafka
// need not bring again: the positions in PostgreSQL say what was handled.
func (r *runner) readKafka(ctx context.Context) {
	kafka := r.cfg.client()
	defer kafka.Close()
	wait := retry.Outage()
	for ctx.Err() == nil {
		err := r.readOnce(ctx, kafka)
		var why *kafkaclient.Restart
		if err != nil && ctx.Err() == nil && !errors.As(err, &why) {
			r.log.Warn("reading events from Kafka failed; retrying, and reading the log meanwhile", "error", err)
			_ = wait.Wait(ctx)
		}
	}
}

func (r *runner) readOnce(ctx context.Context, kafka *kafkaclient.Client) error {
	short, cancel := context.WithTimeout(ctx, publishTimeout)
	_, err := kafka.EnsureTopics(short, r.cfg.topics())
	cancel()
	if err != nil {
		return err
	}
	epoch, err := r.store.IndexState.Epoch(ctx)
	if err != nil {
		return err
	}
	group := r.cfg.Prefix + r.Name
	sub := kafka.Subscribe(r.cfg.Topic(), group, batchEvents)
	defer sub.Close()
	dog := kafkaclient.NewWatchdog(kafka, r.cfg.Topic(), group, sub, stallAfter)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return dog.Watch(ctx) })
	g.Go(func() error {
		for {
			if err := r.readBatch(ctx, epoch.ID, sub, dog); err != nil {
				return err
			}
		}
	})
	return g.Wait()
}

// readBatch handles what Kafka brings next. What fails is left to catchUp.
func (r *runner) readBatch(ctx context.Context, log string, sub *kafkaclient.Subscription, dog *kafkaclient.Watchdog) error {
	m, err := sub.Fetch(ctx)
	if err != nil {
		return err
	}
	dog.InFlight.Add(1)
	defer dog.InFlight.Add(-1)
	last := map[int]kafkaclient.Message{}
	shards := map[int][]Event{}
	foreign := false
	soon, cancel := context.WithTimeout(ctx, batchWait)
	defer cancel()
	for n := 1; err == nil; n++ {
		dog.Fetched()
		last[m.Partition] = m
		if e, bad := decode(log, m.Value); bad == nil {
			shards[e.Shard] = append(shards[e.Shard], e)
		} else {
			foreign = true
			r.metrics.handled.WithLabelValues(r.Name, "foreign").Inc()
		}
		if n == batchEvents {
			break
		}
		m, err = sub.Fetch(soon)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && soon.Err() == nil {
		return err
	}
	if foreign {
		if epoch, err := r.store.IndexState.Epoch(ctx); err == nil && epoch.ID != log {
			return &kafkaclient.Restart{Reason: "another_epoch"}
		}
	}
	var g errgroup.Group
	g.SetLimit(parallel)
	for shard, list := range shards {
		g.Go(func() error { r.handleShard(ctx, shard, false, list); return nil })
	}
	_ = g.Wait()
	done := make([]kafkaclient.Message, 0, len(last))
	for _, m := range last {
		done = append(done, m)
	}
	return sub.Commit(ctx, done)
}

// catchUp reads from the log what Kafka does not bring, and tries dead letters again
// that somebody replays.
func (r *runner) catchUp(ctx context.Context) {
	for ctx.Err() == nil {
		_ = retry.Sleep(ctx, min(r.cfg.CatchUpAfter, 2*time.Second)/2)
		shards, err := r.store.Subscribers.LateShards(ctx, r.Name, r.cfg.CatchUpAfter)
		if err != nil {
			continue // the database is away
		}
		var g errgroup.Group
		g.SetLimit(parallel)
		for _, shard := range shards {
			g.Go(func() error { r.handleShard(ctx, shard, true, nil); return nil })
		}
		_ = g.Wait()
		for ctx.Err() == nil {
			found, err := r.store.Subscribers.Replay(ctx, r.Name, func(e Event) error { return r.call(ctx, e) })
			if err != nil || !found {
				break
			}
		}
	}
}

// handleShard takes a turn at a shard and handles events of it: those that Kafka brought
// as long as they follow the position without a gap, and else those of the log.
func (r *runner) handleShard(ctx context.Context, shard int, skip bool, brought []Event) {
	err := r.store.Subscribers.TakeShard(ctx, r.Name, shard, skip, func(t *store.ShardTurn) error {
		if err := r.handleAll(ctx, t, follow(brought, t.Position)); err != nil {
			return err
		}
		if len(brought) > 0 && brought[len(brought)-1].Position <= t.Position {
			return nil
		}
		for {
			list, err := t.Next(ctx, batchEvents)
			if err != nil || len(list) == 0 {
				return err
			}
			if err := r.handleAll(ctx, t, list); err != nil {
				return err
			}
			r.metrics.late.WithLabelValues(r.Name).Add(float64(len(list)))
			if len(list) < batchEvents {
				return nil
			}
		}
	})
	if err != nil && ctx.Err() == nil {
		r.log.Warn("events wait: handling them failed", "shard", shard, "error", err)
	}
}

// follow returns those of the events that follow a position without a gap, in order.
func follow(list []Event, position int64) []Event {
	slices.SortFunc(list, func(a, b Event) int { return int(a.Position - b.Position) })
	var out []Event
	for _, e := range list {
		switch {
		case e.Position <= position: // it comes again
		case e.Previous == position:
			out, position = append(out, e), e.Position
		default:
			return out
		}
	}
	return out
}

// handleAll handles events in order and stores the position behind each: events that
// were handled stay so whatever becomes of the next.
func (r *runner) handleAll(ctx context.Context, t *store.ShardTurn, list []Event) error {
	for i, e := range list {
		if r.Types != nil && !slices.Contains(r.Types, e.Type) {
			if i == len(list)-1 {
				return t.Handled(ctx, e.Position)
			}
			continue
		}
		outcome := "handled"
		if err := r.try(ctx, t, e); err != nil {
			if ctx.Err() != nil || library.AsError(err).Kind == library.KindUnavailable {
				return err
			}
			outcome = "dead_lettered"
			r.log.Error("handling an event failed; it became a dead letter", "position", e.Position, "type", e.Type, "tenant", e.Tenant, "error", err)
			if err := t.DeadLetter(ctx, e, store.Reason(err)); err != nil {
				return err
			}
		}
		if err := t.Handled(ctx, e.Position); err != nil {
			return err
		}
		r.metrics.handled.WithLabelValues(r.Name, outcome).Inc()
	}
	return nil
}

// try calls Handle until it succeeds or has failed often enough.
func (r *runner) try(ctx context.Context, t *store.ShardTurn, e Event) (err error) {
	b := retry.Outage()
	for range r.Attempts - 1 {
		if err = r.call(ctx, e); err == nil || ctx.Err() != nil || library.AsError(err).Kind == library.KindUnavailable {
			return err
		}
		r.metrics.handled.WithLabelValues(r.Name, "retried").Inc()
		if err := errors.Join(b.Wait(ctx), t.Keep(ctx)); err != nil {
			return &library.Error{Kind: library.KindUnavailable, Code: library.CodeStoreUnavailable, Detail: "The database ended the transaction.", Cause: err}
		}
	}
	return r.call(ctx, e)
}

// call calls Handle once. A panic of it is an error.
func (r *runner) call(ctx context.Context, e Event) error {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	if err := panics.Try(func() error { return r.Handle(ctx, e) }); err != nil {
		return fmt.Errorf("%s of %s: %w", e.Type, e.Key, err)
	}
	return nil
}
