package indexer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"
)

// message is one record of a topic.
type message struct {
	partition  int
	offset     int64
	key, value []byte
	reason     string // of a dead letter
}

// kafkaClient is all this package needs of Kafka. No other file knows the client
// library, so exchanging that library is a change of this file.
type kafkaClient struct {
	brokers   []string
	transport *kafka.Transport
	dialer    *kafka.Dialer
	client    *kafka.Client
	lostTopic atomic.Bool // the topic of changes was made here in the place of one that is gone with what it held
}

// dialFunc opens a connection; tests cut it.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func newKafkaClient(brokers []string, dial dialFunc) *kafkaClient {
	transport := &kafka.Transport{
		Dial: dial, DialTimeout: 3 * time.Second,
		// A broker that comes back with other partitions is noticed this fast.
		MetadataTTL: 2 * time.Second,
		IdleTimeout: time.Minute, ClientID: "vitrine",
	}
	dialer := &kafka.Dialer{ClientID: "vitrine", Timeout: 3 * time.Second, DualStack: true, DialFunc: dial}
	return &kafkaClient{
		brokers: brokers, transport: transport, dialer: dialer,
		client: &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: 5 * time.Second, Transport: transport},
	}
}

func (b *kafkaClient) close() { b.transport.CloseIdleConnections() }

// ensureTopics makes the topics that are missing and waits until each partition
// has a leader. A reader that is opened while its topic is being made would
// never get anything. It reports whether it made the topic of changes.
func (b *kafkaClient) ensureTopics(ctx context.Context, partitions map[string]int) (made bool, err error) {
	req := &kafka.CreateTopicsRequest{}
	for topic, n := range partitions {
		// A replication factor of -1 is the broker's default.
		req.Topics = append(req.Topics, kafka.TopicConfig{Topic: topic, NumPartitions: n, ReplicationFactor: -1})
	}
	res, err := b.client.CreateTopics(ctx, req)
	if err != nil {
		return false, fmt.Errorf("creating the topics: %w", err)
	}
	for topic, err := range res.Errors {
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
			return made, fmt.Errorf("creating the topic %s: %w", topic, err)
		}
		made = made || err == nil && strings.HasSuffix(topic, changesTopic)
	}
	for topic := range partitions {
		if err := b.awaitLeaders(ctx, topic); err != nil {
			return made, err
		}
	}
	return made, nil
}

// clusterID names the Kafka cluster. One whose data was lost has another name.
func (b *kafkaClient) clusterID(ctx context.Context) (string, error) {
	res, err := b.client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return "", err
	}
	return res.ClusterID, nil
}

