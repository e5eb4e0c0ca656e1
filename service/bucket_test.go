package service_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
	"vitrine/verify"
)

// inBucket keeps the files of a product in a bucket of a server of its own.
func inBucket(t *testing.T) (*testenv.S3Server, func(*service.Config)) {
	t.Helper()
	s := testenv.S3(t)
	url := s.Bucket("library") + "/files"
	return s, func(c *service.Config) { c.Blobs, c.S3 = url, s.Access }
}

func TestBucket_ALibraryStoresServesAndVerifiesItsFiles(t *testing.T) {
	t.Parallel()
	server, adjust := inBucket(t)
	e := servicetest.Start(t, servicetest.Options{Adjust: adjust})
	data := picture(21)
	got := e.StoreFile("", "fox.png", "image/png", data)
	path := "/api/v1/assets/" + got.Asset.AssetH + "/download"
	if status, body, _ := e.Raw(http.MethodGet, path, e.Key, nil, nil); status != http.StatusOK || !bytes.Equal(body, data) {
		t.Errorf("a download: %d, %d bytes of %d", status, len(body), len(data))
	}
	if status, body, _ := e.Raw(http.MethodGet, path, e.Key, nil, http.Header{"Range": {"bytes=5-20"}}); status != http.StatusPartialContent || !bytes.Equal(body, data[5:21]) {
		t.Errorf("a range: %d %x", status, body)
	}
	if again := e.StoreFile("", "fox.png", "image/png", data); again.Created {
		t.Error("the same bytes made another asset")
	}
	hash := library.AssetHash(got.Asset.AssetH)
	object := filepath.Join(server.Dir, "library", "files", "assets", string(e.Tenant), string(hash[:2]), string(hash))
	if counts, err := verify.Run(t.Context(), e.Store.Files, e.Blobs, verify.Options{Share: 1}); err != nil || counts.Files != 1 || counts.Hashed != 1 || counts.Damaged() != 0 {
		t.Errorf("verify: %+v %v", counts, err)
	}
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	if counts, err := verify.Run(t.Context(), e.Store.Files, e.Blobs, verify.Options{Share: 1}); err != nil || counts.Missing != 1 {
		t.Errorf("verify without the object: %+v %v", counts, err)
	}
	if status, body, _ := e.Raw(http.MethodGet, path, e.Key, nil, nil); status != http.StatusNotFound || !strings.Contains(string(body), library.CodeFileMissing) {
		t.Errorf("a download without the object: %d %s", status, body)
	}
	if e.StoreFile("", "fox.png", "image/png", data); !bytes.Equal(must(os.ReadFile(object)), data) {
		t.Error("storing the bytes again did not bring the object back")
	}
}

func must(data []byte, err error) []byte {
	if err != nil {
		return nil
	}
	return data
}

// TestBucket_AServerThatStopsIsSaidAndNothingIsTakenForMissing while it is away.
func TestBucket_AServerThatStopsIsSaidAndNothingIsTakenForMissing(t *testing.T) {
	t.Parallel()
	server, adjust := inBucket(t)
	e := servicetest.Start(t, servicetest.Options{Roles: []service.Role{service.RoleAPI, service.RoleIndex}, Adjust: adjust})
	stored := e.StoreFile("", "fox.png", "image/png", picture(22))
	path := "/api/v1/assets/" + stored.Asset.AssetH + "/download"
	server.Stop()
	if err := upload(e, picture(23)); !client.IsCode(err, library.CodeFilesUnavailable) {
		t.Errorf("an upload: %v", err)
	}
	if status, body, _ := e.Raw(http.MethodGet, path, e.Key, nil, nil); status != http.StatusServiceUnavailable {
		t.Errorf("a download: %d %s", status, body)
	}
	if _, err := verify.Run(t.Context(), e.Store.Files, e.Blobs, verify.Options{Share: 1}); err == nil {
		t.Error("verify went on")
	}
	if n, err := e.Store.Files.CountDamaged(t.Context()); err != nil || len(n) > 0 {
		t.Errorf("files were recorded as damaged: %v %v", n, err)
	}
	server.Start()
	if got := e.StoreFile("", "a.png", "image/png", picture(23)); !got.Created {
		t.Errorf("once it is back: %+v", got)
	}
	if status, _, _ := e.Raw(http.MethodGet, path, e.Key, nil, nil); status != http.StatusOK {
		t.Errorf("a download: %d", status)
	}
}

