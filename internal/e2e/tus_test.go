package e2e

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
	"vitrine/store/storetest"
)

// tusRun is a run of tus-js-client.
type tusRun struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

// tusClient starts tus-js-client on a file.
func tusClient(t *testing.T, base, key, file, storage string, chunk int) *tusRun {
	t.Helper()
	script, err := filepath.Abs("testdata/tus.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "node"), script, testenv.Tool(t, "tus-client"), base+"/api/v1/uploads", key, file, storage, strconv.Itoa(chunk))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &tusRun{cmd, bufio.NewScanner(out)}
}

// until reads what the client prints until a word with a number of at least n, and returns
// the rest of that line.
func (r *tusRun) until(t *testing.T, word string, n int64) string {
	t.Helper()
	var said []string
	for r.lines.Scan() {
		first, rest, _ := strings.Cut(r.lines.Text(), " ")
		said = append(said, r.lines.Text())
		if at, _ := strconv.ParseInt(rest, 10, 64); first == word && at >= n {
			return rest
		}
	}
	t.Fatalf("the client never said %q: %v", word, said[max(0, len(said)-5):])
	return ""
}

// large is a picture with random bytes behind its end, in a file.
func large(t *testing.T, size int, seed uint64) (file string, data []byte) {
	t.Helper()
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	data = append(picture(int(seed), ""), make([]byte, size)...)
	_, _ = r.Read(data[len(data)-size:])
	file = filepath.Join(t.TempDir(), "large.png")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, data
}

// inBothPlaces runs a test on a product that keeps its files in a folder, and on one that keeps them in a bucket of
// a real S3 server. dir is where the files can be looked at.
func inBothPlaces(t *testing.T, test func(t *testing.T, cfg service.Config, dir string)) {
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		cfg := servicetest.Config(t)
		test(t, cfg, filepath.Join(cfg.DataDir, "blobs"))
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		cfg, server := servicetest.Config(t), testenv.S3(t)
		cfg.Blobs, cfg.S3 = server.Bucket("library")+"/files", server.Access
		test(t, cfg, filepath.Join(server.Dir, "library", "files"))
	})
}

// TestTus_AKilledClientGoesOnWhereItWas kills tus-js-client in the midst of an upload, with
// requests of some size and with one request for the whole file.
func TestTus_AKilledClientGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	inBothPlaces(t, func(t *testing.T, cfg service.Config, _ string) { killedClient(t, newWorldAt(t, cfg)) })
}

func killedClient(t *testing.T, w world) {
	for i, chunk := range []int{300_000, 0} {
		size := []int{6 << 20, 40 << 20}[i]
		file, data := large(t, size, uint64(9100+i))
		storage := filepath.Join(t.TempDir(), "urls.json")
		key := w.NewKey(w.Tenant, library.PermIngest)
		first := tusClient(t, w.URL, key, file, storage, chunk)
		first.until(t, []string{"accepted", "sent"}[i], int64(size)/2)
		_ = first.cmd.Process.Kill()
		_ = first.cmd.Wait()

		second := tusClient(t, w.URL, key, file, storage, chunk)
		second.until(t, "resumes", 0)
		if at, _ := strconv.ParseInt(second.until(t, "sent", 0), 10, 64); at == 0 {
			t.Errorf("chunks of %d: it began again", chunk)
		}
		path := second.until(t, "path", 0)
		_ = second.cmd.Wait()
		n := node{w, key}
		status, out := n.post("/api/v1/import/comfyui/confirm-upload", map[string]any{"path": path, "filename": "große Datei.png", "fileSize": len(data), "mimeType": "image/png"})
		asset, _ := out["asset"].(map[string]any)
		if status != http.StatusOK || asset["assetH"] != sha1Hex(data) {
			t.Errorf("chunks of %d: storing answers %d %v, and the file is %s", chunk, status, out, sha1Hex(data))
		}
	}
}

// TestTus_AKillOfTheServiceAtAnyPointLosesNothingAcknowledged kills the service during an
// upload; the client, which knows nothing of it but errors, goes on.
func TestTus_AKillOfTheServiceAtAnyPointLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	inBothPlaces(t, func(t *testing.T, cfg service.Config, dir string) {
		k := newKilledAt(t, cfg)
		k.dir = dir
		killedService(t, k)
	})
}

func killedService(t *testing.T, k killed) {
	kills := 0
	points := []string{"upload.assembled:1", "upload.part_staged:2", "upload.noted:1", "upload.noted:3"}
	for i, point := range points[:min(len(points), randtest.Cases(t, 2))] {
		name, _, _ := strings.Cut(point, ":")
		file, data := large(t, 900_000, uint64(9200+i))
		p := serve(t, k.cfg, point, "api")
		run := tusClient(t, k.api.Base, k.api.Key, file, filepath.Join(t.TempDir(), "urls.json"), 400_000)
		p.awaitDeath(name)
		kills++
		p = serve(t, k.cfg, "", "api")
		path := run.until(t, "path", 0)
		_ = run.cmd.Wait()
		stored, err := k.api.StoreAsset(t.Context(), client.StoreAssetInput{StoragePath: path, Filename: "f.png", MIMEType: "image/png"})
		if err != nil || stored.Asset.AssetH != sha1Hex(data) || !k.stored(data) {
			t.Errorf("killed at %s: %+v, %v", point, stored.Asset, err)
		}
		p.stop()
	}
	command(t, k.cfg, "sweep", "--age", "0s")
	if left := k.files("staging"); left != 0 || k.files("assets") != kills {
		t.Errorf("%d staged files and %d assets are left", left, k.files("assets"))
	}
}

