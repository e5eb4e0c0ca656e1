// Package kafkaclient is all that Vitrine needs of Kafka: making topics, writing to
// them with every replica's acknowledgement, reading them as a consumer group, and
// telling where a group stands. No other package of the product knows the client
// library, so exchanging that library is a change of this package.
package kafkaclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"
)

// Message is one record of a topic.
type Message struct {
	Partition  int
	Offset     int64
	Key, Value []byte
	Reason     string // of a dead letter; a header
}

// Client talks to one Kafka cluster. It is safe for concurrent use.
type Client struct {
	brokers   []string
	transport *kafka.Transport
	dialer    *kafka.Dialer
	client    *kafka.Client
}

// DialFunc opens a connection; tests cut it.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// New returns a client for brokers that let everybody in. It connects when it is used;
// dial may be nil.
func New(brokers []string, dial DialFunc) *Client {
	c, _ := NewSecure(brokers, Security{}, dial) // it has no login that could be wrong
	return c
}

// NewSecure returns a client that connects as security says. It fails where that cannot
// be used whatever the brokers say. It connects when it is used; dial may be nil.
func NewSecure(brokers []string, security Security, dial DialFunc) (*Client, error) {
	login, err := security.login()
	if err != nil {
		return nil, err
	}
	transport := &kafka.Transport{
		Dial: dial, DialTimeout: 3 * time.Second, TLS: security.TLS, SASL: login,
		// A broker that comes back with other partitions is noticed this fast.
		MetadataTTL: 2 * time.Second,
		IdleTimeout: time.Minute, ClientID: "vitrine",
	}
	dialer := &kafka.Dialer{ClientID: "vitrine", Timeout: 3 * time.Second, DualStack: true, DialFunc: dial, TLS: security.TLS, SASLMechanism: login}
	return &Client{
		brokers: brokers, transport: transport, dialer: dialer,
		client: &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: 5 * time.Second, Transport: transport},
	}, nil
}

// Close ends idle connections.
func (b *Client) Close() { b.transport.CloseIdleConnections() }

// CountBrokers asks the cluster how many brokers it has.
func (b *Client) CountBrokers(ctx context.Context) (int, error) {
	res, err := b.client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return 0, err
	}
	return len(res.Brokers), nil
}

// EnsureTopics makes the topics that are missing, each with its number of partitions,
// and waits until each partition has a leader. A reader that is opened while its topic
// is being made would never get anything. It returns the topics that it made.
func (b *Client) EnsureTopics(ctx context.Context, partitions map[string]int) (made []string, err error) {
	req := &kafka.CreateTopicsRequest{}
	for topic, n := range partitions {
		// A replication factor of -1 is the broker's default.
		req.Topics = append(req.Topics, kafka.TopicConfig{Topic: topic, NumPartitions: n, ReplicationFactor: -1})
	}
	res, err := b.client.CreateTopics(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("creating the topics: %w", err)
	}
	for topic, err := range res.Errors {
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
			return made, fmt.Errorf("creating the topic %s: %w", topic, err)
		}
		if err == nil {
			made = append(made, topic)
		}
	}
	for topic := range partitions {
		if err := b.awaitLeaders(ctx, topic); err != nil {
			return made, err
		}
	}
	return made, nil
}

// ClusterID names the Kafka cluster. One whose data was lost has another name.
func (b *Client) ClusterID(ctx context.Context) (string, error) {
	res, err := b.client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return "", err
	}
	return res.ClusterID, nil
}

