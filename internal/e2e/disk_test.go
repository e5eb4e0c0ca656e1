package e2e

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
	k, filler, free := k.onSmallDisk(8 << 20)
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
	servicetest.Eventually(t, "uploads work again without a restart", func() error { return store(1000) })
	if !k.stored(kept[len(kept)-1]) {
		t.Error("what was stored after the disk had space again does not come back")
	}
}

// onSmallDisk serves the product with its folder on a disk of its own of so many bytes,
// which one function fills and the other frees again. The files of what it returns are
// those that the process sees. Where users may not mount a disk, as in many containers,
// the product is told that its disk is full at the place where it writes.
func (k killed) onSmallDisk(size int) (on killed, fill, free func()) {
	k.t.Helper()
	other, length := "", size-(4<<20)
	if smallDisksWork(k.t.TempDir()) {
		p := serveWith(k.t, k.cfg, "", func(cmd *exec.Cmd) { onSmallDisk(cmd, k.cfg.DataDir, size) })
		k.cfg.DataDir = seenBy(p.cmd.Process.Pid, k.cfg.DataDir)
		other = filepath.Join(k.cfg.DataDir, "somebody-elses-file")
	} else {
		other, length = filepath.Join(k.t.TempDir(), "full"), 0
		serve(k.t, k.cfg, "blob.written=full:"+other)
		k.t.Log("this system lets users mount no disk; the product is told that its own is full")
	}
	fill = func() {
		if err := os.WriteFile(other, make([]byte, length), 0o600); err != nil {
			k.t.Fatal(err)
		}
	}
	return k, fill, func() {
		if err := os.Remove(other); err != nil {
			k.t.Fatal(err)
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