// tusCall sends one request of the protocol.
func (w world) tusCall(method, path, key string, body []byte, header ...string) (int, http.Header) {
	w.T.Helper()
	h := http.Header{"Tus-Resumable": {"1.0.0"}, "Authorization": {"Bearer " + key}}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	status, _, answer := w.Raw(method, path, "", body, h)
	return status, answer
}

// TestTus_AnswersAsTheProtocolSays holds single requests against tus 1.0.0.
func TestTus_AnswersAsTheProtocolSays(t *testing.T) {
	t.Parallel()
	inBothPlaces(t, func(t *testing.T, cfg service.Config, _ string) { answersAsTheProtocolSays(t, newWorldAt(t, cfg)) })
}

func answersAsTheProtocolSays(t *testing.T, w world) {
	const all, kind = "/api/v1/uploads", "application/offset+octet-stream"
	write := w.NewKey(w.Tenant, library.PermWrite)
	if status, _, h := w.Raw("OPTIONS", all, "", nil, nil); status != 204 || h.Get("Tus-Version") != "1.0.0" || !strings.Contains(h.Get("Tus-Extension"), "creation-with-upload") || h.Get("Tus-Max-Size") == "" {
		t.Errorf("OPTIONS answers %d %v", status, h)
	}
	data := picture(9300, "")
	length := strconv.Itoa(len(data))
	named := "filename " + base64.StdEncoding.EncodeToString([]byte("../../a\x00b.png")) + ",empty"
	status, h := w.tusCall("POST", all, write, data[:100], "Upload-Length", length, "Upload-Metadata", named, "Content-Type", kind)
	one, path := h.Get("Location"), h.Get("Vitrine-Storage-Path")
	if status != 201 || h.Get("Upload-Offset") != "100" || h.Get("Upload-Expires") == "" || strings.Contains(path, "..") {
		t.Fatalf("creation with upload answers %d %v", status, h)
	}
	sum := sha1.Sum(data[100:200])
	right, wrong := "sha1 "+base64.StdEncoding.EncodeToString(sum[:]), "sha1 "+base64.StdEncoding.EncodeToString(make([]byte, 20))
	other := w.NewKey(w.Tenant, library.PermWrite)
	stranger := w.NewKey(w.NewTenant("tus guests"), library.PermWrite)
	for _, c := range []tusRequest{
		{"another version", "HEAD", one, write, nil, []string{"Tus-Resumable", "0.2.2"}, 412, ""},
		{"no key", "HEAD", one, "", nil, nil, 401, ""},
		{"a key that reads", "HEAD", one, w.NewKey(w.Tenant, library.PermRead), nil, nil, 403, ""},
		{"another key", "HEAD", one, other, nil, nil, 404, ""},
		{"another tenant", "PATCH", one, stranger, data[100:], []string{"Upload-Offset", "100", "Content-Type", kind}, 404, ""},
		{"another tenant's delete", "DELETE", one, stranger, nil, nil, 404, ""},
		{"an unknown upload", "HEAD", all + "/019a7e3b-0a11-7c02-8f6e-0b6f2d8f7a55", write, nil, nil, 404, ""},
		{"no identifier", "HEAD", all + "/x%27y", write, nil, nil, 404, ""},
		{"a wrong offset", "PATCH", one, write, data[99:], []string{"Upload-Offset", "99", "Content-Type", kind}, 409, ""},
		{"another media type", "PATCH", one, write, data[100:], []string{"Upload-Offset", "100", "Content-Type", "image/png"}, 415, ""},
		{"no offset", "PATCH", one, write, data[100:], []string{"Content-Type", kind}, 400, ""},
		{"too many bytes", "PATCH", one, write, append(data[100:], 1), []string{"Upload-Offset", "100", "Content-Type", kind}, 413, ""},
		{"a wrong checksum", "PATCH", one, write, data[100:200], []string{"Upload-Offset", "100", "Content-Type", kind, "Upload-Checksum", wrong}, 460, ""},
		{"an unknown checksum", "PATCH", one, write, data[100:200], []string{"Upload-Offset", "100", "Content-Type", kind, "Upload-Checksum", "crc32 AAAA"}, 400, ""},
		{"what has come", "HEAD", one, write, nil, nil, 200, "100"},
		{"the right checksum", "PATCH", one, write, data[100:200], []string{"Upload-Offset", "100", "Content-Type", kind, "Upload-Checksum", right}, 204, "200"},
		{"an overridden method", "POST", one, write, data[200:300], []string{"Upload-Offset", "200", "Content-Type", kind, "X-HTTP-Method-Override", "PATCH"}, 204, "300"},
		{"the rest", "PATCH", one, write, data[300:], []string{"Upload-Offset", "300", "Content-Type", kind}, 204, length},
		{"more than all", "PATCH", one, write, data[:1], []string{"Upload-Offset", length, "Content-Type", kind}, 413, ""},
		{"the end", "HEAD", one, write, nil, nil, 200, length},
		{"no length", "POST", all, write, nil, nil, 400, ""},
		{"an empty file", "POST", all, write, nil, []string{"Upload-Length", "0"}, 400, ""},
		{"a file too large", "POST", all, write, nil, []string{"Upload-Length", "99999999999999"}, 413, ""},
		{"bad metadata", "POST", all, write, nil, []string{"Upload-Length", "5", "Upload-Metadata", "filename ***"}, 400, ""},
		{"a small file at once", "POST", all, write, data, []string{"Upload-Length", length, "Content-Type", kind}, 201, length},
	} {
		w.tusAnswers(c)
	}
	stored, err := w.Client(write).StoreAsset(t.Context(), client.StoreAssetInput{StoragePath: path, Filename: "a.png", MIMEType: "image/png"})
	if err != nil || stored.Asset.AssetH != sha1Hex(data) {
		t.Errorf("storing it answers %+v, %v", stored.Asset, err)
	}
}

