package testenv

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"go.uber.org/goleak"
)

// TestMain also shows that using this package leaves no goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func count(t *testing.T, conn *pgx.Conn, query string, args ...any) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func migrateThings(calls *int) func(context.Context, string) error {
	return func(ctx context.Context, url string) error {
		*calls++
		return execute(ctx, url, `create table thing (id int); insert into thing values (1), (2)`)
	}
}

func TestTestenv_EachTestGetsItsOwnCopyOfTheMigratedDatabase(t *testing.T) {
	calls := 0
	migrate, key := migrateThings(&calls), newName()
	first, second := Database(t, key, migrate), Database(t, key, migrate)
	if first == second {
		t.Fatal("two calls gave the same database")
	}
	if calls != 1 {
		t.Errorf("the migration ran %d times, want once", calls)
	}
	if err := execute(t.Context(), first, `delete from thing`); err != nil {
		t.Fatal(err)
	}
	if n := count(t, connect(t, second), `select count(*) from thing`); n != 2 {
		t.Errorf("deleting in one database left %d rows in the other, want 2", n)
	}
}

func TestTestenv_AnEmptyDatabaseIsNotTheTemplate(t *testing.T) {
	calls := 0
	Database(t, "things", migrateThings(&calls))
	conn := connect(t, Postgres(t))
	if n := count(t, conn, `select count(*) from pg_tables where schemaname = 'public'`); n != 0 {
		t.Errorf("a fresh database has %d tables, want none", n)
	}
}

