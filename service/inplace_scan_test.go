package service_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/verify"
)

func TestInPlace_AScanFollowsMovesAndMarksWhatIsGone(t *testing.T) {
	t.Parallel()
	e, dir := folderOf(t, service.RoleAPI, service.RoleWork, service.RoleIndex)
	put(t, filepath.Join(dir, "drafts", "p0.png"), picture(10))
	for n := range 5 {
		put(t, filepath.Join(dir, fmt.Sprintf("p%d.png", n+1)), picture(11+n))
	}
	first := runImport(t, e, client.StartImportInput{Folder: "pictures"})
	if first.Counts.Stored != 6 {
		t.Fatalf("%+v", first)
	}
	for n := range 6 { // what makes a preview of a file that is gone marks it as missing, before the scan does
		path := fmt.Sprintf("p%d.png", n)
		if n == 0 {
			path = "drafts/p0.png"
		}
		awaitPreview(t, e, assetAt(t, e, path).Hash)
	}
	moved, gone, replaced := assetAt(t, e, "drafts/p0.png"), assetAt(t, e, "p1.png"), assetAt(t, e, "p2.png")
	changeFolder(t, dir)
	second := runImport(t, e, client.StartImportInput{Folder: "pictures"})
	followsFolder(t, second.Counts, filesOf(t, e, second.ID), moved.Hash, gone.Hash, replaced.Hash)
	history, err := e.Store.Originals.History(t.Context(), e.Tenant, moved.Hash)
	if err != nil || len(history) != 2 || history[0].Path != "best/p0.png" || history[1].Path != "drafts/p0.png" || history[1].Until == nil {
		t.Errorf("the history of the renamed one: %+v %v", history, err)
	}
	if status, data := download(e, moved.Hash); status != http.StatusOK || data != string(picture(10)) {
		t.Errorf("the renamed one: %d", status)
	}
	if status, _ := download(e, replaced.Hash); status == http.StatusOK {
		t.Error("the replaced one is served")
	}
	put(t, filepath.Join(dir, "p1.png"), picture(11))
	third := runImport(t, e, client.StartImportInput{Folder: "pictures"})
	if third.Counts.Back != 1 || third.Counts.Missing != 0 {
		t.Errorf("put back: %+v", third.Counts)
	}
	if status, _ := download(e, gone.Hash); status != http.StatusOK {
		t.Errorf("put back: %d", status)
	}
}

// followsFolder compares what an import reports behind changeFolder.
func followsFolder(t *testing.T, c library.ImportCounts, files map[string]library.ImportFile, moved, gone, replaced library.AssetHash) {
	t.Helper()
	if c.Unchanged != 1 || c.Stored != 1 || c.Changed != 1 || c.Missing != 1 || c.Failed != 0 {
		t.Errorf("%+v\n%+v", c, files)
	}
	if f := files["best/p0.png"]; f.Result != "moved" || f.Asset != moved || !strings.Contains(f.Reason, "drafts/p0.png") {
		t.Errorf("in a renamed folder: %+v", f)
	}
	if f := files["p4.png"]; f.Result != "moved" || !strings.Contains(f.Reason, "renamed.png") {
		t.Errorf("renamed: %+v", f)
	}
	if f := files["p1.png"]; f.Result != "missing" || f.Asset != gone {
		t.Errorf("removed: %+v", f)
	}
	if f := files["p3.png"]; f.Result != "moved" || !strings.Contains(f.Reason, "copied.png") {
		t.Errorf("copied and removed: %+v", f)
	}
	if f := files["p2.png"]; f.Result != "changed" || f.Asset != replaced {
		t.Errorf("replaced: %+v", f)
	}
}

// changeFolder renames a folder and a file, removes p1, replaces p2, and moves p3 to another disk,
// where it has another inode with the same bytes.
func changeFolder(t *testing.T, dir string) {
	t.Helper()
	if err := os.Rename(filepath.Join(dir, "drafts"), filepath.Join(dir, "best")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "p4.png"), filepath.Join(dir, "renamed.png")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "p1.png")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "p2.png"), picture(100))
	put(t, filepath.Join(dir, "copied.png"), picture(13))
	if err := os.Remove(filepath.Join(dir, "p3.png")); err != nil {
		t.Fatal(err)
	}
}

