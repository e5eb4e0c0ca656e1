package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/importer"
	"vitrine/indexer"
	"vitrine/internal/opensearch"
	"vitrine/internal/stack"
	"vitrine/internal/testenv"
	"vitrine/service/servicetest"
	"vitrine/store"
)

// outage is the product as a process of its own on servers of its own, which the
// test may take away.
type outage struct {
	killed
	stack stack.Config
	files int // written so far, over all folders
}

// newOutage starts servers, the product with every role, and no load.
func newOutage(t *testing.T) *outage {
	t.Helper()
	testenv.Stack(t) // so that the downloads are there
	servers := stack.Config{Dir: filepath.Join(t.TempDir(), ".run"), CacheDir: testenv.StackConfig(t).CacheDir, ShortLived: true, OpenSearchHeap: "512m", KafkaHeap: "256m"}
	t.Cleanup(func() {
		if err := stack.Reset(context.Background(), servers, io.Discard); err != nil {
			t.Errorf("resetting the servers: %v", err)
		}
	})
	at, err := stack.Up(t.Context(), servers, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Migrate(t.Context(), store.Config{URL: at.PostgresURL}); err != nil {
		t.Fatal(err)
	}
	cfg := servicetest.Config(t) // for its folder and its address
	cfg.PostgresURL, cfg.Brokers, cfg.OpenSearchURL = at.PostgresURL, at.KafkaBrokers, []string{at.OpenSearchURL}
	o := &outage{killed: newKilledAt(t, cfg), stack: servers}
	serve(t, cfg, "")
	o.indexed("the empty library")
	return o
}

// folder makes a folder of files that nobody has seen.
func (o *outage) folder(n int) string {
	o.t.Helper()
	dir := o.t.TempDir()
	for range n {
		o.files++
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%05d.png", o.files)), picture(o.files, fmt.Sprintf("lighthouse number %d", o.files)), 0o644); err != nil {
			o.t.Fatal(err)
		}
	}
	return dir
}

// importing is an import that goes on as a process of its own.
type importing struct {
	o    *outage
	cmd  *exec.Cmd
	out  bytes.Buffer
	err  bytes.Buffer
	done chan error
}

func (o *outage) startImport(dir string) *importing {
	o.t.Helper()
	i := &importing{o: o, cmd: exec.Command(failpointBinary(o.t), "import", dir, "--json", "--server", "http://"+o.cfg.Listen, "--key", o.api.Key), done: make(chan error, 1)}
	i.cmd.Stdout, i.cmd.Stderr = &i.out, &i.err
	if err := i.cmd.Start(); err != nil {
		o.t.Fatal(err)
	}
	go func() { i.done <- i.cmd.Wait() }()
	return i
}

// finish waits for the import, which must have stored all n files: whatever
// happened meanwhile, its user sees an import that took longer.
func (i *importing) finish(n int) {
	i.o.t.Helper()
	select {
	case err := <-i.done:
		var report importer.Report
		if e := json.Unmarshal(i.out.Bytes(), &report); e != nil || err != nil {
			i.o.t.Fatalf("the import ended with %v: %s%s", err, tail(i.err.String()), tail(i.out.String()))
		}
		if report.Stored+report.Already != n || report.Failed > 0 {
			i.o.t.Errorf("of %d files the import stored %d, found %d there and failed for %d", n, report.Stored, report.Already, report.Failed)
		}
	case <-time.After(2 * time.Minute):
		_ = i.cmd.Process.Kill()
		<-i.done
		i.o.t.Fatalf("the import did not end: %s", tail(i.err.String()))
	}
}

// take does to a server what the test is about.
func (o *outage) take(what func(context.Context, stack.Config, string) error, server string) {
	o.t.Helper()
	if err := what(o.t.Context(), o.stack, server); err != nil {
		o.t.Fatal(err)
	}
}

