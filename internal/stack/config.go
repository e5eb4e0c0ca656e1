package stack

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// Config is where a stack lives and how it listens. Dir is the only field that must be set; FromEnv fills all of it.
type Config struct {
	// Dir is the run directory: state, data and logs of this stack. Several stacks run side by side in several of them.
	Dir string
	// CacheDir keeps what was downloaded, unpacked, for all checkouts. Empty means the default place of the user.
	CacheDir string
	// Ports on 127.0.0.1; a zero port is picked free at the first start and remembered in the run directory.
	Ports Ports
	// OpenSearchHeap and KafkaHeap are Java heap sizes such as "1g" or "384m"; empty means these defaults.
	OpenSearchHeap string
	KafkaHeap      string
	// ShortLived runs the Java servers with the first of Java's two compilers alone: a start takes half the CPU time, and
	// what runs for hours gets slower. It is for tests, and is not remembered.
	ShortLived bool
	// Secure makes PostgreSQL and Kafka take secure connections only; nil for a stack that is reached from this machine
	// alone. It is not remembered: whoever starts a server says it again.
	Secure *Secure
}

// Ports are the TCP ports of one stack, all on 127.0.0.1.
type Ports struct {
	Postgres            int `json:"postgres"`
	Kafka               int `json:"kafka"`
	KafkaController     int `json:"kafka_controller"`
	OpenSearch          int `json:"opensearch"`
	OpenSearchTransport int `json:"opensearch_transport"`
}

const (
	defaultOpenSearchHeap = "1g"
	defaultKafkaHeap      = "384m"
)

var heapSize = regexp.MustCompile(`^[1-9][0-9]{0,5}[mMgG]$`)

// FromEnv returns the configuration of the checkout at the given directory: run directory `.run` in it, and the
// environment's VITRINE_CACHE, VITRINE_PG_PORT, VITRINE_KAFKA_PORT, VITRINE_KAFKA_CONTROLLER_PORT,
// VITRINE_OPENSEARCH_PORT, VITRINE_OPENSEARCH_TRANSPORT_PORT, VITRINE_OPENSEARCH_HEAP and VITRINE_KAFKA_HEAP.
func FromEnv(checkout string) (Config, error) {
	return fromEnv(checkout, os.Getenv)
}

func fromEnv(checkout string, env func(string) string) (Config, error) {
	cfg := Config{
		Dir:            filepath.Join(checkout, ".run"),
		CacheDir:       env("VITRINE_CACHE"),
		OpenSearchHeap: env("VITRINE_OPENSEARCH_HEAP"),
		KafkaHeap:      env("VITRINE_KAFKA_HEAP"),
	}
	for name, port := range cfg.Ports.byVariable() {
		value := env(name)
		if value == "" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 65535 {
			return Config{}, fmt.Errorf("%s must be a port number from 1 to 65535", name)
		}
		*port = n
	}
	return cfg.complete()
}

// complete checks the configuration, fills defaults and makes paths absolute.
func (c Config) complete() (Config, error) {
	if c.Dir == "" {
		return c, fmt.Errorf("the run directory of the stack is not set")
	}
	if c.OpenSearchHeap == "" {
		c.OpenSearchHeap = defaultOpenSearchHeap
	}
	if c.KafkaHeap == "" {
		c.KafkaHeap = defaultKafkaHeap
	}
	if !heapSize.MatchString(c.OpenSearchHeap) {
		return c, fmt.Errorf("VITRINE_OPENSEARCH_HEAP must be a Java heap size such as 1g or 1536m")
	}
	if !heapSize.MatchString(c.KafkaHeap) {
		return c, fmt.Errorf("VITRINE_KAFKA_HEAP must be a Java heap size such as 384m")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return c, err
	}
	c.Dir = dir
	if c.CacheDir != "" {
		if c.CacheDir, err = filepath.Abs(c.CacheDir); err != nil {
			return c, err
		}
	}
	return c, nil
}

// id is a short name of the run directory, stable over restarts.
func (c Config) id() string {
	sum := sha256.Sum256([]byte(c.Dir))
	return hex.EncodeToString(sum[:5])
}

// byVariable lists the ports with the environment variable that sets each.
func (p *Ports) byVariable() map[string]*int {
	return map[string]*int{
		"VITRINE_PG_PORT":                   &p.Postgres,
		"VITRINE_KAFKA_PORT":                &p.Kafka,
		"VITRINE_KAFKA_CONTROLLER_PORT":     &p.KafkaController,
		"VITRINE_OPENSEARCH_PORT":           &p.OpenSearch,
		"VITRINE_OPENSEARCH_TRANSPORT_PORT": &p.OpenSearchTransport,
	}
}

// all lists the ports in a fixed order.
func (p *Ports) all() []*int {
	return []*int{&p.Postgres, &p.Kafka, &p.KafkaController, &p.OpenSearch, &p.OpenSearchTransport}
}
