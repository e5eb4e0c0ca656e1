package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"vitrine/api/client"
	"vitrine/internal/opensearch"
	"vitrine/library"
	"vitrine/mappings"
	"vitrine/service/servicetest"
)

// TestDoctor_ComparesIndexAndLibraryByCountAndAge makes index and database differ in
// every way, and asks doctor, readyz and reconcile what they say.
func TestDoctor_ComparesIndexAndLibraryByCountAndAge(t *testing.T) {
	t.Parallel()
	k := newKilled(t)
	d := doctored{killed: k, names: mappings.Names(k.cfg.Prefix)}
	p := serve(t, k.cfg, "")
	for n := range 6 {
		d.hashes = append(d.hashes, k.add(n, "kept"))
	}
	k.shows("tag:kept", d.hashes...)
	k.tag("changed", d.hashes[2])
	k.shows("tag:changed", d.hashes[2])
	p.stop()
	d.says(0, "6 documents for 6 assets, 6 compared")

	index := d.names.Index(1)
	d.search(http.MethodPost, "/"+index+"/_delete_by_query?refresh=true", map[string]any{"query": map[string]any{"term": map[string]any{"asset_h": d.hashes[0]}}})
	d.says(0, "1 changes are on their way, the oldest for") // it may only just have come
	d.exec(`UPDATE assets SET updated_at = now() - interval '3 hours' WHERE asset_h = $1`, d.hashes[0])
	d.says(1, "1 assets are missing from the index; the oldest change that the index lacks is of 3h0m")
	d.exec(`UPDATE assets SET doc_version = doc_version + 5, updated_at = now() - interval '2 hours' WHERE asset_h = $1`, d.hashes[1])
	d.says(1, "1 documents are older than their assets")
	d.exec(`UPDATE assets SET doc_version = 1 WHERE asset_h = $1`, d.hashes[2])
	d.says(1, "1 documents are newer than the database, which was set back to an earlier time")
	d.exec(`DELETE FROM assets WHERE asset_h = $1`, d.hashes[3])
	d.says(1, "1 documents of assets show what is not there")
	d.exec(`INSERT INTO index_failures (tenant_id, key, doc_version, reason, partial) SELECT tenant_id, asset_h, doc_version, 'too long', false FROM assets WHERE asset_h = $1`, d.hashes[4])
	d.says(1, "1 documents are not found because the index refused them")
	if code, out := said(t, k.cfg, "reconcile", "--retry-refused"); code != 0 || !strings.Contains(out, "1 missing, 1 stale, 1 orphaned, 1 ahead") || !strings.Contains(out, "Queued 1 refused") {
		t.Errorf("reconcile: %d %s", code, out)
	}
	d.exec(`DELETE FROM index_failures`)
	d.exec(`DELETE FROM outbox`) // what was queued to be retried: no service is running that delivers it
	d.says(0, "5 documents for 5 assets, 5 compared")
	d.exec(`INSERT INTO river_job (state, finalized_at, max_attempts, args, kind, errors)
		SELECT 'discarded', now(), 1, jsonb_build_object('tenant_id', tenant_id, 'asset_h', asset_h), 'preview', ARRAY['{"error": "the disk is gone"}'::jsonb] FROM assets WHERE asset_h = $1`, d.hashes[4])
	d.says(1, "1 background jobs failed for good, the last (preview")
	d.exec(`DELETE FROM river_job`)
	d.tellOfALostIndex()
}

