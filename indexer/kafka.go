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

// newKafkaClient returns a client for a configuration that was checked.
func newKafkaClient(cfg Config) *kafkaClient {
	c, _ := kafkaclient.NewSecure(cfg.Brokers, cfg.Security, cfg.dial)
	return &kafkaClient{Client: c}
}

// newWatchdog returns the watchdog of a reader of the topic of changes.
func newWatchdog(b *kafkaClient, cfg Config, sub *kafkaclient.Subscription) *kafkaclient.Watchdog {
	return kafkaclient.NewWatchdog(b.Client, cfg.changesTopic(), cfg.group(), sub, cfg.StallAfter)
}
