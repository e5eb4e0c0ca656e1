package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/internal/stack"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// TestKafka_LosingItsDataWhileTheIndexerLagsLeavesNoAssetUnsearchable takes away all
// that Kafka holds at a time when only Kafka knows of thirty new assets. Nobody runs a
// command, and nobody waits for the daily comparison.
func TestKafka_LosingItsDataWhileTheIndexerLagsLeavesNoAssetUnsearchable(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	o.startImport(o.folder(20)).finish(20)
	o.indexed("the first import")
	o.take(stack.Pause, stack.OpenSearch) // the indexer lags
	o.startImport(o.folder(30)).finish(30)
	o.published()
	o.take(stack.Kill, stack.Kafka)
	if err := os.RemoveAll(filepath.Join(o.stack.Dir, stack.Kafka, "data")); err != nil {
		t.Fatal(err)
	}
	o.take(stack.Start, stack.Kafka)
	o.take(stack.Resume, stack.OpenSearch)
	o.indexed("the loss of Kafka's data")
}

// published waits until the database holds no change that Kafka does not.
func (o *outage) published() {
	o.t.Helper()
	servicetest.Eventually(o.t, "all changes are published", func() error {
		conn, err := pgx.Connect(o.t.Context(), o.cfg.PostgresURL)
		if err != nil {
			return err
		}
		defer conn.Close(context.Background())
		var waiting int
		if err := conn.QueryRow(o.t.Context(), `SELECT count(*) FROM outbox`).Scan(&waiting); err != nil {
			return err
		}
		if waiting > 0 {
			return fmt.Errorf("%d wait", waiting)
		}
		return nil
	})
}

// TestDatabase_RestoredByHandIsWhatSearchesShow puts an older copy of the database in
// the place of the present one, as an operator does with tools of PostgreSQL, and
// starts the service on it. The index knows assets that are not in it and newer
// versions of others; searches must show the copy, and what is changed from then on.
func TestDatabase_RestoredByHandIsWhatSearchesShow(t *testing.T) {
	t.Parallel()
	cfg := servicetest.Config(t)
	k := newKilledAt(t, cfg)
	p := serve(t, cfg, "")
	var hashes []string
	for n := range 5 {
		hashes = append(hashes, k.add(n, "kept"))
	}
	k.shows("tag:kept", hashes...)
	p.stop()
	older := copyDatabase(t, cfg)

	p = serve(t, cfg, "")
	for n := range 3 {
		k.tag(fmt.Sprintf("later%d", n), hashes[:2]...)
	}
	later := k.add(100, "later0")
	k.shows("tag:later0", hashes[0], hashes[1], later)
	p.stop()

	cfg.PostgresURL = older
	k.cfg = cfg
	p = serve(t, cfg, "")
	defer p.stop()
	k.shows("tag:later0")
	k.shows("tag:kept", hashes...)
	k.tag("anew", hashes[0]) // a version that the index knows of another past
	again := k.add(100, "anew")
	if again != later {
		t.Fatal("the same bytes have another hash")
	}
	k.shows("tag:anew", hashes[0], later)
}

// copyDatabase copies the database of a configuration, which nobody may use meanwhile.
func copyDatabase(t *testing.T, cfg service.Config) string {
	t.Helper()
	u, err := url.Parse(cfg.PostgresURL)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.Trim(u.Path, "/")
	u.Path = "/postgres"
	server := u.String()
	run := func(ctx context.Context, statement string) {
		t.Helper()
		conn, err := pgx.Connect(ctx, server)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	run(t.Context(), `CREATE DATABASE `+name+`_older TEMPLATE `+name)
	t.Cleanup(func() { run(context.Background(), `DROP DATABASE `+name+`_older WITH (FORCE)`) })
	u.Path = "/" + name + "_older"
	return u.String()
}

// add stores a picture with a tag and returns its hash.
func (k killed) add(n int, tag string) string {
	k.t.Helper()
	out, err := k.api.StoreAsset(k.t.Context(), client.StoreAssetInput{Filename: fmt.Sprintf("%d.png", n), MIMEType: "image/png", AssetDataBase64: base64.StdEncoding.EncodeToString(picture(n, "")), Tags: []string{tag}})
	if err != nil {
		k.t.Fatal(err)
	}
	return out.Asset.AssetH
}

// tag adds a tag to assets.
func (k killed) tag(tag string, hashes ...string) {
	k.t.Helper()
	if _, err := k.api.BulkUpdateAssetTags(k.t.Context(), client.BulkUpdateAssetTagsInput{AssetHs: hashes, Operation: "add", Tags: []string{tag}}); err != nil {
		k.t.Fatal(err)
	}
}

// shows waits until a search finds exactly these assets in a complete index.
func (k killed) shows(query string, hashes ...string) {
	k.t.Helper()
	slices.Sort(hashes)
	servicetest.Eventually(k.t, query+" finds what the database holds", func() error {
		out, err := k.api.SearchAssets(k.t.Context(), client.SearchAssetsInput{Query: query, Limit: 100})
		if err != nil {
			return err
		}
		found := []string{}
		for _, d := range out.Data {
			found = append(found, d.AssetH)
		}
		slices.Sort(found)
		if !slices.Equal(found, append([]string{}, hashes...)) || len(out.Degraded) > 0 {
			return fmt.Errorf("%d of %d assets, degraded %v", len(found), len(hashes), out.Degraded)
		}
		return nil
	})
}
