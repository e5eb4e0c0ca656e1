package stack

// Versions of the servers; docker/compose.yaml names the same ones, and a test compares them.
const (
	PostgresVersion   = "17.6"
	KafkaVersion      = "4.3.0"
	OpenSearchVersion = "3.5.0"
	knnVersion        = "3.5.0.0"
	// log4jVersion is the one Kafka depends on; Maven Central's Kafka lacks the bridge to it, without which it logs nothing.
	log4jVersion = "2.25.4"
)

// setting is one name and value in a server's own configuration language.
type setting struct{ name, value string }

// The settings below hold wherever the servers run: here and in docker/compose.yaml, and a test compares both. What
// belongs to a place (ports, paths, addresses) is not among them.
var (
	postgresSettings = []setting{
		{"shared_buffers", "256MB"},
		{"max_connections", "200"},
		// Durability is promised, so nothing is traded for speed here, not even in tests.
		{"fsync", "on"},
		{"synchronous_commit", "on"},
		{"full_page_writes", "on"},
		{"max_wal_size", "2GB"},
		{"timezone", "UTC"},
		{"log_timezone", "UTC"},
	}

	// initdbArgs make text sort and compare by code point on every system: the C library's own locales differ between
	// systems and their releases, and an index built under one is wrong under the next.
	initdbArgs = []string{"--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--data-checksums"}

	kafkaSettings = []setting{
		{"process.roles", "broker,controller"},
		{"node.id", "1"},
		{"controller.listener.names", "CONTROLLER"},
		// A mistyped topic name must fail instead of making a topic with the wrong number of partitions.
		{"auto.create.topics.enable", "false"},
		{"offsets.topic.num.partitions", "3"},
		{"offsets.topic.replication.factor", "1"},
		{"transaction.state.log.num.partitions", "3"},
		{"transaction.state.log.replication.factor", "1"},
		{"transaction.state.log.min.isr", "1"},
		{"share.coordinator.state.topic.num.partitions", "3"},
		{"share.coordinator.state.topic.replication.factor", "1"},
		{"share.coordinator.state.topic.min.isr", "1"},
		// A first consumer would otherwise wait 3 s for others to join its group.
		{"group.initial.rebalance.delay.ms", "0"},
		// The log cleaner's default buffer of 128 MB would be a third of the heap.
		{"log.cleaner.dedupe.buffer.size", "16777216"},
	}

	openSearchSettings = []setting{
		{"cluster.name", "vitrine"},
		{"node.name", "vitrine"},
		{"discovery.type", "single-node"},
		// An index that nobody created has no mapping of ours: a write to it must fail.
		{"action.auto_create_index", "false"},
		// Developers' disks are full; above 95 % OpenSearch would turn every index read-only.
		{"cluster.routing.allocation.disk.threshold_enabled", "false"},
		// Cancel searches that eat the heap instead of only writing about them.
		{"search_backpressure.mode", "enforced"},
	}
)