func TestTestenv_ADatabaseIsGoneAfterItsTestEvenWithASessionOpen(t *testing.T) {
	admin := connect(t, Stack(t).PostgresURL)
	var name string
	t.Run("test", func(t *testing.T) {
		conn, err := pgx.Connect(t.Context(), Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		name = conn.Config().Database
		if n := count(t, admin, `select count(*) from pg_database where datname = $1`, name); n != 1 {
			t.Fatalf("the database is listed %d times during the test, want 1", n)
		}
	})
	if n := count(t, admin, `select count(*) from pg_database where datname = $1`, name); n != 0 {
		t.Error("the database is still there after its test")
	}
}

func TestTestenv_ATemplateKeyFollowsTheContent(t *testing.T) {
	one := fstest.MapFS{"1.sql": {Data: []byte("create table a ()")}}
	same := fstest.MapFS{"1.sql": {Data: []byte("create table a ()")}}
	other := fstest.MapFS{"1.sql": {Data: []byte("create table b ()")}}
	moved := fstest.MapFS{"2.sql": {Data: []byte("create table a ()")}}
	if TemplateKey("store", one) != TemplateKey("store", same) {
		t.Error("equal files give different keys")
	}
	for name, files := range map[string]fstest.MapFS{"content": other, "file name": moved} {
		if TemplateKey("store", one) == TemplateKey("store", files) {
			t.Errorf("another %s gives the same key", name)
		}
	}
}

func TestTestenv_ASharedTemplateIsMigratedOncePerStack(t *testing.T) {
	server := Stack(t).PostgresURL
	calls := 0
	name := sharedPrefix + newName()
	t.Cleanup(func() {
		if err := execute(context.Background(), server, `drop database if exists `+name); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // each as another process would
		if err := makeTemplate(server, name, migrateThings(&calls)); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 1 {
		t.Errorf("the migration ran %d times, want once", calls)
	}
}

func TestTestenv_AFailedMigrationLeavesNoTemplate(t *testing.T) {
	server := Stack(t).PostgresURL
	name := sharedPrefix + newName()
	err := makeTemplate(server, name, func(ctx context.Context, url string) error {
		return execute(ctx, url, `create table broken (`)
	})
	if err == nil {
		t.Fatal("a migration with a syntax error is taken for good")
	}
	admin := connect(t, server)
	if n := count(t, admin, `select count(*) from pg_database where datname = $1`, name); n != 0 {
		t.Error("the failed migration left its template")
	}
}

func request(t *testing.T, method, url, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := openSearchClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestTestenv_IndicesOfATestAreGoneAfterItAndOthersStay(t *testing.T) {
	url, outer := OpenSearch(t)
	if code := request(t, http.MethodPut, url+"/"+outer+"kept", `{}`); code != http.StatusOK {
		t.Fatalf("making an index answers %d", code)
	}
	var inner string
	t.Run("test", func(t *testing.T) {
		_, inner = OpenSearch(t)
		if inner == outer {
			t.Fatal("two tests got the same prefix")
		}
		if code := request(t, http.MethodPut, url+"/"+inner+"assets", `{"aliases": {"`+inner+`read": {}}}`); code != http.StatusOK {
			t.Fatalf("making an index answers %d", code)
		}
		if code := request(t, http.MethodPut, url+"/_index_template/"+inner+"all", `{"index_patterns": ["`+inner+`*"]}`); code != http.StatusOK {
			t.Fatalf("making an index template answers %d", code)
		}
	})
	want := map[string]int{
		"/" + inner + "assets":              http.StatusNotFound,
		"/" + inner + "read":                http.StatusNotFound,
		"/_index_template/" + inner + "all": http.StatusNotFound,
		"/" + outer + "kept":                http.StatusOK,
	}
	for path, code := range want {
		if got := request(t, http.MethodHead, url+path, ""); got != code {
			t.Errorf("%s answers %d after the test, want %d", path, got, code)
		}
	}
}

func TestTestenv_AnIndexIsNotMadeByWritingToIt(t *testing.T) {
	url, prefix := OpenSearch(t)
	if code := request(t, http.MethodPost, url+"/"+prefix+"typo/_doc", `{"a": 1}`); code != http.StatusNotFound {
		t.Errorf("writing to an index nobody made answers %d, want 404", code)
	}
}

func topicNames(t *testing.T, brokers []string) (names []string) {
	t.Helper()
	client, closeClient := kafkaClient(brokers)
	defer closeClient()
	found, err := client.Metadata(t.Context(), &kafka.MetadataRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range found.Topics {
		names = append(names, topic.Name)
	}
	return names
}

func TestTestenv_AMessageGoesThroughATopicThatIsGoneAfterTheTest(t *testing.T) {
	brokers, outer := Kafka(t)
	Topic(t, brokers, outer+"kept", 1)
	var topic string
	t.Run("test", func(t *testing.T) {
		_, prefix := Kafka(t)
		topic = prefix + "asset.changed"
		Topic(t, brokers, topic, 3)
		conn, err := kafka.DialLeader(t.Context(), "tcp", brokers[0], topic, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.WriteMessages(kafka.Message{Value: []byte("written")}); err != nil {
			t.Fatal(err)
		}
		if got, err := conn.ReadMessage(1024); err != nil || string(got.Value) != "written" {
			t.Fatalf("read %q (%v), want the message just written", got.Value, err)
		}
	})
	// The broker answers the deletion before its own list shows it.
	for end := time.Now().Add(10 * time.Second); slices.Contains(topicNames(t, brokers), topic); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the topic is still there after its test")
		}
	}
	if !slices.Contains(topicNames(t, brokers), outer+"kept") {
		t.Error("the topic of another test is gone")
	}
}

func TestTestenv_OnlyNamesOfEndedProcessesAreAbandoned(t *testing.T) {
	cases := map[string]bool{
		newName():               false, // this process
		newName() + "-assets":   false,
		"t999999999x0a1b2c3d":   true, // above the highest process number
		"t999999999x0a1b2c3d-a": true,
		"t1x0a1b2c3d":           false, // always runs
		"assets":                false,
		"t999999999":            false,
		"postgres":              false,
	}
	for name, want := range cases {
		if abandoned(name) != want {
			t.Errorf("abandoned(%q) = %v, want %v", name, !want, want)
		}
	}
}

func TestTestenv_TheModuleRootHoldsTheModule(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(ModuleRoot(t), "go.mod"))
	if err != nil || !strings.HasPrefix(string(content), "module vitrine") {
		t.Errorf("no go.mod of this module there: %v", err)
	}
}
