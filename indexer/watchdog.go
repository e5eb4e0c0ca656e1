package indexer

import (
	"context"
	"sync/atomic"
	"time"
)

// lookEvery is how often the watchdog looks at the consumer group.
const lookEvery = 2 * time.Second

// watchdog ends a reader that will get nothing more: one that sits idle beside
// unread messages, and one whose topic was deleted and made again. The client
// library's reader does not notice either by itself.
type watchdog struct {
	bus   *bus
	cfg   Config
	topic string
	group string
	sub   *subscription
	// looked is told what the group has and has not settled; it may be nil.
	looked func([]progress)

	lastFetch atomic.Int64 // when the last message came, in nanoseconds since 1970
	open      atomic.Int64 // batches between fetch and commit: while there are some, the reader is not what is waited for
}

func newWatchdog(b *bus, cfg Config, group string, sub *subscription) *watchdog {
	w := &watchdog{bus: b, cfg: cfg, topic: cfg.changesTopic(), group: group, sub: sub}
	w.fetched()
	return w
}

// fetched says that the reader is alive.
func (w *watchdog) fetched() { w.lastFetch.Store(time.Now().UnixNano()) }

// watch looks until ctx ends or the reader must be opened anew, which it gives
// as a restart.
func (w *watchdog) watch(ctx context.Context) error {
	for {
		if err := sleep(ctx, lookEvery); err != nil {
			return err
		}
		if err := w.look(ctx); err != nil {
			return err
		}
	}
}

func (w *watchdog) look(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	list, err := w.bus.progress(short, w.topic, w.group)
	if err != nil {
		// Kafka may be away, or the topic deleted; only the second can be mended here.
		if w.looked != nil {
			_ = w.bus.ensureTopics(short, w.cfg.topics())
		}
		return nil
	}
	if w.looked != nil {
		w.looked(list)
	}
	if w.open.Load() > 0 {
		return nil
	}
	if err := w.rewind(short, list); err != nil {
		return err
	}
	idle := time.Since(time.Unix(0, w.lastFetch.Load()))
	if idle > w.cfg.StallAfter && w.unread(short, list) > 0 {
		return &restart{why: "stalled"}
	}
	return nil
}

// unread counts the messages that this reader, or nobody, is there to read. The
// partitions of other members are not its concern: a new reader would only make
// the group deal its partitions anew.
func (w *watchdog) unread(ctx context.Context, list []progress) (n int64) {
	owners, err := w.bus.owners(ctx, w.topic, w.group)
	if err != nil {
		return 0
	}
	for _, p := range list {
		if owner, owned := owners[p.partition]; !owned || owner == w.sub.client {
			n += p.lag()
		}
	}
	return n
}

// rewind commits the start of partitions whose committed offset lies beyond
// their end, and asks for a reader that starts there. Events that were lost with
// the old topic are the reconciler's to repair.
func (w *watchdog) rewind(ctx context.Context, list []progress) error {
	var back []message
	for _, p := range list {
		if p.lost() {
			back = append(back, message{partition: p.partition, offset: p.first - 1})
		}
	}
	if len(back) == 0 {
		return nil
	}
	err := w.sub.commit(ctx, back)
	return &restart{why: "topic made anew", err: err}
}