func (b *kafkaClient) awaitLeaders(ctx context.Context, topic string) error {
	for {
		_, err := b.partitions(ctx, topic)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the topic %s: %w", topic, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// partitions lists the partitions of a topic, all of which have a leader.
func (b *kafkaClient) partitions(ctx context.Context, topic string) ([]int, error) {
	conn, err := b.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	found, err := conn.ReadPartitions(topic)
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, p := range found {
		if p.Error != nil || p.Leader.Port == 0 {
			return nil, fmt.Errorf("partition %d of %s has no leader: %w", p.ID, topic, kafka.LeaderNotAvailable)
		}
		ids = append(ids, p.ID)
	}
	if len(ids) == 0 {
		return nil, kafka.UnknownTopicOrPartition
	}
	return ids, nil
}

func (b *kafkaClient) dial(ctx context.Context) (*kafka.Conn, error) {
	var err error
	for _, broker := range b.brokers {
		var conn *kafka.Conn
		if conn, err = b.dialer.DialContext(ctx, "tcp", broker); err == nil {
			if deadline, ok := ctx.Deadline(); ok {
				err = conn.SetDeadline(deadline)
			} else {
				err = conn.SetDeadline(time.Now().Add(5 * time.Second))
			}
			return conn, err
		}
	}
	return nil, err
}

// publisher writes to one topic.
type publisher struct{ w *kafka.Writer }

func (b *kafkaClient) publisher(topic string) *publisher {
	return &publisher{&kafka.Writer{
		Addr: kafka.TCP(b.brokers...), Topic: topic, Transport: b.transport,
		Balancer: &kafka.Hash{}, // one asset, one partition
		// The zero value would be fire-and-forget, and wait a second for a full batch.
		RequiredAcks: kafka.RequireAll, BatchTimeout: 5 * time.Millisecond, BatchSize: 1000,
		MaxAttempts: 3, WriteBackoffMin: 20 * time.Millisecond, WriteBackoffMax: 200 * time.Millisecond,
		ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
	}}
}

// publish returns once every replica in sync has all messages. After an error
// some of them may have been written all the same.
func (p *publisher) publish(ctx context.Context, list []message) error {
	out := make([]kafka.Message, len(list))
	for i, m := range list {
		out[i] = kafka.Message{Key: m.key, Value: m.value}
		if m.reason != "" {
			out[i].Headers = []kafka.Header{{Key: "reason", Value: []byte(m.reason)}}
		}
	}
	return p.w.WriteMessages(ctx, out...)
}

func (p *publisher) close() error { return p.w.Close() }

// subscription reads one topic as a member of a consumer group. After a
// rebalance it may still hand out messages fetched before; writes under external
// versions make that harmless.
type subscription struct {
	topic  string
	client string // by which the group knows this reader and no other
	r      *kafka.Reader
}

func (b *kafkaClient) subscribe(topic, group string, queue int) *subscription {
	dialer := *b.dialer
	dialer.ClientID = "vitrine-" + uuid.NewString()
	return &subscription{topic, dialer.ClientID, kafka.NewReader(kafka.ReaderConfig{
		Brokers: b.brokers, Dialer: &dialer, GroupID: group, Topic: topic,
		StartOffset: kafka.FirstOffset, QueueCapacity: queue,
		MinBytes: 1, MaxBytes: 4 << 20, MaxWait: 250 * time.Millisecond,
		ReadBackoffMin: 5 * time.Millisecond, ReadBackoffMax: 500 * time.Millisecond, ReadLagInterval: -1,
		HeartbeatInterval: time.Second, SessionTimeout: 10 * time.Second, RebalanceTimeout: 10 * time.Second,
		JoinGroupBackoff: 200 * time.Millisecond, WatchPartitionChanges: true, PartitionWatchInterval: 5 * time.Second,
		GroupBalancers: []kafka.GroupBalancer{kafka.RoundRobinGroupBalancer{}},
	})}
}

// fetch gives the next message, without committing anything.
func (s *subscription) fetch(ctx context.Context) (message, error) {
	m, err := s.r.FetchMessage(ctx)
	return message{partition: m.Partition, offset: m.Offset, key: m.Key, value: m.Value}, err
}

// commit says that each partition is done up to and including these messages.
func (s *subscription) commit(ctx context.Context, list []message) error {
	out := make([]kafka.Message, len(list))
	for i, m := range list {
		out[i] = kafka.Message{Topic: s.topic, Partition: m.partition, Offset: m.offset}
	}
	return s.r.CommitMessages(ctx, out...)
}

// close leaves the group. It gives up after a while, because a broker that is
// down is no reason to stay.
func (s *subscription) close() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.r.Close()
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
	}
}

// partitionOffsets is how far a consumer group is in one partition.
type partitionOffsets struct {
	partition int
	committed int64 // next offset to read; -1 when the group has none yet
	first     int64 // oldest offset that is still there
	end       int64 // offset of the next message to be written
}

// lag counts the messages the group has not settled.
func (p partitionOffsets) lag() int64 {
	return max(0, p.end-max(p.committed, p.first))
}

// beyondEnd reports an offset beyond the end of the partition: the topic was deleted
// and made again, and a reader would wait for that offset for ever.
func (p partitionOffsets) beyondEnd() bool { return p.committed > p.end }

// partitionOwners tells which client of a group reads each partition of a topic. A
// partition that nobody reads is not in it.
func (b *kafkaClient) partitionOwners(ctx context.Context, topic, group string) (map[int]string, error) {
	res, err := b.client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{group}})
	if err != nil {
		return nil, err
	}
	owners := map[int]string{}
	for _, g := range res.Groups {
		if g.Error != nil {
			return nil, g.Error
		}
		for _, m := range g.Members {
			for _, t := range m.MemberAssignments.Topics {
				for _, p := range t.Partitions {
					if t.Topic == topic {
						owners[p] = m.ClientID
					}
				}
			}
		}
	}
	return owners, nil
}

func (b *kafkaClient) offsets(ctx context.Context, topic, group string) ([]partitionOffsets, error) {
	ids, err := b.partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	var ask []kafka.OffsetRequest
	for _, id := range ids {
		ask = append(ask, kafka.FirstOffsetOf(id), kafka.LastOffsetOf(id))
	}
	offsets, err := b.client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{topic: ask}})
	if err != nil {
		return nil, err
	}
	committed, err := b.client.OffsetFetch(ctx, &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: ids}})
	if err != nil {
		return nil, err
	}
	if committed.Error != nil {
		return nil, committed.Error
	}
	byID := map[int]*partitionOffsets{}
	list := make([]partitionOffsets, len(ids))
	for i, id := range ids {
		list[i] = partitionOffsets{partition: id, committed: -1}
		byID[id] = &list[i]
	}
	for _, o := range offsets.Topics[topic] {
		if o.Error != nil {
			return nil, o.Error
		}
		byID[o.Partition].first, byID[o.Partition].end = o.FirstOffset, o.LastOffset
	}
	for _, c := range committed.Topics[topic] {
		if c.Error != nil {
			return nil, c.Error
		}
		byID[c.Partition].committed = c.CommittedOffset
	}
	return list, nil
}
