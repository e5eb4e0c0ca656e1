package indexer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/failpoint"
	"vitrine/internal/kafkaclient"
	"vitrine/internal/retry"
	"vitrine/store/indexstate"
)

// consumer is the life of one Kafka reader. Its stages run side by side, so that
// PostgreSQL reads one batch while OpenSearch works on the two before it; the
// batches are committed in the order in which they were fetched.
type consumer struct {
	x        *Indexer
	sub      *kafkaclient.Subscription
	watchdog *kafkaclient.Watchdog

	fetched  chan kafkaclient.Message
	batches  chan []kafkaclient.Message
	ready    chan *batchGroup
	inFlight chan *batchGroup

	started sync.WaitGroup
}

// consume reads until ctx ends, something breaks, or the watchdog asks for a
// fresh reader.
func (x *Indexer) consume(ctx context.Context) error {
	c := &consumer{
		x: x, sub: x.kafka.Subscribe(x.cfg.changesTopic(), x.cfg.group(), x.cfg.BatchEvents),
		fetched: make(chan kafkaclient.Message, x.cfg.BatchEvents), batches: make(chan []kafkaclient.Message),
		ready: make(chan *batchGroup), inFlight: make(chan *batchGroup, maxInFlight-1),
	}
	c.watchdog = newWatchdog(x.kafka, x.cfg, c.sub)
	c.watchdog.OnOffsets = c.measure
	c.watchdog.EnsureTopics = func(ctx context.Context) error { return ensureTopics(ctx, x.store, x.kafka, x.cfg) }
	g, ctx := errgroup.WithContext(ctx)
	for _, stage := range []func(context.Context) error{c.fetch, c.collect, c.read, c.write, c.commit, c.watchdog.Watch} {
		g.Go(func() error { return stage(ctx) })
	}
	err := g.Wait()
	c.started.Wait()
	c.sub.Close()
	return err
}

// measure keeps the gauges of the group and of what the index refused.
func (c *consumer) measure(list []kafkaclient.PartitionOffsets) {
	c.x.metrics.setLag(list)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := c.x.noteStream(ctx, list); err != nil {
		c.x.log.Warn("recording the offsets of the Kafka topic failed", "error", err)
	}
	if missing, partial, err := c.x.store.IndexFailures.Count(ctx, ""); err == nil {
		c.x.metrics.failures.WithLabelValues("missing").Set(float64(missing))
		c.x.metrics.failures.WithLabelValues("partial").Set(float64(partial))
	}
}