func TestInPlace_ADiskThatIsNotMountedIsNoDeletion(t *testing.T) {
	t.Parallel()
	e, dir := folderOf(t, service.RoleAPI, service.RoleWork, service.RoleIndex)
	for n := range 5 {
		put(t, filepath.Join(dir, "sub", fmt.Sprintf("p%d.png", n)), picture(20+n))
	}
	runImport(t, e, client.StartImportInput{Folder: "pictures"})
	one := assetAt(t, e, "sub/p0.png")
	aside := dir + "-aside"
	if err := os.Rename(dir, aside); err != nil {
		t.Fatal(err)
	}
	if status, _ := download(e, one.Hash); status != http.StatusServiceUnavailable {
		t.Errorf("while the root is gone: %d", status)
	}
	if _, err := e.Client("").StartImport(t.Context(), client.StartImportInput{Folder: "pictures"}); !client.IsCode(err, "FILES_UNAVAILABLE") {
		t.Errorf("an import of a root that is gone: %v", err)
	}
	if err := os.Mkdir(dir, 0o750); err != nil { // an empty mount point
		t.Fatal(err)
	}
	got := runImport(t, e, client.StartImportInput{Folder: "pictures"})
	if got.Counts.Away != 5 || got.Counts.Missing != 0 || len(got.Warnings) == 0 {
		t.Errorf("an empty mount point: %+v", got)
	}
	if status, _ := download(e, one.Hash); status != http.StatusNotFound {
		t.Errorf("on an empty mount point: %d", status)
	}
	if now := assetAt(t, e, "sub/p0.png"); now.State != library.OriginalIntact {
		t.Errorf("it was marked as %s", now.State)
	}
	got = runImport(t, e, client.StartImportInput{Folder: "pictures", AcceptMissing: true})
	if got.Counts.Missing != 5 {
		t.Errorf("with accept_missing: %+v", got.Counts)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, dir); err != nil {
		t.Fatal(err)
	}
	got = runImport(t, e, client.StartImportInput{Folder: "pictures"})
	if got.Counts.Back+got.Counts.Unchanged != 5 {
		t.Errorf("mounted again: %+v", got.Counts)
	}
	if status, _ := download(e, one.Hash); status != http.StatusOK {
		t.Errorf("mounted again: %d", status)
	}
}

