package service_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
	"vitrine/store/storetest"
)

// withAsset is a configuration whose library has one asset, and is not served now.
func withAsset(t *testing.T) (cfg service.Config, blobs string) {
	t.Helper()
	cfg = servicetest.Config(t)
	cfg.DataDir = filepath.Join(t.TempDir(), "volume", "data")
	s, err := service.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	home, err := s.Store.Tenants.EnsureDefault(t.Context(), operator)
	if err != nil {
		t.Fatal(err)
	}
	storeBytes(t, s, home.ID, picture(9))
	return cfg, filepath.Join(cfg.DataDir, "blobs")
}

var operator = library.Actor{Kind: library.ActorSystem, ID: "test"}

// storeBytes stores a file as StoreAsset does, of a service that does not run.
func storeBytes(t *testing.T, s *service.Service, tenant library.TenantID, data []byte) blob.Staged {
	t.Helper()
	staged, err := s.Blobs.Stage(t.Context(), tenant, blob.NewStagingID(), bytes.NewReader(data), 1<<30)
	if err == nil {
		err = s.Blobs.Commit(t.Context(), tenant, staged.ID, staged.SHA1)
	}
	if err == nil {
		actor := operator
		actor.Tenant = tenant
		_, err = s.Store.Assets.Add(t.Context(), actor, store.NewAsset{Asset: library.Asset{Hash: staged.SHA1, SHA256: staged.SHA256,
			BLAKE3: staged.BLAKE3, Filename: "fox.png", MIMEType: "image/png", Size: staged.Size, CreatedAt: time.Now().UTC()}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return staged
}

// refused opens a service that must not start, and returns why.
func refused(t *testing.T, cfg service.Config) *blob.FolderError {
	t.Helper()
	s, err := service.Open(t.Context(), cfg)
	if err == nil {
		s.Close()
	}
	var folder *blob.FolderError
	if !errors.As(err, &folder) {
		t.Fatalf("it was opened, or refused for another reason: %v", err)
	}
	return folder
}

// TestOpen_AMissingOrEmptyOrOtherBlobFolderIsRefusedAndNotReplaced: what an unmounted
// volume leaves behind must not become a library's new store.
func TestOpen_AMissingOrEmptyOrOtherBlobFolderIsRefusedAndNotReplaced(t *testing.T) {
	t.Parallel()
	cfg, blobs := withAsset(t)
	aside := cfg.DataDir + "-aside"
	want, err := os.ReadFile(filepath.Join(blobs, "vitrine-blobs"))
	if err != nil {
		t.Fatal(err)
	}
	swap := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for name, leave := range map[string]func() error{
		"the data folder is missing": func() error { return nil },
		"the data folder is empty":   func() error { return os.Mkdir(cfg.DataDir, 0o700) },
		"the blob folder is empty":   func() error { return os.MkdirAll(blobs, 0o700) },
		"another library's folder": func() error {
			_, err := blob.MarkFolder(blobs)
			return err
		},
	} {
		swap(cfg.DataDir, aside)
		if err := leave(); err != nil {
			t.Fatal(err)
		}
		before := tree(t, filepath.Dir(cfg.DataDir))
		if got := refused(t, cfg); got.Want != strings.TrimSpace(string(want)) || !strings.Contains(got.Error(), "vitrine blobs adopt") {
			t.Errorf("%s: %v", name, got)
		}
		if after := tree(t, filepath.Dir(cfg.DataDir)); after != before {
			t.Errorf("%s: it was changed from\n%s to\n%s", name, before, after)
		}
		if err := os.RemoveAll(cfg.DataDir); err != nil {
			t.Fatal(err)
		}
		swap(aside, cfg.DataDir)
	}
	s, err := service.Open(t.Context(), cfg)
	if err != nil {
		t.Fatalf("with the volume mounted: %v", err)
	}
	s.Close()
}

// tree lists a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	if err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		list = append(list, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, "\n")
}

// TestOpen_AMissingFolderOfALibraryWithoutAssetsIsMadeAnew, and the folder of a library
// that was stored before its id was recorded is taken as it is.
func TestOpen_AMissingFolderOfALibraryWithoutAssetsIsMadeAnew(t *testing.T) {
	t.Parallel()
	cfg := servicetest.Config(t)
	for range 2 {
		cfg.DataDir = filepath.Join(t.TempDir(), "data")
		s, err := service.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if id, err := s.Store.Files.BlobStore(t.Context()); err != nil || id != s.Blobs.ID() {
			t.Errorf("recorded is %q, the folder has %q, %v", id, s.Blobs.ID(), err)
		}
		s.Close()
	}
	cfg, _ = withAsset(t)
	forget(t, cfg)
	s, err := service.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if id, err := s.Store.Files.BlobStore(t.Context()); err != nil || id != s.Blobs.ID() {
		t.Errorf("recorded is %q, the folder has %q, %v", id, s.Blobs.ID(), err)
	}
}

// forget takes the id of the blob folder out of the database, as in one of an earlier
// version.
func forget(t *testing.T, cfg service.Config) {
	t.Helper()
	tag, err := storetest.Owner(t, cfg.PostgresURL).Exec(t.Context(), `DELETE FROM blob_store`)
	if err != nil || tag.RowsAffected() != 1 {
		t.Fatalf("%d rows, %v", tag.RowsAffected(), err)
	}
}

func TestOpen_AnEmptyFolderOfALibraryWhoseIDWasNeverRecordedIsRefused(t *testing.T) {
	t.Parallel()
	cfg, blobs := withAsset(t)
	forget(t, cfg)
	if err := os.RemoveAll(blobs); err != nil {
		t.Fatal(err)
	}
	if got := refused(t, cfg); got.Want != "" || got.State != blob.FolderMissing {
		t.Errorf("%+v", got)
	}
}

// TestAdoptBlobs_AnIntendedChangeOfFolder moves a library to a copy without its mark,
// and then gives its files up.
func TestAdoptBlobs_AnIntendedChangeOfFolder(t *testing.T) {
	t.Parallel()
	cfg, blobs := withAsset(t)
	st, err := store.Open(t.Context(), cfg.Database())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	before, err := st.Files.BlobStore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(blobs, "vitrine-blobs")); err != nil {
		t.Fatal(err)
	}
	refused(t, cfg)
	got, err := service.AdoptBlobs(t.Context(), st, cfg, operator, false)
	if err != nil || !got.OK() || got.ID == before || got.Sampled != 1 || got.Missing != 0 {
		t.Fatalf("a copy that has the files: %+v %v", got, err)
	}
	if s, err := service.Open(t.Context(), cfg); err != nil {
		t.Error(err)
	} else {
		s.Close()
	}
	if err := os.RemoveAll(blobs); err != nil {
		t.Fatal(err)
	}
	lost, err := service.AdoptBlobs(t.Context(), st, cfg, operator, false)
	if err == nil || lost.Missing != 1 || !strings.Contains(err.Error(), "--accept-missing") {
		t.Errorf("a folder without the files: %+v %v", lost, err)
	}
	if _, err := os.Stat(blobs); err == nil {
		t.Error("the folder was made all the same")
	}
	if got, err := service.AdoptBlobs(t.Context(), st, cfg, operator, true); err != nil || !got.OK() || got.Missing != 1 {
		t.Errorf("accepting that they are lost: %+v %v", got, err)
	}
	if s, err := service.Open(t.Context(), cfg); err != nil {
		t.Error(err)
	} else {
		s.Close()
	}
}

// upload stores a file without repeating what fails.
func upload(e *servicetest.Env, data []byte) error {
	c := *e.Client("")
	c.Patience = -1
	_, err := c.StoreAsset(e.T.Context(), client.StoreAssetInput{Filename: "a.png", MIMEType: "image/png", AssetDataBase64: base64.StdEncoding.EncodeToString(data)})
	return err
}

// TestRun_AVolumeThatGoesAwayStopsWritesAndReadinessUntilItIsBack while the service runs.
func TestRun_AVolumeThatGoesAwayStopsWritesAndReadinessUntilItIsBack(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{Roles: []service.Role{service.RoleAPI, service.RoleIndex}})
	stored := e.StoreFile("", "fox.png", "image/png", picture(11))
	blobs := filepath.Join(e.Cfg.DataDir, "blobs")
	if err := os.Rename(blobs, blobs+"-aside"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(blobs, 0o700); err != nil { // the mount point
		t.Fatal(err)
	}
	err := upload(e, picture(12))
	var problem *client.Error
	if !errors.As(err, &problem) || problem.Status != http.StatusServiceUnavailable || problem.Code != library.CodeFilesUnavailable || !problem.Retryable {
		t.Errorf("an upload: %v", err)
	}
	if status, body, _ := e.Raw(http.MethodGet, "/readyz", "", nil, nil); status != http.StatusServiceUnavailable || !strings.Contains(string(body), "storage for files") {
		t.Errorf("readyz: %d %s", status, body)
	}
	if entries, err := os.ReadDir(blobs); err != nil || len(entries) > 0 {
		t.Errorf("something was written to the mount point: %v %v", entries, err)
	}
	servicetest.Eventually(t, "the log tells the operator", func() error {
		if !strings.Contains(e.Logs.Tail(1<<20), "vitrine blobs adopt") {
			return errors.New("not yet")
		}
		return nil
	})
	if err := errors.Join(os.Remove(blobs), os.Rename(blobs+"-aside", blobs)); err != nil {
		t.Fatal(err)
	}
	if got := e.StoreFile("", "a.png", "image/png", picture(12)); !got.Created {
		t.Errorf("once it is back: %+v", got)
	}
	if status, _, _ := e.Raw(http.MethodGet, "/api/v1/assets/"+stored.Asset.AssetH+"/download", e.Key, nil, nil); status != http.StatusOK {
		t.Errorf("a download: %d", status)
	}
	if status, body, _ := e.Raw(http.MethodGet, "/readyz", "", nil, nil); status != http.StatusOK {
		t.Errorf("readyz: %d %s", status, body)
	}
}

// TestRun_AnotherFolderThatIsAdoptedStopsWritesToTheFormerOne: a process whose path
// still leads to the former folder must not go on storing there.
func TestRun_AnotherFolderThatIsAdoptedStopsWritesToTheFormerOne(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{Roles: []service.Role{service.RoleAPI, service.RoleIndex}})
	e.StoreFile("", "fox.png", "image/png", picture(13))
	moved := e.Cfg
	moved.DataDir = filepath.Join(t.TempDir(), "elsewhere")
	if _, err := service.AdoptBlobs(t.Context(), e.Store, moved, operator, true); err != nil {
		t.Fatal(err)
	}
	servicetest.Eventually(t, "uploads are refused", func() error {
		err := upload(e, picture(14))
		if !client.IsCode(err, library.CodeFilesUnavailable) {
			return errors.Join(errors.New("it was answered otherwise"), err)
		}
		return nil
	})
}
