package kafkaclient

import (
	"context"
	"sync/atomic"
	"time"

	"vitrine/internal/retry"
)

// watchInterval is how often the watchdog looks at the consumer group.
const watchInterval = 2 * time.Second

// Watchdog ends a reader that will get nothing more: one that sits idle beside
// unread messages, and one whose topic was deleted and made again. The client
// library's reader does not notice either by itself.
type Watchdog struct {
	client     *Client
	topic      string
	group      string
	sub        *Subscription
	stallAfter time.Duration
	// OnOffsets is called with what the group has and has not committed; it may be nil.
	OnOffsets func([]PartitionOffsets)
	// EnsureTopics makes topics that somebody deleted; nil leaves that to others.
	EnsureTopics func(context.Context) error

	lastFetch atomic.Int64 // when the last message came, in nanoseconds since 1970
	InFlight  atomic.Int64 // batches between fetch and commit: while there are some, the reader is not what is waited for
}

// NewWatchdog returns a watchdog of one reader of a group, which may sit idle beside
// unread messages for stallAfter.
func NewWatchdog(client *Client, topic, group string, sub *Subscription, stallAfter time.Duration) *Watchdog {
	w := &Watchdog{client: client, topic: topic, group: group, sub: sub, stallAfter: stallAfter}
	w.Fetched()
	return w
}

// Restart is the error by which a watchdog ends a reader on purpose.
type Restart struct {
	Reason string // a word
	Err    error
}

// Error implements error.
func (r *Restart) Error() string {
	if r.Err != nil {
		return r.Reason + ": " + r.Err.Error()
	}
	return r.Reason
}

// Unwrap returns the error behind the restart, or nil.
func (r *Restart) Unwrap() error { return r.Err }

// Fetched records that the reader is alive.
func (w *Watchdog) Fetched() { w.lastFetch.Store(time.Now().UnixNano()) }

// Watch looks until ctx ends or the reader must be opened anew, which it gives
// as a restart.
func (w *Watchdog) Watch(ctx context.Context) error {
	for {
		if err := retry.Sleep(ctx, watchInterval); err != nil {
			return err
		}
		if err := w.check(ctx); err != nil {
			return err
		}
	}
}

func (w *Watchdog) check(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	list, err := w.client.Offsets(short, w.topic, w.group)
	if err != nil {
		// Kafka may be away, or the topic deleted; only the second can be mended here.
		if w.EnsureTopics != nil {
			_ = w.EnsureTopics(short)
		}
		return nil
	}
	if w.OnOffsets != nil {
		w.OnOffsets(list)
	}
	if w.InFlight.Load() > 0 {
		return nil
	}
	if err := w.resetBeyondEnd(short, list); err != nil {
		return err
	}
	idle := time.Since(time.Unix(0, w.lastFetch.Load()))
	if idle > w.stallAfter && w.Unread(short, list) > 0 {
		return &Restart{Reason: "stalled"}
	}
	return nil
}

// Unread counts the messages that this reader, or nobody, is there to read. The
// partitions of other members are not its concern: a new reader would only make
// the group deal its partitions anew.
func (w *Watchdog) Unread(ctx context.Context, list []PartitionOffsets) (n int64) {
	owners, err := w.client.PartitionOwners(ctx, w.topic, w.group)
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
func (w *Watchdog) resetBeyondEnd(ctx context.Context, list []PartitionOffsets) error {
	var back []Message
	for _, p := range list {
		if p.BeyondEnd() {
			back = append(back, Message{Partition: p.Partition, Offset: p.First - 1})
		}
	}
	if len(back) == 0 {
		return nil
	}
	err := w.sub.Commit(ctx, back)
	return &Restart{Reason: "topic_recreated", Err: err}
}
