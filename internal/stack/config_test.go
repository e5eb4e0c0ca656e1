package stack

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestConfig_TheEnvironmentSetsPortsHeapsAndCache(t *testing.T) {
	got, err := fromEnv("/checkout", environment(map[string]string{
		"VITRINE_CACHE": "/cache", "VITRINE_OPENSEARCH_HEAP": "1536m", "VITRINE_KAFKA_HEAP": "1G",
		"VITRINE_PG_PORT": "1", "VITRINE_KAFKA_PORT": "2", "VITRINE_KAFKA_CONTROLLER_PORT": "3",
		"VITRINE_OPENSEARCH_PORT": "4", "VITRINE_OPENSEARCH_TRANSPORT_PORT": "65535",
	}))
	want := Config{
		Dir: "/checkout/.run", CacheDir: "/cache", OpenSearchHeap: "1536m", KafkaHeap: "1G",
		Ports: Ports{Postgres: 1, Kafka: 2, KafkaController: 3, OpenSearch: 4, OpenSearchTransport: 65535},
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration differs (-want +got):\n%s", diff)
	}
}

func TestConfig_AnEmptyEnvironmentGivesDefaultsAndAnAbsoluteDirectory(t *testing.T) {
	got, err := fromEnv("checkout", environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got.OpenSearchHeap != "1g" || got.KafkaHeap != "384m" || got.Ports != (Ports{}) {
		t.Errorf("defaults are %+v", got)
	}
	if !filepath.IsAbs(got.Dir) || !strings.HasSuffix(got.Dir, "/checkout/.run") {
		t.Errorf("run directory is %s", got.Dir)
	}
}

func TestConfig_AWrongVariableIsNamed(t *testing.T) {
	cases := map[string]string{
		"VITRINE_PG_PORT": "0", "VITRINE_KAFKA_PORT": "65536", "VITRINE_OPENSEARCH_PORT": "x",
		"VITRINE_OPENSEARCH_HEAP": "much", "VITRINE_KAFKA_HEAP": "384m -XX:OnError=x",
	}
	for name, value := range cases {
		_, err := fromEnv("/checkout", environment(map[string]string{name: value}))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s gives %v, want an error that names the variable", name, value, err)
		}
	}
}