func TestBucket_AnotherOrAnEmptyOneIsRefusedAndNotMarked(t *testing.T) {
	t.Parallel()
	server, adjust := inBucket(t)
	cfg := servicetest.Config(t)
	adjust(&cfg)
	s, err := service.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	home, err := s.Store.Tenants.EnsureDefault(t.Context(), operator)
	if err != nil {
		t.Fatal(err)
	}
	storeBytes(t, s, home.ID, picture(24))
	want := s.Blobs.ID()
	s.Close()
	empty := cfg
	empty.Blobs = server.Bucket("another")
	if got := refused(t, empty); got.State != blob.FolderEmpty || got.Want != want || !strings.Contains(got.Error(), "VITRINE_BLOBS") {
		t.Errorf("an empty bucket: %v", got)
	}
	if list := tree(t, filepath.Join(server.Dir, "another")); strings.Contains(list, "vitrine-blobs") {
		t.Errorf("it was marked: %s", list)
	}
	empty.Blobs = "s3://nowhere"
	if got := refused(t, empty); got.State != blob.FolderMissing {
		t.Errorf("a bucket that does not exist: %v", got)
	}
	at, err := blob.At(server.Bucket("third"), server.Access)
	if err != nil {
		t.Fatal(err)
	}
	id, err := at.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	empty.Blobs = "s3://third"
	if got := refused(t, empty); got.ID != id || got.Want != want {
		t.Errorf("another library's bucket: %v", got)
	}
	if s, err = service.Open(t.Context(), cfg); err != nil {
		t.Fatalf("with the right bucket: %v", err)
	}
	s.Close()
}

// TestBucket_DirectDownloadsAreLinksThatEnd: the link works without a key, under the file's
// own name, and for minutes only.
func TestBucket_DirectDownloadsAreLinksThatEnd(t *testing.T) {
	t.Parallel()
	_, adjust := inBucket(t)
	e := servicetest.Start(t, servicetest.Options{Roles: []service.Role{service.RoleAPI, service.RoleIndex}, Adjust: func(c *service.Config) {
		adjust(c)
		c.DirectDownloads = 2 * time.Second
	}})
	data := picture(25)
	got := e.StoreFile("", "ein fuchs.png", "image/png", data)
	keep := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	fetch := func(c *http.Client, url, key string) (*http.Response, []byte) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, body
	}
	first, _ := fetch(keep, e.URL+"/api/v1/assets/"+got.Asset.AssetH+"/download", e.Key)
	link := first.Header.Get("Location")
	if first.StatusCode != http.StatusTemporaryRedirect || !strings.Contains(link, "X-Amz-Expires=2") || first.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s %v", first.StatusCode, link, first.Header)
	}
	second, body := fetch(http.DefaultClient, link, "")
	if second.StatusCode != http.StatusOK || !bytes.Equal(body, data) || second.Header.Get("Content-Type") != "image/png" || !strings.HasPrefix(second.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%d %v", second.StatusCode, second.Header)
	}
	if altered, _ := fetch(http.DefaultClient, strings.Replace(link, "X-Amz-Expires=2", "X-Amz-Expires=900", 1), ""); altered.StatusCode != http.StatusForbidden {
		t.Errorf("with another expiry: %d", altered.StatusCode)
	}
	servicetest.Eventually(t, "the link ends", func() error {
		if late, _ := fetch(http.DefaultClient, link, ""); late.StatusCode != http.StatusForbidden {
			return errors.New(late.Status)
		}
		return nil
	})
}

func TestBucket_DirectDownloadsAreRefusedForAFolderAndBeyondFiveMinutes(t *testing.T) {
	t.Parallel()
	cfg := servicetest.Config(t)
	cfg.DirectDownloads = time.Minute
	if _, err := service.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "VITRINE_DIRECT_DOWNLOADS") {
		t.Errorf("for a folder: %v", err)
	}
	cfg.DirectDownloads = 6 * time.Minute
	if _, err := service.Open(t.Context(), cfg); err == nil || library.AsError(err).Kind != library.KindInvalid {
		t.Errorf("for six minutes: %v", err)
	}
}

