package events

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"vitrine/internal/kafkaclient"
	"vitrine/library"
	"vitrine/store"
)

// Event is an event of the log.
type Event = store.LoggedEvent

// Config is where events go. Brokers is required.
type Config struct {
	Prefix  string   // stands before the names of the topic and of consumer groups
	Brokers []string // addresses of Kafka
	// Security is how brokers are connected to. It must be one that kafkaclient.NewSecure takes.
	Security kafkaclient.Security
	// CatchUpAfter is how old an event is when a subscriber that Kafka has not brought it
	// reads it from the log; 0 means 5 s.
	CatchUpAfter time.Duration
	Log          *slog.Logger // nil means slog.Default()

	// Partitions of the topic when it is made here: the most processes that share one
	// subscriber's work. 0 means 8.
	Partitions int

	Dial kafkaclient.DialFunc // nil means the network; tests cut Kafka here
}

// Topic names the topic that the log is published to.
func (c Config) Topic() string { return c.Prefix + "events" }

func (c Config) topics() map[string]int { return map[string]int{c.Topic(): c.Partitions} }

func (c Config) withDefaults() Config {
	if c.CatchUpAfter == 0 {
		c.CatchUpAfter = 5 * time.Second
	}
	c.Partitions = cmp.Or(c.Partitions, 8)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// message is an event as it travels through Kafka.
type message struct {
	Log      string           `json:"log"` // the epoch of the database whose log it is
	Position int64            `json:"position"`
	Previous int64            `json:"previous"`
	Shard    int              `json:"shard"`
	Tenant   library.TenantID `json:"tenant_id"`
	Type     string           `json:"type"`
	Key      string           `json:"key"`
	At       time.Time        `json:"timestamp"`
	Data     json.RawMessage  `json:"data"`
}

// encode makes the message of an event. All events of a shard go to one partition.
func encode(log string, e Event) (kafkaclient.Message, error) {
	value, err := json.Marshal(message{log, e.Position, e.Previous, e.Shard, e.Tenant, e.Type, e.Key, e.At.UTC(), e.Payload})
	return kafkaclient.Message{Key: fmt.Appendf(nil, "shard-%d", e.Shard), Value: value}, err
}

var errForeign = errors.New("the message is not an event of this log")

// decode reads a message; anything that is not an event of this log is errForeign.
func decode(log string, value []byte) (Event, error) {
	var m message
	if err := json.Unmarshal(value, &m); err != nil || m.Log != log || m.Position <= m.Previous || m.Shard < 0 || m.Shard >= store.EventShards {
		return Event{}, errForeign
	}
	return Event{Position: m.Position, Shard: m.Shard, Previous: m.Previous, Tenant: m.Tenant, Type: m.Type, Key: m.Key, Payload: m.Data, At: m.At}, nil
}

// client returns a client of Kafka. Whoever configured the service has checked that its
// login can be used.
func (c Config) client() *kafkaclient.Client {
	k, _ := kafkaclient.NewSecure(c.Brokers, c.Security, c.Dial)
	return k
}