// TestDoctor_NamesWebhooksWhoseSecretsCannotBeRead takes the signing key away with which their secrets are
// encrypted, and puts it back.
func TestDoctor_NamesWebhooksWhoseSecretsCannotBeRead(t *testing.T) {
	t.Parallel()
	k := newKilledWith(t, servicetest.Config(t), library.PermRead, library.PermAdmin)
	d := doctored{killed: k}
	p := serve(t, k.cfg, "")
	disabled := false
	made, err := k.api.RegisterWebhook(t.Context(), client.RegisterWebhookInput{Name: "Relay", URL: "https://hooks.example.com/relay", Events: []string{"pipeline.completed"}, Enabled: &disabled})
	if err != nil {
		t.Fatal(err)
	}
	servicetest.Eventually(t, "all is well", func() error {
		if code, out := said(t, k.cfg, "doctor"); code != 0 || !strings.Contains(out, "the secrets of 1 webhooks can be read") {
			return fmt.Errorf("%d %s", code, out)
		}
		return nil
	})
	p.stop()
	key := filepath.Join(k.cfg.DataDir, "signing.key")
	if err := os.Rename(key, key+".away"); err != nil {
		t.Fatal(err)
	}
	lost := "1 of 1 webhooks were encrypted with another signing key, so nothing is sent to them; the first is Relay (" + made.WebhookID + ")"
	d.says(1, lost)
	if _, err := os.Stat(key); err == nil {
		t.Error("doctor made a signing key")
	}
	p = serve(t, k.cfg, "") // which makes another key
	d.says(1, lost)
	d.says(1, "/rotate) and give the new one to its receiver")
	if _, err := k.api.RotateWebhookSecret(t.Context(), client.RotateWebhookSecretInput{WebhookID: made.WebhookID}); err != nil {
		t.Fatal(err)
	}
	d.says(0, "the secrets of 1 webhooks can be read")
	p.stop()
	if err := os.Rename(key+".away", key); err != nil {
		t.Fatal(err)
	}
	d.says(1, lost)
}

// doctored is a library whose index and database are changed by hand.
type doctored struct {
	killed
	names  mappings.IndexNames
	hashes []string
}

// tellOfALostIndex takes the index away where nobody makes it anew.
func (d doctored) tellOfALostIndex() {
	d.t.Helper()
	p := serve(d.t, d.cfg, "", "api")
	d.ready(http.StatusOK, `{"status":"ready"}`)
	var live map[string]any
	d.ask(http.MethodGet, "/"+d.names.Alias()+"/_alias", nil, &live)
	for index := range live {
		d.search(http.MethodPut, "/"+index+"/_mapping", mappings.MetaBody(mappings.Meta{Incomplete: true}))
		d.ready(http.StatusOK, `{"status":"ready","degraded":["index_incomplete"]}`)
		d.says(1, "is being filled or compared: it has 5 documents for 5 assets, and searches say that it is incomplete")
		d.search(http.MethodDelete, "/"+index, nil)
	}
	d.ready(http.StatusServiceUnavailable, "NOT_READY")
	d.says(1, "is gone")
	p.stop()
	if code, out := said(d.t, d.cfg, "reconcile"); code != 0 || !strings.Contains(out, "Index fixed first: the index") || !strings.Contains(out, "is gone") {
		d.t.Errorf("reconcile without an index: %d %s", code, out)
	}
	d.says(0, "5 documents for 5 assets, 5 compared")
}

// says runs doctor and looks for its exit code and what it says of the index.
func (d doctored) says(code int, what string) {
	d.t.Helper()
	if got, out := said(d.t, d.cfg, "doctor"); got != code || !strings.Contains(out, what) {
		d.t.Errorf("doctor, not %d with %q: %d\n%s", code, what, got, out)
	}
}

// ready asks readyz until it answers this; the searcher believes an answer for a while.
func (d doctored) ready(status int, body string) {
	d.t.Helper()
	servicetest.Eventually(d.t, "readyz", func() error {
		res, err := http.Get(d.api.Base + "/readyz")
		if err != nil {
			return err
		}
		defer res.Body.Close()
		said, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != status || !strings.Contains(string(said), body) {
			return fmt.Errorf("%d %s, error %v", res.StatusCode, said, err)
		}
		return nil
	})
}

func (d doctored) search(method, path string, body any) {
	d.t.Helper()
	d.ask(method, path, body, nil)
}

func (d doctored) ask(method, path string, body, out any) {
	d.t.Helper()
	client, err := opensearch.NewClient(d.cfg.OpenSearchURL...)
	if err == nil {
		err = opensearch.Call(d.t.Context(), client, method, path, body, out)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d doctored) exec(sql string, args ...any) {
	d.t.Helper()
	conn, err := pgx.Connect(d.t.Context(), d.cfg.PostgresURL)
	if err != nil {
		d.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(d.t.Context(), sql, args...); err != nil {
		d.t.Fatal(err)
	}
}
