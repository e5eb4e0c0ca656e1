package stack

import (
	"strings"
	"testing"
)

func settledInstance() *instance {
	return &instance{
		cfg:   Config{Dir: "/run", KafkaHeap: "384m", OpenSearchHeap: "1g"},
		home:  "/run",
		ports: Ports{Postgres: 1001, Kafka: 1002, KafkaController: 1003, OpenSearch: 1004, OpenSearchTransport: 1005},
	}
}

func TestSettings_ServersListenOnLoopbackOnly(t *testing.T) {
	in := settledInstance()
	postgresArgs := strings.Join((&postgres{in}).command().Args, "\n")
	texts := map[string]string{
		"PostgreSQL": postgresArgs,
		"Kafka":      (&kafka{in}).properties(),
		"OpenSearch": (&openSearch{in}).settings(),
	}
	for name, text := range texts {
		if strings.Contains(text, "0.0.0.0") || !strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s is set to listen elsewhere:\n%s", name, text)
		}
	}
	wanted := map[string][]string{
		"PostgreSQL": {"listen_addresses=127.0.0.1", "port=1001", "fsync=on"},
		"Kafka":      {"listeners=PLAINTEXT://127.0.0.1:1002,CONTROLLER://127.0.0.1:1003\n", "log.dirs=/run/kafka/data\n", "auto.create.topics.enable=false\n"},
		"OpenSearch": {"network.host: 127.0.0.1\n", "http.port: 1004\n", "transport.port: 1005\n", "path.data: /run/opensearch/data\n"},
	}
	for name, lines := range wanted {
		for _, line := range lines {
			if !strings.Contains(texts[name], line) {
				t.Errorf("%s lacks %q:\n%s", name, line, texts[name])
			}
		}
	}
}

func TestSettings_EndpointsAreTheAddressesOfTheServers(t *testing.T) {
	got := settledInstance().endpoints()
	if got.PostgresURL != "postgres://postgres@127.0.0.1:1001/postgres?sslmode=disable" || got.OpenSearchURL != "http://127.0.0.1:1004" ||
		len(got.KafkaBrokers) != 1 || got.KafkaBrokers[0] != "127.0.0.1:1002" {
		t.Errorf("endpoints are %+v", got)
	}
}

func TestSettings_ShippedJavaOptionsKeepAllButHeapAndLogs(t *testing.T) {
	shipped := "# comment\n-Xms4g\n-Xmx4g\n\n11-:-XX:+UseG1GC\n-XX:HeapDumpPath=data\n-XX:ErrorFile=logs/hs_err_pid%p.log\n9-:-Xlog:gc*:file=logs/gc.log\n"
	want := "-Xms1g\n-Xmx1g\n-XX:-AlwaysPreTouch\n11-:-XX:+UseG1GC\n-XX:HeapDumpPath=/run/logs\n-XX:ErrorFile=/run/logs/hs_err_pid%p.log\n"
	if got := jvmOptions(shipped, "1g", "/run/logs"); got != want {
		t.Errorf("options are\n%s\nwant\n%s", got, want)
	}
}

func TestSettings_ClusterIDsAreDistinctAndNeverLookLikeAnOption(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := newClusterID()
		if len(id) != 22 || id[0] == '-' || seen[id] {
			t.Fatalf("cluster id %q is of the wrong form or given twice", id)
		}
		seen[id] = true
	}
}

func TestSettings_PathsTheServersCannotWorkInAreSeen(t *testing.T) {
	cases := map[string]bool{
		"/home/ann/vitrine/.run": true, "/home/ann/my pictures/.run": false, "/srv/a,b/.run": false,
		"/" + strings.Repeat("d", 80): false, `/a"b`: false, "/home/ünal/.run": true,
	}
	for path, want := range cases {
		if suits(path) != want {
			t.Errorf("suits(%q) = %v, want %v", path, !want, want)
		}
	}
}

func TestSettings_OnlyThePlaceOfThisRunDirectoryIsTakenForItsHome(t *testing.T) {
	cfg := Config{Dir: t.TempDir()}
	in := &instance{cfg: cfg}
	cases := map[string]string{
		otherHomes(cfg)[0]:            otherHomes(cfg)[0],
		"/":                           cfg.Dir,
		"":                            cfg.Dir,
		"/var/tmp/vitrine-0123456789": cfg.Dir, // of another checkout
	}
	for pointer, want := range cases {
		if err := in.id.writeFile(cfg.Dir+"/"+locationFile, pointer+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := homeOf(cfg); got != want {
			t.Errorf("a pointer to %q leads to %s, want %s", pointer, got, want)
		}
	}
}