// awaitRows waits until a number of assets is stored.
func (o *outage) awaitRows(n int) {
	o.t.Helper()
	servicetest.Eventually(o.t, fmt.Sprintf("%d assets are stored", n), func() error {
		conn, err := pgx.Connect(o.t.Context(), o.cfg.PostgresURL)
		if err != nil {
			return err
		}
		defer conn.Close(context.Background())
		var have int
		if err := conn.QueryRow(o.t.Context(), `SELECT count(*) FROM assets`).Scan(&have); err != nil {
			return err
		}
		if have < n {
			return fmt.Errorf("%d", have)
		}
		return nil
	})
}

// search asks once and tells how the answer was and how long it took.
func (o *outage) search() (total, status int, retryAfter string, took time.Duration) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, o.api.Base+"/api/v1/assets/search", bytes.NewReader(servicetest.JSON(map[string]any{"query": "lighthouse", "limit": 1})))
	if err != nil {
		o.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", o.api.Key)
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		o.t.Fatalf("a search was not answered: %v", err)
	}
	defer res.Body.Close()
	var answer struct {
		Total int
		Code  string
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		o.t.Fatal(err)
	}
	if res.StatusCode == http.StatusServiceUnavailable && answer.Code != "INDEX_UNAVAILABLE" {
		o.t.Errorf("a search without index says %q", answer.Code)
	}
	return answer.Total, res.StatusCode, res.Header.Get("Retry-After"), time.Since(began)
}

// refused checks that searches say that the index is away and when to ask again:
// the first as soon as that is certain, further ones at once.
func (o *outage) refused() {
	o.t.Helper()
	within := 5 * time.Second
	for range 4 {
		_, status, after, took := o.search()
		if status != http.StatusServiceUnavailable || after == "" {
			o.t.Errorf("a search without index answered %d with Retry-After %q", status, after)
		}
		if took > within {
			o.t.Errorf("a search without index took %s, want %s at most", took, within)
		}
		within = time.Second
	}
}

// works checks that what needs no index goes on: a write, reading it back, and
// its bytes.
func (o *outage) works() {
	o.t.Helper()
	o.files++
	data := picture(o.files, "lighthouse in the outage")
	out, err := o.store(data)
	if err != nil {
		o.t.Errorf("storing during the outage: %v", err)
		return
	}
	if _, err := o.api.UpdateAsset(o.t.Context(), client.UpdateAssetInput{AssetH: out.Asset.AssetH, Tags: &[]string{"outage"}}); err != nil {
		o.t.Errorf("tagging during the outage: %v", err)
	}
	if details, err := o.api.GetAssetDetails(o.t.Context(), client.GetAssetDetailsInput{AssetH: out.Asset.AssetH}); err != nil || len(details.Tags) != 1 {
		o.t.Errorf("details during the outage: %v, tags %v", err, details.Tags)
	}
	if !o.stored(data) {
		o.t.Error("the bytes of what was stored during the outage do not come back")
	}
}

// indexed waits until searches find every file that was ever written, and then
// compares index and database: no difference may be left to repair.
func (o *outage) indexed(when string) {
	o.t.Helper()
	began := time.Now()
	servicetest.Eventually(o.t, "the index has caught up after "+when, func() error {
		total, status, _, _ := o.search()
		if status != http.StatusOK || total != o.files {
			return fmt.Errorf("status %d, %d of %d files are found", status, total, o.files)
		}
		return nil
	})
	o.t.Logf("%s: all %d files are found after %s", when, o.files, time.Since(began).Round(10*time.Millisecond))
	var got indexer.ReconcileReport
	if err := json.Unmarshal([]byte(command(o.t, o.cfg, "reconcile", "--json")), &got); err != nil {
		o.t.Fatal(err)
	}
	if got.Missing+got.Stale+got.Orphans+got.Ahead+got.Remaining != 0 || got.Count != int64(o.files) {
		o.t.Errorf("after %s index and database differ: %+v for %d files", when, got, o.files)
	}
	if rows := o.rows(); rows != o.files {
		o.t.Errorf("after %s there are %d assets for %d files", when, rows, o.files)
	}
}

