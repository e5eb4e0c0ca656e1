package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/backup"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
)

// act is one acknowledged write of a ledger.
type act struct {
	client, n      int
	hash           library.AssetHash
	title          string // what the n-th write of a client set
	began, answers time.Time
}

// ledger is clients that store files and change titles, one write after the other,
// and remember every answer.
type ledger struct {
	w    *killed
	mu   sync.Mutex
	acts []act
	stop chan struct{}
	all  sync.WaitGroup
}

func (l *ledger) run(clients int) {
	l.stop = make(chan struct{})
	for c := range clients {
		l.all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-l.stop:
					return
				default:
				}
				a := act{client: c, n: n, title: fmt.Sprintf("client %d write %d", c, n), began: time.Now()}
				if err := l.write(&a); err != nil {
					l.w.t.Errorf("client %d, write %d: %v", c, n, err)
					return
				}
				a.answers = time.Now()
				l.mu.Lock()
				l.acts = append(l.acts, a)
				l.mu.Unlock()
			}
		})
	}
}

// write is a new file or, every second time, another title of the client's first.
func (l *ledger) write(a *act) error {
	ctx := context.Background()
	if a.n%2 == 0 {
		out, err := l.w.api.StoreAsset(ctx, client.StoreAssetInput{Filename: fmt.Sprintf("c%d-%d.png", a.client, a.n), MIMEType: "image/png",
			AssetDataBase64: base64.StdEncoding.EncodeToString(picture(a.client*100_000+a.n, a.title)), Tags: []string{fmt.Sprintf("c%d", a.client)}})
		a.hash = library.AssetHash(out.Asset.AssetH)
		return err
	}
	l.mu.Lock()
	for _, b := range l.acts {
		if b.client == a.client && b.n == 0 {
			a.hash = b.hash
		}
	}
	l.mu.Unlock()
	_, err := l.w.api.UpdateAsset(ctx, client.UpdateAssetInput{AssetH: string(a.hash), Title: &a.title})
	return err
}

func (l *ledger) end() []act {
	close(l.stop)
	l.all.Wait()
	return l.acts
}

// TestBackup_UnderWriteLoadRestoresToAConsistentPoint backs up with the command while
// four clients write, restores into an empty database and folder, and compares with
// what the clients remember.
func TestBackup_UnderWriteLoadRestoresToAConsistentPoint(t *testing.T) {
	t.Parallel()
	cfg := servicetest.Config(t)
	k := newKilledAt(t, cfg)
	serve(t, cfg, "")
	l := &ledger{w: &k}
	l.run(4)
	time.Sleep(2 * time.Second)
	dir := filepath.Join(t.TempDir(), "backups")
	began := time.Now()
	command(t, cfg, "backup", dir)
	ended := time.Now()
	time.Sleep(500 * time.Millisecond)
	acts := l.end()

	restored := cfg
	restored.PostgresURL, restored.DataDir = testenv.Postgres(t), t.TempDir()
	command(t, cfg, "backup", "verify", dir)
	var got backup.Restored
	if err := json.Unmarshal([]byte(command(t, restored, "restore", dir, "--json")), &got); err != nil {
		t.Fatal(err)
	}
	is := consistent(t, restored, acts, began, ended)
	t.Logf("%d writes, %d before the backup's point, %d assets restored", len(acts), is, got.Assets)
	if is < 8 || is == len(acts) {
		t.Errorf("of %d writes %d are in the backup: it was not taken under load", len(acts), is)
	}
}

