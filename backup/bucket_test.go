package backup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/backup"
	"vitrine/internal/testenv"
)

// bucketTarget is a place for backups in a bucket of a server of its own.
func bucketTarget(t *testing.T) (*testenv.S3Server, backup.Target, string) {
	t.Helper()
	s := testenv.S3(t)
	place := s.Bucket("backups") + "/vitrine"
	to, err := backup.CreateAt(t.Context(), place, s.Access)
	if err != nil {
		t.Fatal(err)
	}
	return s, to, place
}

func TestBucket_ABackupInItRestoresTheLibraryAndCopiesFilesOnce(t *testing.T) {
	t.Parallel()
	x := newShelf(t)
	for _, content := range []string{"one", "two", "three"} {
		x.add(content, "image/png")
	}
	server, to, place := bucketTarget(t)
	create(t, x, to)
	x.add(strings.Repeat("a long file ", 1<<20), "video/mp4") // sent in parts
	second := create(t, x, to)
	if second.Files.Copied != 1 {
		t.Errorf("the second backup copied %d files", second.Files.Copied)
	}
	again, err := backup.OpenAt(t.Context(), place, server.Access)
	if err != nil {
		t.Fatal(err)
	}
	m, err := backup.ReadManifest(t.Context(), again, "")
	if err != nil || m.ID != second.ID {
		t.Fatalf("%s %v", m.ID, err)
	}
	if damaged, err := backup.Verify(t.Context(), again, m, backup.Options{}); err != nil || len(damaged) > 0 {
		t.Errorf("it does not verify: %v %v", damaged, err)
	}
	url := testenv.Postgres(t)
	into, dir := empty(t, url)
	if got, err := backup.Restore(t.Context(), again, m, into, backup.Options{}); err != nil || got.Assets != 4 {
		t.Fatalf("%+v %v", got, err)
	}
	if diff := cmp.Diff(rows(t, x.url), rows(t, url)); diff != "" {
		t.Errorf("rows (-original +restored):\n%s", diff)
	}
	if diff := cmp.Diff(files(t, x.dir), files(t, dir)); diff != "" {
		t.Errorf("files differ")
	}
}

func TestBucket_IsLockedUntilItsHolderIsDoneOrDead(t *testing.T) {
	t.Parallel()
	server, to, _ := bucketTarget(t)
	held, unlock, err := to.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := to.Lock(t.Context()); err == nil || !strings.Contains(err.Error(), "another backup") {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	if held.Err() == nil {
		t.Error("the context of the lock goes on")
	}
	if _, unlock, err = to.Lock(t.Context()); err != nil {
		t.Fatalf("after the unlock: %v", err)
	}
	defer unlock()
	lock := filepath.Join(server.Dir, "backups", "vitrine", "lock")
	before := time.Now().Add(-time.Hour)
	if err := os.Chtimes(lock, before, before); err != nil { // as of a process that died
		t.Fatal(err)
	}
	_, second, err := to.Lock(t.Context())
	if err != nil {
		t.Fatalf("a dead holder's lock: %v", err)
	}
	second()
}

func TestBucket_OneThatHoldsOtherThingsIsRefused(t *testing.T) {
	t.Parallel()
	s := testenv.S3(t)
	url := s.Bucket("photos")
	if err := os.WriteFile(filepath.Join(s.Dir, "photos", "holiday.jpg"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.CreateAt(t.Context(), url, s.Access); err == nil || !strings.Contains(err.Error(), "holds objects") {
		t.Errorf("%v", err)
	}
	if _, err := backup.OpenAt(t.Context(), url, s.Access); err == nil {
		t.Error("it was opened")
	}
	if _, err := backup.CreateAt(t.Context(), "s3://nowhere", s.Access); err == nil {
		t.Error("a bucket that does not exist was taken")
	}
}