// TestOutage_OfAnyServerDuringAnImportLosesNothing takes away each server in each
// way while files are imported. The import ends well, what needs no index goes
// on, searches answer or say at once when to come again, and afterwards the index
// equals the database and holds every file once, and a second subscriber beside the
// indexer has had every event.
func TestOutage_OfAnyServerDuringAnImportLosesNothing(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	w := newWitness(t, o.cfg)
	const many = 150

	type outageOf struct {
		server, name string
		take, end    func(context.Context, stack.Config, string) error
		files        int
		meanwhile    func()
		waits        bool // the import cannot end before the server is back
	}
	unsearched := func() { o.refused(); o.works() }
	searched := func() {
		o.works()
		if _, status, _, _ := o.search(); status != http.StatusOK {
			t.Errorf("without Kafka a search answered %d", status)
		}
	}
	for _, c := range []outageOf{
		{stack.OpenSearch, "OpenSearch hangs", stack.Pause, stack.Resume, many, unsearched, false},
		{stack.OpenSearch, "OpenSearch is killed", stack.Kill, stack.Start, many, unsearched, false},
		{stack.Kafka, "Kafka hangs", stack.Pause, stack.Resume, many, searched, false},
		{stack.Kafka, "Kafka is killed", stack.Kill, stack.Start, many, searched, false},
		{stack.Postgres, "PostgreSQL is stopped and started", stack.Stop, stack.Start, 4 * many, o.away, true},
		{stack.Postgres, "PostgreSQL is killed and started", stack.Kill, stack.Start, 4 * many, o.away, true},
	} {
		before := o.files
		running := o.startImport(o.folder(c.files))
		o.awaitRows(before + many/10)
		o.take(c.take, c.server)
		c.meanwhile()
		if c.waits {
			o.take(c.end, c.server)
			running.finish(c.files)
		} else {
			running.finish(c.files)
			o.take(c.end, c.server)
		}
		o.indexed(c.name)
		w.sawAll(c.name)
	}
	o.walksGoOn()
}

// walksGoOn checks that walks which nobody ends keep nobody from walking: when the
// index keeps no more points, the oldest gives way.
func (o *outage) walksGoOn() {
	o.t.Helper()
	const room = 25
	index, err := opensearch.NewClient(o.cfg.OpenSearchURL...)
	if err != nil {
		o.t.Fatal(err)
	}
	limit := map[string]any{"persistent": map[string]any{"search.max_open_pit_context": room}}
	if err := opensearch.Call(o.t.Context(), index, http.MethodPut, "/_cluster/settings", limit, nil); err != nil {
		o.t.Fatal(err)
	}
	walk := func(cursor string) (next string, err error) {
		page, err := o.api.SearchAssets(o.t.Context(), client.SearchAssetsInput{Limit: 5, Cursor: cursor})
		return page.NextCursor, err
	}
	var cursors []string
	for n := range room + 2 {
		next, err := walk("*")
		if err != nil || next == "" {
			o.t.Fatalf("walk %d could not be begun: %v", n, err)
		}
		cursors = append(cursors, next)
	}
	for n, want := range map[int]bool{0: false, 1: false, 2: true, room + 1: true} {
		_, err := walk(cursors[n])
		var e *client.Error
		if went := err == nil; went != want || !went && (!errors.As(err, &e) || e.Code != "CURSOR_EXPIRED") {
			o.t.Errorf("walk %d of %d where the index keeps %d: %v", n, len(cursors), room, err)
		}
	}
}

// away checks that without the database a write says that it will work again.
func (o *outage) away() {
	o.t.Helper()
	began := time.Now()
	_, err := o.store(picture(1<<20, ""))
	var e *client.Error
	if !errors.As(err, &e) || e.Status != http.StatusServiceUnavailable || e.RetryAfter <= 0 {
		o.t.Errorf("a write without database was answered with %v, want 503 and when to come again", err)
	}
	o.t.Logf("without database a write answers after %s: %v", time.Since(began).Round(time.Millisecond), err)
}