func (b *Client) awaitLeaders(ctx context.Context, topic string) error {
	for {
		_, err := b.Partitions(ctx, topic)
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

// Partitions lists the partitions of a topic, all of which have a leader.
func (b *Client) Partitions(ctx context.Context, topic string) ([]int, error) {
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

func (b *Client) dial(ctx context.Context) (*kafka.Conn, error) {
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

// Publisher writes to one topic.
type Publisher struct{ w *kafka.Writer }

// Publisher returns a publisher of a topic. Messages with the same key go to the same
// partition. Close it after its last use.
func (b *Client) Publisher(topic string) *Publisher {
	return &Publisher{&kafka.Writer{
		Addr: kafka.TCP(b.brokers...), Topic: topic, Transport: b.transport,
		Balancer: &kafka.Hash{}, // one asset, one partition
		// The zero value would be fire-and-forget, and wait a second for a full batch.
		RequiredAcks: kafka.RequireAll, BatchTimeout: 5 * time.Millisecond, BatchSize: 1000,
		MaxAttempts: 3, WriteBackoffMin: 20 * time.Millisecond, WriteBackoffMax: 200 * time.Millisecond,
		ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
	}}
}

// Publish returns once every replica in sync has all messages. After an error
// some of them may have been written all the same.
func (p *Publisher) Publish(ctx context.Context, list []Message) error {
	out := make([]kafka.Message, len(list))
	for i, m := range list {
		out[i] = kafka.Message{Key: m.Key, Value: m.Value}
		if m.Reason != "" {
			out[i].Headers = []kafka.Header{{Key: "reason", Value: []byte(m.Reason)}}
		}
	}
	return p.w.WriteMessages(ctx, out...)
}

// Close sends what is left and ends the publisher.
func (p *Publisher) Close() error { return p.w.Close() }

// Subscription reads one topic as a member of a consumer group. After a
// rebalance it may still hand out messages fetched before; writes under external
// versions make that harmless.
type Subscription struct {
	topic  string
	Client string // by which the group knows this reader and no other
	r      *kafka.Reader
}

// Subscribe joins a consumer group that reads a topic; queue is how many messages are
// fetched ahead. A group without offsets begins at the oldest message.
func (b *Client) Subscribe(topic, group string, queue int) *Subscription {
	dialer := *b.dialer
	dialer.ClientID = "vitrine-" + uuid.NewString()
	return &Subscription{topic, dialer.ClientID, kafka.NewReader(kafka.ReaderConfig{
		Brokers: b.brokers, Dialer: &dialer, GroupID: group, Topic: topic,
		StartOffset: kafka.FirstOffset, QueueCapacity: queue,
		MinBytes: 1, MaxBytes: 4 << 20, MaxWait: time.Second, // of an empty topic: a message that comes is answered at once
		ReadBackoffMin: 5 * time.Millisecond, ReadBackoffMax: 500 * time.Millisecond, ReadLagInterval: -1,
		HeartbeatInterval: time.Second, SessionTimeout: 10 * time.Second, RebalanceTimeout: 10 * time.Second,
		JoinGroupBackoff: 200 * time.Millisecond, WatchPartitionChanges: true, PartitionWatchInterval: 5 * time.Second,
		GroupBalancers: []kafka.GroupBalancer{kafka.RoundRobinGroupBalancer{}},
	})}
}

// Fetch returns the next message, without committing anything.
func (s *Subscription) Fetch(ctx context.Context) (Message, error) {
	m, err := s.r.FetchMessage(ctx)
	return Message{Partition: m.Partition, Offset: m.Offset, Key: m.Key, Value: m.Value}, err
}

// Commit records that each partition is done up to and including these messages.
func (s *Subscription) Commit(ctx context.Context, list []Message) error {
	out := make([]kafka.Message, len(list))
	for i, m := range list {
		out[i] = kafka.Message{Topic: s.topic, Partition: m.Partition, Offset: m.Offset}
	}
	return s.r.CommitMessages(ctx, out...)
}

// Close leaves the group. It gives up after a while, because a broker that is
// down is no reason to stay.
func (s *Subscription) Close() {
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

// PartitionOffsets is how far a consumer group is in one partition.
type PartitionOffsets struct {
	Partition int
	Committed int64 // next offset to read; -1 when the group has none yet
	First     int64 // oldest offset that is still there
	End       int64 // offset of the next message to be written
}

// Lag counts the messages the group has not committed.
func (p PartitionOffsets) Lag() int64 {
	return max(0, p.End-max(p.Committed, p.First))
}

// BeyondEnd reports an offset beyond the end of the partition: the topic was deleted
// and made again, and a reader would wait for that offset for ever.
func (p PartitionOffsets) BeyondEnd() bool { return p.Committed > p.End }

// PartitionOwners reports which client of a group reads each partition of a topic. A
// partition that nobody reads is not in it.
func (b *Client) PartitionOwners(ctx context.Context, topic, group string) (map[int]string, error) {
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

// Offsets returns how far a consumer group is in each partition of a topic.
func (b *Client) Offsets(ctx context.Context, topic, group string) ([]PartitionOffsets, error) {
	ids, err := b.Partitions(ctx, topic)
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
	byID := map[int]*PartitionOffsets{}
	list := make([]PartitionOffsets, len(ids))
	for i, id := range ids {
		list[i] = PartitionOffsets{Partition: id, Committed: -1}
		byID[id] = &list[i]
	}
	for _, o := range offsets.Topics[topic] {
		if o.Error != nil {
			return nil, o.Error
		}
		byID[o.Partition].First, byID[o.Partition].End = o.FirstOffset, o.LastOffset
	}
	for _, c := range committed.Topics[topic] {
		if c.Error != nil {
			return nil, c.Error
		}
		byID[c.Partition].Committed = c.CommittedOffset
	}
	return list, nil
}
