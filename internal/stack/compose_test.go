package stack

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// composeService is what the comparison needs of one service in docker/compose.yaml.
type composeService struct {
	image string
	env   map[string]string
	text  string
}

// readCompose reads the services of docker/compose.yaml. It knows only the plain form that file is written in: two
// spaces per level and one value per line.
func readCompose(t *testing.T) map[string]composeService {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docker", "compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	services := map[string]composeService{}
	var top, name, part string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\n")
		depth := len(line) - len(strings.TrimLeft(line, " "))
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch {
		case strings.HasPrefix(key, "#") || key == "":
			continue
		case depth == 0:
			top = key
		case top != "services":
			continue
		case depth == 2:
			name, part = key, ""
			services[name] = composeService{env: map[string]string{}}
		case depth == 4:
			part = key
		}
		s := services[name]
		s.text += line + "\n"
		if depth == 4 && key == "image" {
			s.image = value
		}
		if depth == 6 && part == "environment" {
			s.env[key] = value
		}
		services[name] = s
	}
	return services
}

func TestCompose_RunsTheSameVersions(t *testing.T) {
	services := readCompose(t)
	want := map[string]string{
		Postgres:   "postgres:" + PostgresVersion,
		Kafka:      "apache/kafka:" + KafkaVersion,
		OpenSearch: "opensearchproject/opensearch:" + OpenSearchVersion,
	}
	for name, image := range want {
		if services[name].image != image {
			t.Errorf("%s runs %q, want %q", name, services[name].image, image)
		}
	}
}

func TestCompose_GivesPostgreSQLTheSameSettings(t *testing.T) {
	var got []setting
	for line := range strings.Lines(readCompose(t)[Postgres].text) {
		if argument, ok := strings.CutPrefix(strings.TrimSpace(line), "- -c"); ok {
			name, value, _ := strings.Cut(argument, "=")
			got = append(got, setting{name, value})
		}
	}
	if diff := cmp.Diff(postgresSettings, got, cmp.AllowUnexported(setting{})); diff != "" {
		t.Errorf("settings differ (-local +compose):\n%s", diff)
	}
	var args []string
	for line := range strings.Lines(readCompose(t)[Postgres].text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "--") {
			args = append(args, line)
		}
	}
	if diff := cmp.Diff(initdbArgs, args); diff != "" {
		t.Errorf("initdb arguments differ (-local +compose):\n%s", diff)
	}
}

// placeOfKafka are the settings that belong to a place: names and addresses inside the containers' network.
var placeOfKafka = []string{
	"KAFKA_LISTENERS", "KAFKA_ADVERTISED_LISTENERS", "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", "KAFKA_INTER_BROKER_LISTENER_NAME",
	"KAFKA_CONTROLLER_QUORUM_VOTERS", "KAFKA_LOG_DIRS",
}

func TestCompose_GivesKafkaTheSameSettings(t *testing.T) {
	want := map[string]string{"KAFKA_HEAP_OPTS": "-Xms" + defaultKafkaHeap + " -Xmx" + defaultKafkaHeap}
	for _, s := range kafkaSettings {
		want["KAFKA_"+strings.ToUpper(strings.ReplaceAll(s.name, ".", "_"))] = s.value
	}
	got := map[string]string{}
	for name, value := range readCompose(t)[Kafka].env {
		if strings.HasPrefix(name, "KAFKA_") && !slices.Contains(placeOfKafka, name) {
			got[name] = value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings differ (-local +compose):\n%s", diff)
	}
}

func TestCompose_GivesOpenSearchTheSameSettings(t *testing.T) {
	want := map[string]string{"OPENSEARCH_JAVA_OPTS": "-Xms" + defaultOpenSearchHeap + " -Xmx" + defaultOpenSearchHeap + " -XX:-AlwaysPreTouch"}
	for _, s := range openSearchSettings {
		want[s.name] = s.value
	}
	got := map[string]string{}
	for name, value := range readCompose(t)[OpenSearch].env {
		if !strings.HasPrefix(name, "DISABLE_") {
			got[name] = value
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings differ (-local +compose):\n%s", diff)
	}
}

func TestCompose_PublishesNothingBeyondThisMachine(t *testing.T) {
	for name, service := range readCompose(t) {
		published := strings.Contains(service.text, "ports:")
		if published && (name != "vitrine" || !strings.Contains(service.text, `- "127.0.0.1:`)) {
			t.Errorf("%s is published:\n%s", name, service.text)
		}
	}
}
