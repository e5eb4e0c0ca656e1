package indexer

import (
	"context"
	"fmt"
	"slices"

	"vitrine/internal/kafkaclient"
	"vitrine/store"
	"vitrine/store/indexstate"
)

// Kafka is the only one that knows of a change between its publishing and its
// document. When Kafka loses events, the assets they were about stay as they are in
// the index until something else happens to them. So what is seen of the topic is
// remembered in the database, and where less is there than was, the whole index is
// compared.

// noteStream remembers what is seen of the topic, and wants a comparison where events
// were lost.
func (x *Indexer) noteStream(ctx context.Context, list []kafkaclient.PartitionOffsets) error {
	cluster, err := x.kafka.ClusterID(ctx)
	if err != nil {
		return err
	}
	now := indexstate.Stream{Cluster: cluster, Partitions: make(map[int]indexstate.Partition, len(list))}
	for _, p := range list {
		now.Partitions[p.Partition] = indexstate.Partition{First: p.First, End: p.End, Committed: p.Committed}
	}
	if err := x.store.IndexState.NoteStream(ctx, now, func(before *indexstate.Stream) string { return lostEvents(before, now) }); err != nil {
		return err
	}
	return noteLostTopic(ctx, x.store, x.kafka)
}

// lostEvents reports how events were lost between two looks at the topic, or returns "".
// Without an earlier look nothing is known to be lost.
func lostEvents(before *indexstate.Stream, now indexstate.Stream) string {
	if before == nil {
		return ""
	}
	if before.Cluster != now.Cluster {
		return "Kafka is another cluster than before"
	}
	for n, was := range before.Partitions {
		is, there := now.Partitions[n]
		switch {
		case !there:
			return fmt.Sprintf("partition %d of the topic of changes is gone", n)
		case is.End < was.End:
			return fmt.Sprintf("partition %d of the topic of changes ends at %d and ended at %d before", n, is.End, was.End)
		case is.Committed < 0 && was.Committed >= 0:
			return fmt.Sprintf("Kafka has forgotten how far partition %d of the topic of changes was indexed", n)
		case is.First > was.First && is.First > max(is.Committed, 0):
			return fmt.Sprintf("Kafka has deleted events of partition %d of the topic of changes that were not indexed", n)
		}
	}
	return ""
}

// ensureTopics makes the topics that are missing, and remembers where it had to make a
// topic of changes although there had been one. Nobody has seen one of a library whose
// first assets are only just being stored.
func ensureTopics(ctx context.Context, st *store.Store, b *kafkaClient, cfg Config) error {
	seen, err := st.IndexState.StreamSeen(ctx)
	if err != nil {
		return err
	}
	made, err := b.EnsureTopics(ctx, cfg.topics())
	if seen && slices.Contains(made, cfg.changesTopic()) {
		b.lostTopic.Store(true)
	}
	return err
}

// noteLostTopic wants a comparison where this process has made the topic of changes
// again: what the one before held is lost.
func noteLostTopic(ctx context.Context, st *store.Store, b *kafkaClient) error {
	if !b.lostTopic.Load() {
		return nil
	}
	err := st.IndexState.WantComparison(ctx, "Kafka had lost the topic of changes")
	if err == nil {
		b.lostTopic.Store(false)
	}
	return err
}
