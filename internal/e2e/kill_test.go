package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/internal/failpoint"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// killed is a product that is killed and started again on the same data.
type killed struct {
	t   *testing.T
	cfg service.Config
	api *client.Client
	dir string // where the blob store is
}

func newKilled(t *testing.T) killed {
	t.Helper()
	return newKilledAt(t, servicetest.Config(t))
}

// newKilledAt makes a key for a product on a configuration.
func newKilledAt(t *testing.T, cfg service.Config) killed {
	t.Helper()
	return newKilledWith(t, cfg, library.PermRead, library.PermSearch, library.PermWrite)
}

// newKilledWith makes a key with these permissions.
func newKilledWith(t *testing.T, cfg service.Config, permissions ...library.Permission) killed {
	t.Helper()
	var names []string
	for _, p := range permissions {
		names = append(names, string(p))
	}
	var key struct {
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal([]byte(command(t, cfg, "keys", "create", "test", "--permissions", strings.Join(names, ","), "--json")), &key); err != nil {
		t.Fatal(err)
	}
	return killed{t: t, cfg: cfg, dir: filepath.Join(cfg.DataDir, "blobs"), api: &client.Client{Base: "http://" + cfg.Listen, Key: key.Secret, Patience: -1}}
}

// upload sends one file as clients do and reports whether it was acknowledged.
func (k killed) upload(n int) (acknowledged bool, data []byte) {
	data = picture(n, "")
	ctx, cancel := context.WithTimeout(k.t.Context(), 20*time.Second)
	defer cancel()
	name := fmt.Sprintf("file-%d.png", n)
	ticket, err := k.api.CreateUploadUrl(ctx, client.CreateUploadUrlInput{Filename: name, MIMEType: "image/png"})
	if err != nil {
		return false, data
	}
	if k.api.Put(ctx, ticket.SignedURL, "image/png", bytes.NewReader(data), int64(len(data))) != nil {
		return false, data
	}
	_, err = k.api.StoreAsset(ctx, client.StoreAssetInput{StoragePath: ticket.StoragePath, Filename: name, MIMEType: "image/png"})
	return err == nil, data
}

// store sends one file within the request itself.
func (k killed) store(data []byte) (client.StoreAssetOutput, error) {
	return k.api.StoreAsset(k.t.Context(), client.StoreAssetInput{Filename: "f.png", MIMEType: "image/png", AssetDataBase64: base64.StdEncoding.EncodeToString(data)})
}

// rows counts the assets in the database.
func (k killed) rows() int {
	k.t.Helper()
	return k.count(`SELECT count(*) FROM assets`)
}

// exec changes the database as no client can.
func (k killed) exec(sql string) {
	k.t.Helper()
	c, err := pgx.Connect(k.t.Context(), k.cfg.PostgresURL)
	if err != nil {
		k.t.Fatal(err)
	}
	defer c.Close(context.Background())
	if _, err := c.Exec(k.t.Context(), sql); err != nil {
		k.t.Fatal(err)
	}
}

func (k killed) count(sql string) (n int) {
	k.t.Helper()
	c, err := pgx.Connect(k.t.Context(), k.cfg.PostgresURL)
	if err != nil {
		k.t.Fatal(err)
	}
	defer c.Close(context.Background())
	if err := c.QueryRow(k.t.Context(), sql).Scan(&n); err != nil {
		k.t.Fatal(err)
	}
	return n
}

// stored reports whether the library gives these bytes back.
func (k killed) stored(data []byte) bool {
	k.t.Helper()
	hash := sha1Hex(data)
	ctx, cancel := context.WithTimeout(k.t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.api.Base+"/api/v1/assets/"+hash+"/download", nil)
	if err != nil {
		k.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", k.api.Key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		k.t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		k.t.Fatal(err)
	}
	return res.StatusCode == 200 && bytes.Equal(got, data)
}

// files counts what lies in the folders of the blob store.
func (k killed) files(kind string) int {
	k.t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join(k.dir, kind), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return n
}

// TestUpload_KillAtAnyPointLosesNothingAndLeavesNothing kills the service with
// no warning at each named point of an upload, at the first and at a later pass.
// What was acknowledged is there byte for byte, what was not can be sent again
// and is stored once, and after a sweep there is no file without a row.
func TestUpload_KillAtAnyPointLosesNothingAndLeavesNothing(t *testing.T) {
	t.Parallel()
	var points []string
	for name := range failpoint.Names {
		if strings.HasPrefix(name, "blob.") || strings.HasPrefix(name, "store.") {
			points = append(points, name)
		}
	}
	if len(points) < 7 {
		t.Fatalf("only the points %v are known", points)
	}
	newKilled(t).killUploads(points)
}

// TestUploadToABucket_KillAtAnyPointLosesNothingAndLeavesNothing is the same where files are
// in a bucket of S3, which has no fsync of its own.
func TestUploadToABucket_KillAtAnyPointLosesNothingAndLeavesNothing(t *testing.T) {
	t.Parallel()
	inBucket(t).killUploads([]string{"blob.written", "blob.staged", "blob.before_rename", "blob.renamed", "blob.committed", "store.row_committed"})
}

// inBucket is newKilled with a bucket of a server of its own.
func inBucket(t *testing.T) killed {
	t.Helper()
	cfg := servicetest.Config(t)
	server := testenv.S3(t)
	cfg.Blobs, cfg.S3 = server.Bucket("library")+"/files", server.Access
	k := newKilledAt(t, cfg)
	k.dir = filepath.Join(server.Dir, "library", "files")
	return k
}

// TestUploadToABucket_PartsOfAKilledProcessAreSwept: an upload in parts that nobody ends is
// in no listing of objects and takes room all the same.
func TestUploadToABucket_PartsOfAKilledProcessAreSwept(t *testing.T) {
	t.Parallel()
	k := inBucket(t)
	p := serve(t, k.cfg, "", "api")
	ticket, err := k.api.CreateUploadUrl(t.Context(), client.CreateUploadUrlInput{Filename: "long.mp4", MIMEType: "video/mp4"})
	if err != nil {
		t.Fatal(err)
	}
	body, feed := io.Pipe()
	sent := make(chan error, 1)
	go func() { sent <- k.api.Put(context.Background(), ticket.SignedURL, "video/mp4", body, 64<<20) }()
	if _, err := feed.Write(make([]byte, 28<<20)); err != nil { // more than the first part, less than the file
		t.Fatal(err)
	}
	parts := killed{t: t, dir: filepath.Dir(k.dir)}
	servicetest.Eventually(t, "the server has a part", func() error {
		if parts.files(".sgwtmp") == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	p.kill()
	_ = feed.CloseWithError(io.ErrUnexpectedEOF)
	if err := <-sent; err == nil {
		t.Error("the upload was acknowledged")
	}
	if k.files("staging") != 0 || parts.files(".sgwtmp") == 0 {
		t.Errorf("%d staged files, %d parts", k.files("staging"), parts.files(".sgwtmp"))
	}
	if said := command(t, k.cfg, "sweep", "--age", "0s"); parts.files(".sgwtmp") != 0 {
		t.Errorf("%d parts are left: %s", parts.files(".sgwtmp"), said)
	}
}

// killUploads kills the service at points of uploads, at the first and at a later pass.
func (k killed) killUploads(points []string) {
	t := k.t
	t.Helper()
	n, lost, unsent := 0, 0, 0
	var all [][]byte
	for _, point := range points {
		for _, pass := range []int{1, 3} {
			p := serve(t, k.cfg, fmt.Sprintf("%s:%d", point, pass), "api")
			var unacknowledged []byte
			for range 6 {
				n++
				ok, data := k.upload(n)
				all = append(all, data)
				if !ok {
					unacknowledged = data
					break
				}
			}
			p.awaitDeath(point)
			p = serve(t, k.cfg, "", "api")
			for _, data := range all[:len(all)-1] {
				if !k.stored(data) {
					lost++
				}
			}
			if unacknowledged == nil {
				t.Fatalf("%s: every upload was acknowledged, so nothing was tried", point)
			}
			if ok, _ := k.upload(n); !ok || !k.stored(unacknowledged) {
				unsent++
				t.Errorf("%s, pass %d: what was not acknowledged could not be sent again", point, pass)
			}
			p.stop()
		}
	}
	command(t, k.cfg, "sweep", "--age", "0s")
	t.Logf("%d kills at %d points, %d files: lost %d, not sendable again %d; staged left %d, files %d", 2*len(points), len(points), len(all), lost, unsent, k.files("staging"), k.files("assets"))
	if lost > 0 || k.files("staging") != 0 || k.files("assets") != len(all) {
		t.Errorf("lost %d; %d staged files are left; %d files for %d assets", lost, k.files("staging"), k.files("assets"), len(all))
	}
}

// TestIndexing_KillAtAnyPointLeavesTheIndexEqualToTheDatabase kills the relays of
// changes and events and the indexer at each of their points while changes flow, and
// starts them again. The log of events misses none either, and neither does a second
// subscriber beside the indexer.
func TestIndexing_KillAtAnyPointLeavesTheIndexEqualToTheDatabase(t *testing.T) {
	t.Parallel()
	k := newKilled(t)
	w := newWitness(t, k.cfg)
	n := 0
	for name := range failpoint.Names {
		if !strings.HasPrefix(name, "relay.") && !strings.HasPrefix(name, "events.") && !strings.HasPrefix(name, "indexer.") {
			continue
		}
		p := serve(t, k.cfg, name+":2", "api,relay,index")
		// A group waits up to 10 s for the member that was killed before.
		for began, alive := time.Now(), true; alive && time.Since(began) < time.Minute; {
			n++
			alive, _ = k.upload(n)
			time.Sleep(100 * time.Millisecond) // so that there is more than one batch
		}
		p.awaitDeath(name)
	}
	p := serve(t, k.cfg, "", "api,relay,index")
	servicetest.Eventually(t, "the index has caught up", func() error {
		found, err := k.api.SearchAssets(t.Context(), client.SearchAssetsInput{Limit: 1})
		if err != nil {
			return err
		}
		if rows := k.rows(); int(found.Total) != rows {
			return fmt.Errorf("%d of %d found", found.Total, rows)
		}
		return nil
	})
	servicetest.Eventually(t, "each asset has its event, and Kafka has them", func() error {
		logged, waiting := k.count(`SELECT count(DISTINCT key) FROM events WHERE type = 'asset.created'`), k.count(`SELECT count(*) FROM outbox`)
		if rows := k.rows(); logged != rows || waiting != 0 {
			return fmt.Errorf("%d events for %d assets, %d rows in the outbox", logged, rows, waiting)
		}
		return nil
	})
	w.sawAll("after all kills")
	var got struct{ Missing, Stale, Orphans, Ahead, Remaining int64 }
	if err := json.Unmarshal([]byte(command(t, k.cfg, "reconcile", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Missing+got.Stale+got.Orphans+got.Ahead+got.Remaining != 0 {
		t.Errorf("the index differs from the database: %+v", got)
	}
	p.stop()
	t.Logf("%d uploads", n)
}
