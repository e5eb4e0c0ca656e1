package indexer

import (
	"context"
	"time"
)

// lookEvery is how often the watchdog looks at the consumer group.
const lookEvery = 2 * time.Second

// watch keeps the gauges of the group and ends a reader that will get nothing
// more: one that sits idle beside unread messages, and one whose topic was
// deleted and made again.
func (c *consumer) watch(ctx context.Context) error {
	for {
		if err := sleep(ctx, lookEvery); err != nil {
			return err
		}
		if missing, stripped, err := c.x.store.CountIndexFailures(ctx); err == nil {
			c.x.metrics.failures.WithLabelValues("missing").Set(float64(missing))
			c.x.metrics.failures.WithLabelValues("stripped").Set(float64(stripped))
		}
		if err := c.look(ctx); err != nil {
			return err
		}
	}
}

func (c *consumer) look(ctx context.Context) error {
	short, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	list, err := c.x.bus.progress(short, c.x.cfg.changesTopic(), c.x.cfg.group())
	if err != nil {
		// The topic itself may be gone; making it again is harmless otherwise.
		_ = c.x.bus.ensureTopics(short, c.x.cfg.topics())
		return nil
	}
	lag := c.x.metrics.setLag(list)
	if c.open.Load() > 0 {
		return nil // the reader is not what is waited for
	}
	if err := c.rewind(short, list); err != nil {
		return err
	}
	idle := time.Since(time.Unix(0, c.lastFetch.Load()))
	if lag > 0 && idle > c.x.cfg.StallAfter {
		return &restart{why: "stalled"}
	}
	if lag == 0 {
		c.lastFetch.Store(time.Now().UnixNano())
	}
	return nil
}

// rewind commits the start of partitions whose committed offset lies beyond
// their end, and asks for a reader that starts there. Events that were lost with
// the old topic are the reconciler's to repair.
func (c *consumer) rewind(ctx context.Context, list []progress) error {
	var back []message
	for _, p := range list {
		if p.lost() {
			back = append(back, message{partition: p.partition, offset: p.first - 1})
		}
	}
	if len(back) == 0 {
		return nil
	}
	err := c.sub.commit(ctx, back)
	return &restart{why: "topic made anew", err: err}
}
