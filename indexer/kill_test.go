//go:build failpoint

package indexer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	opensearchgo "github.com/opensearch-project/opensearch-go/v4"

	"vitrine/library"
	"vitrine/store"
)

// childEnv hands the place of an env to a child process.
const childEnv = "VITRINE_TEST_INDEXER"

// TestMain runs relay and indexer, and no test, in the child processes of the
// kill test.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		runChild()
		return
	}
	os.Exit(m.Run())
}

type childConfig struct {
	URL, SearchURL, Prefix string
	Brokers                []string
}

func runChild() {
	var c childConfig
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &c); err != nil {
		panic(err)
	}
	ctx := context.Background()
	st, err := store.Open(ctx, store.Config{URL: c.URL})
	if err != nil {
		panic(err)
	}
	client, err := opensearchgo.NewClient(opensearchgo.Config{Addresses: []string{c.SearchURL}, DisableRetry: true})
	if err != nil {
		panic(err)
	}
	cfg := Config{Prefix: c.Prefix, Brokers: c.Brokers, Partitions: 3, RelayBatch: 10, BatchEvents: 10}
	relay, err := NewRelay(st, cfg, NewMetrics())
	if err != nil {
		panic(err)
	}
	x, err := New(st, client, cfg, NewMetrics())
	if err != nil {
		panic(err)
	}
	go relay.Run(ctx)
	_ = x.Run(ctx)
}

// TestKill_AtAnyPointLosesNothing kills the process that relays and indexes at
// every place of its work, and once more after it has got going; whoever comes
// next must end with the rows.
func TestKill_AtAnyPointLosesNothing(t *testing.T) {
	e := newEnv(t)
	var hashes []library.AssetHash
	for round, place := range []string{"relay.before_publish", "relay.after_publish", "indexer.before_bulk", "indexer.after_bulk",
		"indexer.before_commit", "indexer.after_commit", "indexer.before_bulk:3", "relay.after_publish:2"} {
		for i := range 5 {
			hashes = append(hashes, e.add(newAsset(fmt.Sprint(round, " ", i))).Hash)
		}
		e.retitle(fmt.Sprint("round ", round), hashes...)
		ctx, cancel := context.WithTimeout(e.ctx, time.Minute)
		cmd := exec.CommandContext(ctx, os.Args[0])
		config, err := json.Marshal(childConfig{URL: e.url, SearchURL: e.searchURL, Prefix: e.cfg.Prefix, Brokers: e.cfg.Brokers})
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), childEnv+"="+string(config), "VITRINE_FAILPOINTS="+place)
		done := make(chan struct{})
		go func() { // work for the later passes of a place
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				case <-time.After(200 * time.Millisecond):
					e.retitle(fmt.Sprint("while it runs ", i), hashes[0])
				}
			}
		}()
		out, err := cmd.CombinedOutput()
		close(done)
		cancel()
		name, _, _ := strings.Cut(place, ":")
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 137 || !strings.Contains(string(out), "failpoint: hit "+name) {
			t.Fatalf("%s: the process ended with %v\n%s", place, err, out)
		}
	}
	e.cfg.Log = slog.New(slog.DiscardHandler)
	e.run(e.relay(), e.indexer())
	e.eventually(2*time.Minute, func() string { return e.differs(hashes...) })
	e.eventually(time.Minute, func() string { return noneBut(e.backlog(), 0) })
}
