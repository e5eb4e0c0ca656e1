package indexer

import (
	"context"
	"sync/atomic"
	"time"

	"vitrine/internal/kafkaclient"
)

// watchInterval is how often the watchdog looks at the consumer group.
const watchInterval = 2 * time.Second

// watchdog ends a reader that will get nothing more: one that sits idle beside
// unread messages, and one whose topic was deleted and made again. The client
// library's reader does not notice either by itself.
type watchdog struct {
	kafka *kafkaClient
	cfg   Config
	topic string
	group string
	sub   *kafkaclient.Subscription
	// onOffsets is told what the group has and has not settled; it may be nil.
	onOffsets func([]kafkaclient.PartitionOffsets)
	// ensureTopics makes topics that somebody deleted; nil leaves that to others.
	ensureTopics func(context.Context) error

	lastFetch atomic.Int64 // when the last message came, in nanoseconds since 1970
	inFlight  atomic.Int64 // batches between fetch and commit: while there are some, the reader is not what is waited for
}

func newWatchdog(b *kafkaClient, cfg Config, group string, sub *kafkaclient.Subscription) *watchdog {
	w := &watchdog{kafka: b, cfg: cfg, topic: cfg.changesTopic(), group: group, sub: sub}
	w.fetched()
	return w
}

// fetched says that the reader is alive.
func (w *watchdog) fetched() { w.lastFetch.Store(time.Now().UnixNano()) }

// watch looks until ctx ends or the reader must be opened anew, which it gives
// as a restart.
func (w *watchdog) watch(ctx context.Context) error {
	for {
		if err := sleep(ctx, watchInterval); err != nil {
			return err
		}
		if err := w.check(ctx); err != nil {
			return err
		}
	}
}

func (w *watchdog) check(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	list, err := w.kafka.Offsets(short, w.topic, w.group)
	if err != nil {
		// Kafka may be away, or the topic deleted; only the second can be mended here.
		if w.ensureTopics != nil {
			_ = w.ensureTopics(short)
		}
		return nil
	}
	if w.onOffsets != nil {
		w.onOffsets(list)
	}
	if w.inFlight.Load() > 0 {
		return nil
	}
	if err := w.resetBeyondEnd(short, list); err != nil {
		return err
	}
	idle := time.Since(time.Unix(0, w.lastFetch.Load()))
	if idle > w.cfg.StallAfter && w.unread(short, list) > 0 {
		return &restartError{reason: "stalled"}
	}
	return nil
}

// unread counts the messages that this reader, or nobody, is there to read. The
// partitions of other members are not its concern: a new reader would only make
// the group deal its partitions anew.
func (w *watchdog) unread(ctx context.Context, list []kafkaclient.PartitionOffsets) (n int64) {
	owners, err := w.kafka.PartitionOwners(ctx, w.topic, w.group)
	if err != nil {
		return 0
	}
	for _, p := range list {
		if owner, owned := owners[p.Partition]; !owned || owner == w.sub.Client {
			n += p.Lag()
		}
	}
	return n
}

// resetBeyondEnd commits the start of partitions whose committed offset lies beyond
// their end, and asks for a reader that starts there. Events that were lost with
// the old topic are the reconciler's to repair.
func (w *watchdog) resetBeyondEnd(ctx context.Context, list []kafkaclient.PartitionOffsets) error {
	var back []kafkaclient.Message
	for _, p := range list {
		if p.BeyondEnd() {
			back = append(back, kafkaclient.Message{Partition: p.Partition, Offset: p.First - 1})
		}
	}
	if len(back) == 0 {
		return nil
	}
	err := w.sub.Commit(ctx, back)
	return &restartError{reason: "topic_recreated", err: err}
}