// consistent counts the writes that a restored library has, and fails unless these are
// the first of each client, all that were acknowledged before the backup began, none
// that began after it ended, and none without another one that was acknowledged
// before it began.
func consistent(t *testing.T, cfg service.Config, acts []act, began, ended time.Time) (in int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), cfg.PostgresURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	titles := wholeAssets(t, conn)
	blobs, err := blob.CreateDisk(filepath.Join(cfg.DataDir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	has := presentIn(titles, acts)
	next := map[int]bool{} // a client whose next write is not there
	var firstMissing, lastPresent time.Time
	for _, a := range acts { // in the order of the answers, hence in that of each client
		there := has(a)
		switch {
		case there && next[a.client]:
			t.Errorf("write %d of client %d is there, and an earlier one is not", a.n, a.client)
		case !there:
			next[a.client] = true
		}
		if there && a.began.After(ended) || !there && a.answers.Before(began) {
			t.Errorf("write %d of client %d is there: %v; it went from %s to %s, the backup from %s to %s", a.n, a.client, there, a.began, a.answers, began, ended)
		}
		if there {
			in++
			if a.began.After(lastPresent) {
				lastPresent = a.began
			}
			if f, err := blobs.Open(t.Context(), library.TenantID(defaultTenant(t, conn)), a.hash); err != nil {
				t.Errorf("the file of write %d of client %d: %v", a.n, a.client, err)
			} else {
				f.Close()
			}
		} else if firstMissing.IsZero() || a.answers.Before(firstMissing) {
			firstMissing = a.answers
		}
	}
	if !firstMissing.IsZero() && lastPresent.After(firstMissing) {
		t.Errorf("a write is there that began at %s, and one is not that was acknowledged at %s", lastPresent, firstMissing)
	}
	return in
}

// wholeAssets returns the titles of all assets, and fails unless each has its lineage and its audit.
func wholeAssets(t *testing.T, conn *pgx.Conn) map[library.AssetHash]string {
	t.Helper()
	titles := map[library.AssetHash]string{}
	rows, err := conn.Query(t.Context(), `SELECT a.asset_h, a.title FROM assets a JOIN lineage USING (tenant_id, asset_h)
		WHERE EXISTS (SELECT FROM audit u WHERE u.tenant_id = a.tenant_id AND u.subject = a.asset_h AND u.action = 'asset.created')`)
	if err != nil {
		t.Fatal(err)
	}
	var h library.AssetHash
	var title string
	if _, err := pgx.ForEachRow(rows, []any{&h, &title}, func() error { titles[h] = title; return nil }); err != nil {
		t.Fatal(err)
	}
	var assets int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM assets`).Scan(&assets); err != nil || assets != len(titles) {
		t.Errorf("%d assets, of which %d are whole (%v)", assets, len(titles), err)
	}
	return titles
}

// presentIn returns whether a write is in a library with these titles: later titles of the same
// client stand for the ones before.
func presentIn(titles map[library.AssetHash]string, acts []act) func(act) bool {
	last := map[int]int{} // the last title of each client
	for _, a := range acts {
		if a.n%2 == 1 && titles[a.hash] == a.title {
			last[a.client] = a.n
		}
	}
	return func(a act) bool {
		if a.n%2 == 1 {
			return a.n <= last[a.client]
		}
		_, there := titles[a.hash]
		return there
	}
}

func defaultTenant(t *testing.T, conn *pgx.Conn) (id string) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), `SELECT tenant_id::text FROM tenants`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestRestore_AnIndexThatIsAheadIsCorrectedByItself goes back to a backup below an
// index that knows everything since, and then makes other changes under the same
// versions.
func TestRestore_AnIndexThatIsAheadIsCorrectedByItself(t *testing.T) {
	t.Parallel()
	cfg := servicetest.Config(t)
	k := newKilledAt(t, cfg)
	p := serve(t, cfg, "")
	keep := k.keep(1, "kept")
	doomed := k.keep(2, "doomed")
	k.title(keep, "before")
	dir := filepath.Join(t.TempDir(), "backups")
	command(t, cfg, "backup", dir)

	for n := range 3 { // the index goes ahead
		k.title(keep, fmt.Sprintf("after %d", n))
	}
	ghost := k.keep(3, "ghost")
	if _, err := k.api.UndoOperation(t.Context(), client.UndoOperationInput{OperationID: doomed.OperationID}); err != nil {
		t.Fatal(err)
	}
	k.finds("title:after", keep.Asset.AssetH)
	k.finds("ghost", ghost.Asset.AssetH)
	k.finds("doomed")
	p.stop()

	command(t, cfg, "restore", dir, "--replace")
	p = serve(t, cfg, "", "api") // no indexer yet: the new changes get versions that the old index has
	for _, title := range []string{"another", "different", "final"} {
		k.title(keep, title)
	}
	p.stop()
	serve(t, cfg, "")
	k.finds("title:final", keep.Asset.AssetH)
	k.finds("title:after")
	k.finds("doomed", doomed.Asset.AssetH)
	k.finds("ghost")
	k.title(keep, "later")
	k.finds("title:later", keep.Asset.AssetH)
	conn, err := pgx.Connect(t.Context(), cfg.PostgresURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	servicetest.Eventually(t, "the restore is over", func() error {
		var waiting int
		if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM restores WHERE indexed_at IS NULL`).Scan(&waiting); err != nil || waiting > 0 {
			return fmt.Errorf("%d wait (%w)", waiting, err)
		}
		return nil
	})
	oneIndexEach(t, cfg)
}

