package indexer

import (
	"sync/atomic"

	"vitrine/internal/kafkaclient"
)

// kafkaClient is the connection to Kafka, and what it has seen of the topic of changes.
type kafkaClient struct {
	*kafkaclient.Client
	lostTopic atomic.Bool // the topic of changes was made here in the place of one that is gone with what it held
}

func newKafkaClient(brokers []string, dial kafkaclient.DialFunc) *kafkaClient {
	return &kafkaClient{Client: kafkaclient.New(brokers, dial)}
}