// fetch takes messages from Kafka. The client library reconnects by itself; an
// error here means that it asks for patience.
func (c *consumer) fetch(ctx context.Context) error {
	wait := retry.Outage()
	for {
		m, err := c.sub.Fetch(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.x.log.Warn("Kafka fetch failed", "error", err)
			if err := wait.Wait(ctx); err != nil {
				return err
			}
			continue
		}
		wait.Reset()
		c.watchdog.Fetched()
		select {
		case c.fetched <- m:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// collect makes batches: full ones, or what came until the topic fell quiet or
// the first event had waited long enough.
func (c *consumer) collect(ctx context.Context) error {
	quiet := c.x.cfg.BatchWait / 5
	for {
		var list []kafkaclient.Message
		select {
		case m := <-c.fetched:
			list = append(list, m)
		case <-ctx.Done():
			return ctx.Err()
		}
		c.watchdog.InFlight.Add(1)
		latest := time.NewTimer(c.x.cfg.BatchWait)
		pause := time.NewTimer(quiet)
		for full := false; !full && len(list) < c.x.cfg.BatchEvents; {
			select {
			case m := <-c.fetched:
				list = append(list, m)
				pause.Reset(quiet)
			case <-pause.C:
				full = true
			case <-latest.C:
				full = true
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		latest.Stop()
		pause.Stop()
		select {
		case c.batches <- list:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// batchGroup is what was fetched together: a batch for each index that it is about.
type batchGroup struct {
	messages []kafkaclient.Message // to commit
	batches  []*batch
	done     chan struct{}
	err      error
}

// lastMessages returns the last message of each partition, which is what a commit
// takes.
func (r *batchGroup) lastMessages() []kafkaclient.Message {
	last := map[int]kafkaclient.Message{}
	for _, m := range r.messages {
		if have, ok := last[m.Partition]; !ok || m.Offset >= have.Offset {
			last[m.Partition] = m
		}
	}
	return slices.Collect(maps.Values(last))
}

// read turns messages into documents: one read of PostgreSQL per index.
func (c *consumer) read(ctx context.Context) error {
	for {
		select {
		case list := <-c.batches:
			r, err := c.x.load(ctx, list)
			if err != nil {
				return err
			}
			select {
			case c.ready <- r:
			case <-ctx.Done():
				return ctx.Err()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// load reads what the events of some messages are about. Messages that are no
// events, or about no index of this release, are put aside.
func (x *Indexer) load(ctx context.Context, list []kafkaclient.Message) (*batchGroup, error) {
	keys := map[*Definition][]indexstate.DocumentKey{}
	events := map[*Definition]map[indexstate.DocumentKey]*Event{}
	var bad []kafkaclient.Message
	for _, m := range list {
		e, err := parseEvent(m.Value)
		def := x.definitionNamed(e.Index)
		if err == nil && def == nil {
			err = errNoSuchIndex
		}
		if err != nil {
			bad = append(bad, kafkaclient.Message{Key: m.Key, Value: m.Value, Reason: err.Error()})
			continue
		}
		if events[def] == nil {
			events[def] = make(map[indexstate.DocumentKey]*Event, len(list))
		}
		if have, ok := events[def][e.key()]; ok {
			have.merge(&e)
			continue
		}
		events[def][e.key()] = &e
		keys[def] = append(keys[def], e.key())
	}
	if err := x.deadLetterMalformed(ctx, bad); err != nil {
		return nil, err
	}
	r := &batchGroup{messages: list, done: make(chan struct{})}
	for _, def := range x.definitions {
		if len(keys[def]) == 0 {
			continue
		}
		b, err := x.of(def).read(ctx, keys[def], events[def])
		if err != nil {
			return nil, err
		}
		r.batches = append(r.batches, b)
	}
	return r, nil
}

// merge makes one event of two about the same document.
func (e *Event) merge(other *Event) {
	if other.forcesRewrite() {
		e.Reason = other.Reason
	}
	e.DocVersion = max(e.DocVersion, other.DocVersion)
	if other.At.Before(e.At) {
		e.At = other.At
	}
}

// deadLetterMalformed sends messages that no relay of ours has written to the dead letters.
func (x *Indexer) deadLetterMalformed(ctx context.Context, bad []kafkaclient.Message) error {
	if len(bad) == 0 {
		return nil
	}
	x.metrics.documents.WithLabelValues(outcomeBadEvent).Add(float64(len(bad)))
	x.log.Error("malformed messages were sent to the dead-letter topic", "count", len(bad), "topic", x.cfg.changesTopic())
	return retry.UntilDone(ctx, func(ctx context.Context) error { return x.publishDeadLetters(ctx, bad) },
		func(err error) { x.log.Warn("publishing dead letters failed; retrying", "error", err) })
}

// read makes the batch of some documents, staying through outages of PostgreSQL and
// until there is an index to write to.
func (x *Indexer) read(ctx context.Context, keys []indexstate.DocumentKey, events map[indexstate.DocumentKey]*Event) (*batch, error) {
	var b *batch
	err := retry.UntilDone(ctx, func(ctx context.Context) error {
		rows, generations, err := x.def.Read(ctx, keys)
		if err != nil {
			return err
		}
		if b = newBatch(x.def, rows, events, nil); !b.setTargets(generations) {
			b.release()
			return errNoIndex
		}
		return nil
	}, func(err error) { x.log.Warn("reading rows from the database failed; retrying", "error", err) })
	return b, err
}

var (
	errNoIndex     = errors.New("there is no index generation to write to")
	errNoSuchIndex = errors.New("the event is about an index that this release does not have")
)

// write starts a group as soon as fewer than maxInFlight are under way.
func (c *consumer) write(ctx context.Context) error {
	for {
		select {
		case r := <-c.ready:
			c.started.Go(func() {
				defer close(r.done)
				r.err = c.x.writeGroup(ctx, r)
			})
			select {
			case c.inFlight <- r:
			case <-ctx.Done():
				return ctx.Err()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (x *Indexer) writeGroup(ctx context.Context, r *batchGroup) error {
	for _, b := range r.batches {
		if err := x.writeBatch(ctx, b); err != nil {
			return err
		}
		if err := x.noteAhead(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// writeBatch writes a batch, reading it again when an index it was meant for is gone.
func (x *Indexer) writeBatch(ctx context.Context, b *batch) error {
	wait := retry.Outage()
	for {
		err := x.writer.writeBatch(ctx, b)
		if !errors.Is(err, errIndexGone) {
			return err
		}
		x.log.Warn("an index is missing; reading the index generations again", "indices", b.targets)
		x.guard.trigger()
		if err := wait.Wait(ctx); err != nil {
			return err
		}
		generations, err := x.store.Generations.List(ctx)
		if err == nil {
			b.setTargets(generations)
		}
	}
}

// commit waits for the groups in the order they were fetched in, so that no
// offset is committed before all offsets below it are delivered.
func (c *consumer) commit(ctx context.Context) error {
	for {
		select {
		case r := <-c.inFlight:
			<-r.done
			if r.err != nil {
				return r.err
			}
			if err := c.commitGroup(ctx, r); err != nil {
				return err
			}
			for _, b := range r.batches {
				b.release()
			}
			c.watchdog.InFlight.Add(-1)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// commitTimeout ends a commit that gets no answer. A commit that fails is no
// loss: the next one covers it, or the events come again.
const commitTimeout = 10 * time.Second

func (c *consumer) commitGroup(ctx context.Context, r *batchGroup) error {
	now := time.Now()
	for _, b := range r.batches {
		for i := range b.items {
			if at := b.items[i].at; !at.IsZero() && !b.items[i].deadLettered {
				c.x.metrics.latency.Observe(max(0, now.Sub(at).Seconds()))
			}
		}
	}
	if err := failpoint.Inject("indexer.before_commit"); err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, commitTimeout)
	defer cancel()
	if err := c.sub.Commit(short, r.lastMessages()); err != nil && ctx.Err() == nil {
		c.x.log.Warn("committing offsets failed; their events may be delivered again", "error", err)
	}
	return failpoint.Inject("indexer.after_commit")
}