// TestMoveBlobs_AnInterruptedMoveToABucketAndBackGoesOn with files that nobody copies twice.
func TestMoveBlobs_AnInterruptedMoveToABucketAndBackGoesOn(t *testing.T) {
	t.Parallel()
	cfg, folder := withAsset(t)
	server := testenv.S3(t)
	cfg.S3 = server.Access
	s, err := service.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	home, err := s.Store.Tenants.EnsureDefault(t.Context(), operator)
	if err != nil {
		t.Fatal(err)
	}
	const files = 40
	for i := range files - 1 {
		storeBytes(t, s, home.ID, picture(100+i))
	}
	url := server.Bucket("library")
	bucket, err := blob.At(url, server.Access)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	first, err := service.MoveBlobs(ctx, s.Store, cfg, bucket, operator, service.MoveOptions{Progress: func(_ string, done, total int64) {
		if done > total/3 {
			cancel()
		}
	}})
	if err == nil || first.Copied == 0 || first.Copied >= files {
		t.Fatalf("an interrupted move: %+v %v", first, err)
	}
	if id, err := s.Store.Files.BlobStore(t.Context()); err != nil || id != s.Blobs.ID() {
		t.Errorf("the library was moved with files missing: %s %v", id, err)
	}
	second, err := service.MoveBlobs(t.Context(), s.Store, cfg, bucket, operator, service.MoveOptions{})
	if err != nil || second.Files != files || second.Copied > files-first.Copied || second.Missing != 0 {
		t.Fatalf("the second run: %+v %v", second, err)
	}
	if got := refused(t, cfg); got.Want != second.StoreID {
		t.Errorf("the former folder: %v", got)
	}
	moved := cfg
	moved.Blobs = url
	checkWhole(t, moved, files)
	back, err := service.MoveBlobs(t.Context(), s.Store, moved, blob.DiskLocation(folder+"-new"), operator, service.MoveOptions{Stopped: true})
	if err != nil || back.Copied != files {
		t.Fatalf("back to a folder: %+v %v", back, err)
	}
	cfg.Blobs = folder + "-new"
	checkWhole(t, cfg, files)
}

// checkWhole reads every file of a library.
func checkWhole(t *testing.T, cfg service.Config, files int64) {
	t.Helper()
	s, err := service.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := verify.Run(t.Context(), s.Store.Files, s.Blobs, verify.Options{Share: 1}); err != nil || got.Hashed != files || got.Damaged() != 0 {
		t.Errorf("%s: %+v %v", cfg.Blobs, got, err)
	}
}

func TestMoveBlobs_ALibraryWithMissingFilesStaysWhereItIsUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	cfg, folder := withAsset(t)
	st, err := store.Open(t.Context(), cfg.Database())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := os.RemoveAll(filepath.Join(folder, "assets")); err != nil {
		t.Fatal(err)
	}
	to := blob.DiskLocation(filepath.Join(t.TempDir(), "new"))
	before, err := st.Files.BlobStore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := service.MoveBlobs(t.Context(), st, cfg, to, operator, service.MoveOptions{})
	if err == nil || !strings.Contains(err.Error(), "--accept-missing") || got.Missing != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if now, err := st.Files.BlobStore(t.Context()); err != nil || now != before {
		t.Errorf("it was moved: %s %v", now, err)
	}
	if got, err = service.MoveBlobs(t.Context(), st, cfg, to, operator, service.MoveOptions{AcceptMissing: true, Stopped: true}); err != nil || got.Missing != 1 {
		t.Errorf("%+v %v", got, err)
	}
	if now, err := st.Files.BlobStore(t.Context()); err != nil || now != got.StoreID {
		t.Errorf("it was not moved: %s %v", now, err)
	}
	if _, err := service.MoveBlobs(t.Context(), st, cfg, blob.DiskLocation(folder), operator, service.MoveOptions{}); err == nil {
		t.Error("a library was moved to where it is")
	}
}
