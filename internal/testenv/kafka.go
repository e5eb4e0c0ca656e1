package testenv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// Kafka returns the brokers and a prefix such as "t4711x0a1b2c3d-" for the names of the test's topics and consumer
// groups. Both are deleted when the test ends. Topics are not made by writing to them: see Topic.
func Kafka(t testing.TB) (brokers []string, prefix string) {
	t.Helper()
	brokers = Stack(t).KafkaBrokers
	sweepTopics(brokers)
	prefix = newName() + "-"
	t.Cleanup(func() {
		ctx, cancel := cleanupContext()
		defer cancel()
		if err := deleteTopics(ctx, brokers, func(name string) bool { return strings.HasPrefix(name, prefix) }); err != nil {
			t.Errorf("delete the topics of the test: %v", err)
		}
	})
	return brokers, prefix
}

// Topic makes a topic and waits until its partitions have a leader, so that the next write finds it.
func Topic(t testing.TB, brokers []string, name string, partitions int) {
	t.Helper()
	client, closeClient := kafkaClient(brokers)
	defer closeClient()
	made, err := client.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: name, NumPartitions: partitions, ReplicationFactor: 1}},
	})
	if err == nil {
		err = made.Errors[name]
	}
	if err == nil {
		err = awaitLeaders(t.Context(), client, name, partitions)
	}
	if err != nil {
		t.Fatalf("make the topic %s: %v", name, err)
	}
}

// DeleteTopic deletes a topic, as an operator might.
func DeleteTopic(ctx context.Context, brokers []string, topic string) error {
	client, closeClient := kafkaClient(brokers)
	defer closeClient()
	res, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err != nil {
		return err
	}
	return res.Errors[topic]
}

// awaitLeaders asks each partition's leader for its first offset: the cluster names a leader a moment before that broker
// knows it is one, and refuses writes until then.
func awaitLeaders(ctx context.Context, client *kafka.Client, name string, partitions int) error {
	var questions []kafka.OffsetRequest
	for p := range partitions {
		questions = append(questions, kafka.FirstOffsetOf(p))
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		found, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{name: questions}})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && answered(found.Topics[name]) == partitions {
			return nil
		}
	}
	return errors.New("its partitions have no leader after 10 s")
}

func answered(partitions []kafka.PartitionOffsets) (n int) {
	for _, p := range partitions {
		if p.Error == nil {
			n++
		}
	}
	return n
}

var sweptTopics sync.Once

func sweepTopics(brokers []string) {
	sweptTopics.Do(func() {
		ctx, cancel := cleanupContext()
		defer cancel()
		// Another process may be sweeping the same names; what is left is found next time.
		_ = deleteTopics(ctx, brokers, abandoned)
	})
}

// kafkaClient returns a client and what closes its connections: the library's default transport would keep them, and
// their goroutines, for the rest of the process.
func kafkaClient(brokers []string) (*kafka.Client, func()) {
	// The transport gives a request for metadata no more time than this: much less fails on a busy machine.
	transport := &kafka.Transport{MetadataTTL: 5 * time.Second}
	return &kafka.Client{Addr: kafka.TCP(brokers...), Timeout: 10 * time.Second, Transport: transport}, transport.CloseIdleConnections
}

// deleteTopics deletes the topics and consumer groups whose name is chosen. A group that still has members stays: it
// ends by itself once they are gone.
func deleteTopics(ctx context.Context, brokers []string, chosen func(name string) bool) error {
	client, closeClient := kafkaClient(brokers)
	defer closeClient()
	found, err := client.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return err
	}
	var topics []string
	for _, topic := range found.Topics {
		if chosen(topic.Name) {
			topics = append(topics, topic.Name)
		}
	}
	if len(topics) > 0 {
		deleted, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: topics})
		if err != nil {
			return err
		}
		for name, err := range deleted.Errors {
			if err != nil && !errors.Is(err, kafka.UnknownTopicOrPartition) {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return deleteGroups(ctx, client, chosen)
}

func deleteGroups(ctx context.Context, client *kafka.Client, chosen func(name string) bool) error {
	found, err := client.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err != nil {
		return err
	}
	var groups []string
	for _, group := range found.Groups {
		if chosen(group.GroupID) {
			groups = append(groups, group.GroupID)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	_, err = client.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: groups})
	return err
}