// tusRequest is a request of the protocol tus, and what is answered.
type tusRequest struct {
	what, method, path, key string
	body                    []byte
	header                  []string
	status                  int
	offset                  string // "": none is answered
}

// tusAnswers sends a request, and compares its answer with the protocol.
func (w world) tusAnswers(c tusRequest) {
	t := w.T
	t.Helper()
	status, h := w.tusCall(c.method, c.path, c.key, c.body, c.header...)
	if status != c.status || c.offset != "" && h.Get("Upload-Offset") != c.offset {
		t.Errorf("%s: %s answers %d with offset %q, want %d and %q", c.what, c.method, status, h.Get("Upload-Offset"), c.status, c.offset)
	}
	if c.status != 401 && c.status != 403 && h.Get("Tus-Resumable") != "1.0.0" {
		t.Errorf("%s: the answer has no version: %v", c.what, h)
	}
}

// TestTus_UploadsExpireAndCountAgainstTheQuota looks at what is left behind, and at what a
// tenant with little room may begin.
func TestTus_UploadsExpireAndCountAgainstTheQuota(t *testing.T) {
	t.Parallel()
	inBothPlaces(t, func(t *testing.T, cfg service.Config, dir string) {
		cfg.SweepEvery = 200 * time.Millisecond
		expire(t, servicetest.StartWith(t, cfg, nil), dir)
	})
}

func expire(t *testing.T, e *servicetest.Env, dir string) {
	w := worldOf(e)
	begin := func(size int) (int, string) {
		status, h := w.tusCall("POST", "/api/v1/uploads", w.Key, []byte("the first bytes"), "Upload-Length", strconv.Itoa(size), "Content-Type", "application/offset+octet-stream")
		return status, h.Get("Location")
	}
	_, one := begin(1000)
	_, given := begin(1000)
	if status, _ := w.tusCall("DELETE", given, w.Key, nil); status != 204 {
		t.Errorf("termination answers %d", status)
	}
	if status, _ := w.tusCall("HEAD", given, w.Key, nil); status != 404 {
		t.Errorf("afterwards it is %d", status)
	}
	owner := storetest.Owner(t, e.Cfg.PostgresURL)
	if _, err := owner.Exec(context.Background(), `UPDATE uploads SET expires_at = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	if status, _ := w.tusCall("HEAD", one, w.Key, nil); status != 404 {
		t.Errorf("an expired upload is %d", status)
	}
	servicetest.Eventually(t, "what expired is swept", func() error {
		var rows int
		if err := owner.QueryRow(context.Background(), `SELECT count(*) FROM uploads`).Scan(&rows); err != nil || rows > 0 {
			return fmt.Errorf("%d rows, %v", rows, err)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, "staging", "*", "*")); len(files) > 0 {
			return fmt.Errorf("files %v", files)
		}
		return nil
	})
	used, err := e.Store.Limits.Get(t.Context(), w.Tenant)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Store.Limits.Set(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, w.Tenant, store.LimitChange{StorageBytes: number(used.StorageUsed + 10_000)}); err != nil {
		t.Fatal(err)
	}
	servicetest.Eventually(t, "the quota holds", func() error {
		if status, at := begin(20_000); status != http.StatusRequestEntityTooLarge {
			_, _ = w.tusCall("DELETE", at, w.Key, nil)
			return fmt.Errorf("a file too large is answered with %d", status)
		}
		return nil
	})
	if status, _ := begin(8_000); status != 201 {
		t.Errorf("a file that fits is answered with %d", status)
	}
	if status, _ := begin(8_000); status != http.StatusRequestEntityTooLarge {
		t.Errorf("two that fit alone and not together are answered with %d", status)
	}
}