func TestInPlace_NothingLeadsOutOfARoot(t *testing.T) {
	t.Parallel()
	e, dir := folderOf(t, service.RoleAPI, service.RoleWork, service.RoleIndex)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.png")
	put(t, secret, picture(30))
	inside := filepath.Join(dir, "real.png")
	put(t, inside, picture(31))
	for name, to := range map[string]string{"link.png": secret, "folder": outside, "up.png": "../" + filepath.Base(outside) + "/secret.png", "good.png": "real.png"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{outside, "..", "pictures/..", "pictures/../..", dir + "/..", "/", "", "pictures/folder", "other", dir + "x", "pictures/nowhere"} {
		_, err := e.Client("").StartImport(t.Context(), client.StartImportInput{Folder: folder})
		if !client.IsCode(err, "VALIDATION_FAILED") {
			t.Errorf("%q: %v", folder, err)
		}
	}
	got := runImport(t, e, client.StartImportInput{Folder: "pictures"})
	if got.Counts.Stored != 1 || got.Counts.Already != 1 || got.Counts.Skipped != 3 {
		t.Errorf("%+v %+v", got.Counts, filesOf(t, e, got.ID))
	}
	// What is imported is swapped for a link later.
	one := assetAt(t, e, "real.png")
	if err := os.Remove(filepath.Join(dir, "good.png")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(inside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, inside); err != nil {
		t.Fatal(err)
	}
	if status, data := download(e, one.Hash); status == http.StatusOK || strings.Contains(data, string(picture(30))) {
		t.Errorf("a link out of the root is served: %d", status)
	}
	other := e.NewTenant("other")
	if _, err := e.Client(e.NewKey(other, "read", "write", "admin")).StartImport(t.Context(), client.StartImportInput{Folder: "pictures"}); !client.IsCode(err, "VALIDATION_FAILED") {
		t.Errorf("another tenant: %v", err)
	}
	if _, err := e.Client(e.NewKey(e.Tenant, "read", "write")).StartImport(t.Context(), client.StartImportInput{Folder: "pictures"}); !client.IsCode(err, "PERMISSION_REQUIRED") {
		t.Errorf("a key without admin: %v", err)
	}
}

func TestInPlace_PurgeVerifyAndUploadsLeaveTheOriginalAlone(t *testing.T) {
	t.Parallel()
	e, dir := folderOf(t, service.RoleAPI, service.RoleWork, service.RoleIndex)
	a, b := filepath.Join(dir, "a.png"), filepath.Join(dir, "b.png")
	put(t, a, picture(40))
	put(t, b, picture(41))
	runImport(t, e, client.StartImportInput{Folder: "pictures"})
	first, second := assetAt(t, e, "a.png"), assetAt(t, e, "b.png")
	counts, err := verify.Run(t.Context(), e.Store.Files, e.Blobs, verify.Options{Share: 1})
	if err != nil || counts.Originals != 2 || counts.Lost != 0 || counts.Damaged() != 0 {
		t.Errorf("%+v %v", counts, err)
	}
	api := e.Client("")
	if _, err := api.TrashAssets(t.Context(), client.TrashAssetsInput{AssetHs: []string{string(first.Hash)}, Operation: "trash"}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.PurgeTrash(t.Context(), client.PurgeTrashInput{All: true, Confirm: true}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(a); err != nil || string(data) != string(picture(40)) {
		t.Fatalf("the purge touched the original: %v", err)
	}
	// A scan does not bring it back and does not read it again.
	got := runImport(t, e, client.StartImportInput{Folder: "pictures"})
	if got.Counts.Read != 0 || got.Counts.Stored != 0 {
		t.Errorf("after the purge: %+v", got.Counts)
	}
	if _, err := e.Sweep(t.Context(), service.SweepOptions{}); err != nil {
		t.Error(err)
	}
	// Stored in the usual way, it is the library's own.
	e.StoreFile("", "b.png", "image/png", picture(41))
	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	if status, data := download(e, second.Hash); status != http.StatusOK || data != string(picture(41)) {
		t.Errorf("after an upload of the same bytes: %d", status)
	}
}

func TestInPlace_AWatchedFolderIsFollowed(t *testing.T) {
	t.Parallel()
	e, dir := folderOf(t)
	put(t, filepath.Join(dir, "one.png"), picture(50))
	started, err := e.Client("").StartImport(t.Context(), client.StartImportInput{Folder: "pictures", Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	awaitImport(t, e, started.ImportID, func(i library.Import) bool { return i.State == library.ImportWatching && i.Counts.Stored == 1 })
	time.Sleep(time.Second) // the events are asked for
	// A file that is being written is not imported before it is whole.
	slow := filepath.Join(dir, "new", "deep", "two.png")
	if err := os.MkdirAll(filepath.Dir(slow), 0o750); err != nil {
		t.Fatal(err)
	}
	whole := picture(51)
	if err := os.WriteFile(slow, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := os.WriteFile(slow, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	awaitImport(t, e, started.ImportID, func(i library.Import) bool { return i.Counts.Stored == 2 })
	if at := assetAt(t, e, "new/deep/two.png"); at.Stamp.Size != int64(len(whole)) {
		t.Errorf("half a file was imported: %+v", at)
	}
	if err := os.Rename(filepath.Join(dir, "one.png"), filepath.Join(dir, "new", "uno.png")); err != nil {
		t.Fatal(err)
	}
	awaitImport(t, e, started.ImportID, func(i library.Import) bool { return i.Counts.Moved >= 1 })
	if err := os.Remove(slow); err != nil {
		t.Fatal(err)
	}
	awaitImport(t, e, started.ImportID, func(i library.Import) bool { return i.Counts.Missing == 1 })
	// The disk goes and comes back: nothing is marked.
	if err := os.Rename(dir, dir+"-aside"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(4 * time.Second)
	if err := os.Rename(dir+"-aside", dir); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "three.png"), picture(52))
	got := awaitImport(t, e, started.ImportID, func(i library.Import) bool { return i.Counts.Stored == 3 })
	if got.Counts.Missing != 1 || got.Counts.Failed != 0 {
		t.Errorf("%+v %+v", got, filesOf(t, e, started.ImportID))
	}
	if _, err := e.Client("").CancelImport(t.Context(), client.CancelImportInput{ImportID: started.ImportID}); err != nil {
		t.Fatal(err)
	}
	awaitImport(t, e, started.ImportID, func(i library.Import) bool { return i.State == library.ImportCancelled })
}

// awaitPreview waits until the preview of an asset is made.
func awaitPreview(t *testing.T, e *servicetest.Env, hash library.AssetHash) {
	t.Helper()
	servicetest.Eventually(t, "the details have a placeholder", func() error {
		var details struct {
			Placeholder []byte `json:"placeholder"`
		}
		e.Call(http.MethodGet, "/api/v1/assets/"+string(hash)+"?response_format=detailed", nil, &details)
		if len(details.Placeholder) == 0 {
			return errors.New("it has none yet")
		}
		return nil
	})
}
