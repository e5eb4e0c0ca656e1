package indexer

import (
	"log/slog"
	"strings"
	"time"

	"vitrine/embed"
	"vitrine/internal/kafkaclient"
	"vitrine/library"
)

// Config tunes the indexer. The zero value of every field but Brokers is useful.
type Config struct {
	// Prefix stands before the name of every topic, consumer group, index and
	// alias, so that deployments and tests can share servers. Lower case.
	Prefix string
	// Brokers are the addresses of Kafka.
	Brokers []string
	// Security is how the brokers are connected to.
	Security kafkaclient.Security
	// Group is the consumer group without the prefix; "" means indexer. All
	// replicas of one deployment share it.
	Group string
	// Partitions of the topic of changes when it is made here; 0 means 8. It is
	// the most consumers that can share the work.
	Partitions int

	// RelayBatch is how many outbox rows are claimed at once; 0 means 1,000.
	RelayBatch int
	// BatchEvents is how many events become one batch at most; 0 means 500.
	BatchEvents int
	// BatchWait is how long an event waits for company at most; 0 means 50 ms.
	// A batch goes out earlier once the topic has been quiet for a fifth of it.
	BatchWait time.Duration
	// BulkBytes is the size of a bulk request to aim for; 0 means 4 MB. It
	// shrinks while OpenSearch is overloaded.
	BulkBytes int
	// BulkTimeout ends a bulk request that gets no answer; 0 means 30 s.
	BulkTimeout time.Duration
	// StallAfter is how long a reader may sit idle beside unread messages before
	// it is opened anew; 0 means 15 s.
	StallAfter time.Duration

	// OwnAt is how many assets a tenant may have in the index that tenants share; with
	// more it gets its own. 0 means DefaultOwnAt.
	OwnAt int64

	// TombstoneRetention is how long a tombstone stays in the index; 0 means 8
	// days, a day more than Kafka keeps messages by default. After it no event
	// about the asset can still be under way.
	TombstoneRetention time.Duration
	// Embedder computes the vectors of documents; nil means that they have none.
	Embedder embed.Embedder

	// Log takes what an operator should know; nil means slog.Default().
	Log *slog.Logger

	dial             kafkaclient.DialFunc // tests cut Kafka here
	definitions      []*Definition        // tests have further indices
	eventsOnly       bool                 // tests that must see events arrive: the whole index is never compared
	comparePage      int                  // assets that are compared at once; 0 means 2,000
	backfillInterval time.Duration
	moveEvery        time.Duration
}

// maxInFlight is how many bulk requests are under way at once: one that
// OpenSearch works on and one that travels.
const maxInFlight = 2

func (c Config) withDefaults() (Config, error) {
	if len(c.Brokers) == 0 {
		return c, library.Invalid(library.FieldError{Field: "brokers", Code: "required", Message: "At least one Kafka broker is needed, as host:port."})
	}
	if c.Prefix != strings.ToLower(c.Prefix) {
		return c, library.Invalid(library.FieldError{Field: "prefix", Code: "pattern", Message: "The prefix must be lower case, as index names are."})
	}
	if err := c.Security.Check(); err != nil {
		return c, err
	}
	setDefault(&c.Group, "indexer")
	setDefault(&c.Partitions, 8)
	setDefault(&c.RelayBatch, 1000)
	setDefault(&c.BatchEvents, 500)
	setDefault(&c.BatchWait, 50*time.Millisecond)
	setDefault(&c.BulkBytes, 4<<20)
	setDefault(&c.BulkTimeout, 30*time.Second)
	setDefault(&c.StallAfter, 15*time.Second)
	setDefault(&c.comparePage, 2000)
	setDefault(&c.backfillInterval, backfillInterval)
	setDefault(&c.moveEvery, moveInterval)
	setDefault(&c.OwnAt, DefaultOwnAt)
	setDefault(&c.TombstoneRetention, 8*24*time.Hour)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// topics returns the topics and how many partitions each gets when it is made.
func (c Config) topics() map[string]int {
	return map[string]int{c.changesTopic(): c.Partitions, c.deadTopic(): 1}
}

func (c Config) changesTopic() string { return ChangesTopic(c.Prefix) }
func (c Config) deadTopic() string    { return c.Prefix + "assets.dead-letter" }
func (c Config) group() string        { return c.Prefix + c.Group }

// ChangesTopic names the topic that every change of an asset is announced on.
func ChangesTopic(prefix string) string { return prefix + changesTopic }

const changesTopic = "assets.changed"