// oneIndexEach fails unless there is one index of assets, one of prompts and one of prospects.
func oneIndexEach(t *testing.T, cfg service.Config) {
	t.Helper()
	res, err := http.Get(cfg.OpenSearchURL[0] + "/_cat/indices/" + cfg.Prefix + "*?h=index")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	names := strings.Fields(string(raw))
	slices.Sort(names)
	if err != nil || len(names) != 3 || !strings.Contains(names[0], "-assets-") || !strings.Contains(names[1], "-prompts-") || !strings.Contains(names[2], "-prospects-") {
		t.Errorf("the indexes are now %v (%v)", names, err)
	}
}

// keep stores a picture under a name.
func (k killed) keep(n int, name string) servicetest.Stored {
	k.t.Helper()
	out, err := k.api.StoreAsset(k.t.Context(), client.StoreAssetInput{Filename: name + ".png", MIMEType: "image/png",
		AssetDataBase64: base64.StdEncoding.EncodeToString(picture(n, "")), Tags: []string{name}})
	if err != nil {
		k.t.Fatal(err)
	}
	return out
}

func (k killed) title(s servicetest.Stored, title string) {
	k.t.Helper()
	if _, err := k.api.UpdateAsset(k.t.Context(), client.UpdateAssetInput{AssetH: s.Asset.AssetH, Title: &title}); err != nil {
		k.t.Fatal(err)
	}
}

// finds waits until a search finds these assets and no others, in an index that does
// not call itself incomplete.
func (k killed) finds(query string, want ...string) {
	k.t.Helper()
	servicetest.Eventually(k.t, fmt.Sprintf("%s finds %v", query, want), func() error {
		out, err := k.api.SearchAssets(k.t.Context(), client.SearchAssetsInput{Query: query, Limit: 100})
		if err != nil {
			return err
		}
		if slices.Contains(out.Degraded, "index_incomplete") || out.Total != int64(len(want)) {
			return fmt.Errorf("it finds %d, %v", out.Total, out.Degraded)
		}
		for _, h := range want {
			if !slices.ContainsFunc(out.Data, func(a client.SearchHit) bool { return a.AssetH == h }) {
				return fmt.Errorf("it finds %v", out.Data)
			}
		}
		return nil
	})
}

// failing runs a command that must fail and say why.
func failing(t *testing.T, cfg service.Config, why string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), failpointBinary(t), args...)
	cmd.Env = environment(cfg, "")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), why) {
		t.Errorf("vitrine %s ended with %v and said %s", strings.Join(args, " "), err, out)
	}
}

// TestRestore_CommandSaysWhatItNeeds runs the commands as an operator who errs.
func TestRestore_CommandSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	cfg := servicetest.Config(t)
	if _, err := store.Migrate(t.Context(), store.Config{URL: cfg.PostgresURL}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "backups")
	failing(t, cfg, "is no folder of backups", "restore", dir)
	command(t, cfg, "backup", dir)
	failing(t, cfg, "no complete backup nothing", "restore", dir, "--backup", "nothing")
	if out := command(t, cfg, "backup", "list", dir, "--json"); len(out) < 100 {
		t.Errorf("the list is %s", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	command(t, cfg, "backup", dir)
	wrong := cfg
	wrong.DataDir = dir
	failing(t, wrong, "holds files", "backup", filepath.Join(cfg.DataDir, "blobs"))
}
