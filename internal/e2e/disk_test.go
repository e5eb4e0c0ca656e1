package e2e

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/internal/failpoint"
	"vitrine/library"
	"vitrine/service/servicetest"
)

// noise makes a file of a size that compresses to nothing less.
func noise(n, size int) []byte {
	b := make([]byte, size)
	for i, x := 0, uint32(n+1); i < size; i++ {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return append(picture(n, ""), b...)
}

// TestDisk_FullOneIsSaidReadingGoesOnAndSpaceHealsIt fills the disk of the library.
// Uploads are refused with what to do, what is stored can be read, nothing half
// written stays, and as soon as there is space uploads work again.
func TestDisk_FullOneIsSaidReadingGoesOnAndSpaceHealsIt(t *testing.T) {
	t.Parallel()
	k := newKilled(t)
	filler, free := smallDisk(t, k.cfg.DataDir, 8<<20)
	serve(t, k.cfg, "")
	var kept [][]byte
	store := func(n int) error {
		data := noise(n, 400<<10)
		_, err := k.store(data)
		if err == nil {
			kept = append(kept, data)
		}
		return err
	}
	if err := store(0); err != nil {
		t.Fatal(err)
	}
	filler()
	var full *client.Error
	for n := 1; n < 100 && full == nil; n++ {
		if err := store(n); err != nil && !errors.As(err, &full) {
			t.Fatal(err)
		}
	}
	if full == nil || full.Status != http.StatusInsufficientStorage || full.Code != library.CodeStorageFull || !full.Retryable || full.RetryAfter <= 0 {
		t.Fatalf("a full disk was answered with %+v", full)
	}
	for i, data := range kept {
		if !k.stored(data) {
			t.Errorf("file %d cannot be read while the disk is full", i)
		}
	}
	if rows := k.rows(); rows != len(kept) {
		t.Errorf("there are %d assets for %d files that were acknowledged", rows, len(kept))
	}
	if left := k.files("staging"); left != 0 {
		t.Errorf("%d half written files stay", left)
	}
	free()
	servicetest.Eventually(t, 10*time.Second, "uploads work again without a restart", func() error { return store(1000) })
	if !k.stored(kept[len(kept)-1]) {
		t.Error("what was stored after the disk had space again does not come back")
	}
}

// smallDisk puts a folder on a disk of its own of so many bytes, which one function
// fills and the other frees again.
func smallDisk(t *testing.T, dir string, size int) (fill, free func()) {
	t.Helper()
	if err := mountSmall(dir, size); err != nil {
		t.Skipf("a small disk can be mounted by root only, so a full one is not tried: %v", err)
	}
	t.Cleanup(func() {
		if err := unmountSmall(dir); err != nil {
			t.Errorf("unmounting the small disk: %v", err)
		}
	})
	path := filepath.Join(dir, "somebody-elses-file")
	fill = func() {
		if err := os.WriteFile(path, make([]byte, size-(4<<20)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return fill, func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDisk_OneThatDoesNotKeepBytesIsNeverAcknowledged makes each step of an upload
// fail the way a disk does: its write, its fsync, its rename.
func TestDisk_OneThatDoesNotKeepBytesIsNeverAcknowledged(t *testing.T) {
	t.Parallel()
	k := newKilled(t)
	n := 0
	for name := range failpoint.Names {
		if !strings.HasPrefix(name, "blob.") {
			continue
		}
		p := serve(t, k.cfg, name+"=error", "api")
		n++
		data := picture(n, "")
		before := k.rows()
		_, err := k.store(data)
		var e *client.Error
		if !errors.As(err, &e) || e.Status < 500 {
			t.Errorf("%s failed, and the upload was answered with %v", name, err)
		}
		if k.rows() != before {
			t.Errorf("%s failed, and there is a row", name)
		}
		p.stop()
		if !bytes.Contains(p.out.Bytes(), []byte("failpoint: hit "+name)) {
			t.Errorf("%s was never reached", name)
		}
		p = serve(t, k.cfg, "", "api")
		if _, err := k.store(data); err != nil || !k.stored(data) {
			t.Errorf("after %s failed, the same file could not be stored: %v", name, err)
		}
		p.stop()
	}
	if n < 5 {
		t.Fatalf("only %d steps were tried", n)
	}
	command(t, k.cfg, "sweep", "--age", "0s")
	if k.files("staging") != 0 || k.files("assets") != n {
		t.Errorf("%d staged files are left, %d files for %d assets", k.files("staging"), k.files("assets"), n)
	}
}
