package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
)

const (
	alice = library.TenantID("00000000-0000-4000-8000-00000000000a")
	hello = library.AssetHash("aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d")
)

// keep stores "hello".
func keep(t *testing.T, d *blob.Disk) {
	t.Helper()
	s, err := d.Stage(t.Context(), alice, blob.NewStagingID(), strings.NewReader("hello"), 10)
	if err == nil {
		err = d.Commit(t.Context(), alice, s.ID, s.SHA1)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// names lists all that is below a folder.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		list = append(list, path)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return list
}

// TestOpenDisk_AnotherFolderIsRefusedAndNotTouched tries every way in which a path can
// lead to something else than the library's folder.
func TestOpenDisk_AnotherFolderIsRefusedAndNotTouched(t *testing.T) {
	base := t.TempDir()
	right, other := filepath.Join(base, "right"), filepath.Join(base, "other")
	d, err := blob.CreateDisk(right)
	if err != nil {
		t.Fatal(err)
	}
	want := d.ID()
	d.Close()
	if o, err := blob.CreateDisk(other); err != nil {
		t.Fatal(err)
	} else {
		o.Close()
	}
	write := func(path, content string) string {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Dir(path)
	}
	empty := filepath.Join(base, "empty")
	if err := os.MkdirAll(filepath.Join(empty, "lost+found"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, said := range map[string]string{
		filepath.Join(base, "missing"):           "it is missing",
		empty:                                    "it is empty",
		other:                                    "it has the store id ",
		write(base+"/foreign/holiday.jpg", "x"):  "it holds files but no vitrine-blobs",
		write(base+"/damaged/vitrine-blobs", ""): "its vitrine-blobs holds no id",
		filepath.Dir(write(base+"/copy/assets/a/x", "x")): "it holds files but no vitrine-blobs",
	} {
		before := names(t, dir)
		d, err := blob.OpenDisk(dir, want)
		var folder *blob.FolderError
		if !errors.As(err, &folder) || d != nil {
			t.Errorf("%s was opened: %v", dir, err)
			continue
		}
		for _, part := range []string{dir, want, said, "Mount the volume", "VITRINE_DATA_DIR", "vitrine blobs adopt"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error does not say %q: %v", dir, part, err)
			}
		}
		if after := names(t, dir); strings.Join(before, "\n") != strings.Join(after, "\n") {
			t.Errorf("%s was changed: %v", dir, after)
		}
	}
	if d, err := blob.OpenDisk(right, want); err != nil {
		t.Errorf("the right one: %v", err)
	} else {
		d.Close()
	}
}

// TestDisk_WritesStopWhileTheFolderIsGone: a volume that is unmounted later leaves an
// empty folder, or none, or another one at the path; nothing is written there, reading
// says so, and all goes on when the volume is back.
func TestDisk_WritesStopWhileTheFolderIsGone(t *testing.T) {
	base := t.TempDir()
	dir, aside := filepath.Join(base, "blobs"), filepath.Join(base, "aside")
	d, err := blob.CreateDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	keep(t, d)
	staged, err := d.Stage(t.Context(), alice, blob.NewStagingID(), strings.NewReader("under way"), 100)
	if err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(){
		"missing": func() {},
		"empty": func() {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		},
		"another": func() {
			o, err := blob.CreateDisk(dir)
			if err != nil {
				t.Fatal(err)
			}
			o.Close()
		},
	} {
		rename(t, dir, aside)
		put()
		before, kept := names(t, dir), names(t, aside)
		refusesWrites(t, d, name, staged)
		if now := append(names(t, dir), names(t, aside)...); strings.Join(now, "\n") != strings.Join(append(before, kept...), "\n") {
			t.Errorf("%s: something was written: %v", name, now)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		rename(t, aside, dir)
		if err := d.Check(t.Context()); err != nil {
			t.Errorf("%s, once it is back: %v", name, err)
		}
	}
	followsVolume(t, d, dir, staged)
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// followsVolume mounts the same volume again, which is another folder with the same id.
func followsVolume(t *testing.T, d *blob.Disk, dir string, staged blob.Staged) {
	t.Helper()
	aside := filepath.Join(filepath.Dir(dir), "aside")
	if err := os.CopyFS(aside, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	rename(t, dir, filepath.Join(filepath.Dir(dir), "unmounted"))
	if _, err := d.Open(t.Context(), alice, hello); err != nil {
		t.Errorf("what is open can be read: %v", err)
	}
	rename(t, aside, dir)
	if err := d.Commit(t.Context(), alice, staged.ID, staged.SHA1); err != nil {
		t.Error(err)
	}
	if !blob.HasFile(dir, alice, staged.SHA1, 9) {
		t.Error("it was not written to what is mounted now")
	}
}

// refusesWrites writes in every way, while the folder of files is gone.
func refusesWrites(t *testing.T, d *blob.Disk, name string, staged blob.Staged) {
	t.Helper()
	_, err := d.Stage(t.Context(), alice, blob.NewStagingID(), strings.NewReader("lost"), 100)
	_, sweepErr := d.RemoveLost(t.Context(), alice, hello, time.Now())
	_, _, stagedErr := d.SweepStaged(t.Context(), -1)
	for what, err := range map[string]error{
		"staging": err, "sweeping": sweepErr, "sweeping uploads": stagedErr,
		"committing": d.Commit(t.Context(), alice, staged.ID, staged.SHA1),
		"removing":   d.Remove(t.Context(), alice, hello),
		"a preview":  d.PutDerived(t.Context(), alice, hello, "512.jpg", []byte("x")),
	} {
		var folder *blob.FolderError
		if e := library.AsError(err); e.Kind != library.KindUnavailable || e.Code != library.CodeFilesUnavailable || !errors.As(err, &folder) {
			t.Errorf("%s, %s: %v", name, what, err)
		}
	}
}

// TestDisk_AFileThatCannotBeSeenIsNotMissing: with the volume away every file would
// look as if it had been deleted.
func TestDisk_AFileThatCannotBeSeenIsNotMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	d, err := blob.CreateDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	keep(t, d)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Open(t.Context(), alice, hello); library.AsError(err).Code != library.CodeFilesUnavailable {
		t.Errorf("got %v", err)
	}
}

func TestMarkFolder_TwoProcessesAgreeOnOneID(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	ids := make(chan string, 20)
	for range cap(ids) {
		go func() {
			id, err := blob.MarkFolder(dir)
			if err != nil {
				id = err.Error()
			}
			ids <- id
		}()
	}
	first := <-ids
	for range cap(ids) - 1 {
		if id := <-ids; id != first {
			t.Errorf("%q and %q", first, id)
		}
	}
	if left := names(t, dir); len(left) != 2 {
		t.Errorf("temporary files are left: %v", left)
	}
}
