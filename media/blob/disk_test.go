package blob_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/blob/blobtest"
)

func TestDisk_KeepsTheContract(t *testing.T) {
	blobtest.Run(t, func(t *testing.T) blob.Store {
		d, err := blob.CreateDisk(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		return d
	})
}

func TestDisk_AFolderThatHoldsOtherThingsIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "holiday.jpg"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.CreateDisk(dir); err == nil || !strings.Contains(err.Error(), "no blob folder") {
		t.Errorf("got %v", err)
	}
}

func TestDisk_AnUnmountedVolumeIsNoticed(t *testing.T) {
	dir := t.TempDir()
	d, err := blob.CreateDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "vitrine-blobs")); err != nil {
		t.Fatal(err)
	}
	if d.Check(t.Context()) == nil {
		t.Error("the folder lost its mark and nobody noticed")
	}
}

func TestDisk_ASignedTokenIsWorthlessOnceAnythingOfItChanges(t *testing.T) {
	s := blob.NewSigner([]byte(strings.Repeat("k", 32)))
	g := blob.Grant{Purpose: blob.PurposeDownload, Tenant: "00000000-0000-4000-8000-00000000000a", Asset: "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"}
	token := s.Sign(g, time.Minute)
	if got, err := s.Open(token, blob.PurposeDownload); err != nil || got.Asset != g.Asset {
		t.Fatalf("%+v %v", got, err)
	}
	// The last character of each part carries unused bits, so change the one before it.
	for i := range len(token) {
		if i == len(token)-1 || token[i+1] == '.' || token[i] == '.' {
			continue
		}
		c := byte('A')
		if token[i] == 'A' {
			c = 'B'
		}
		if _, err := s.Open(token[:i]+string(c)+token[i+1:], blob.PurposeDownload); err == nil {
			t.Fatalf("a change at %d went unnoticed", i)
		}
	}
	if _, err := s.Open(token, blob.PurposeUpload); err == nil {
		t.Error("a download token allowed an upload")
	}
	if _, err := blob.NewSigner([]byte(strings.Repeat("j", 32))).Open(token, blob.PurposeDownload); err == nil {
		t.Error("another key's token was taken")
	}
	_, err := s.Open(s.Sign(g, -time.Second), blob.PurposeDownload)
	if library.AsError(err).Code != library.CodeURLExpired {
		t.Errorf("an expired token gave %v", err)
	}
	if first, second := s.SignSteady(g, time.Hour), s.SignSteady(g, time.Hour); first != second {
		t.Error("a steady token changes between two calls, so no browser can cache it")
	}
}

func TestDisk_BytesLeftAsideByACrashArePutBack(t *testing.T) {
	dir := t.TempDir()
	d, err := blob.CreateDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	const tenant, hash = library.TenantID("00000000-0000-4000-8000-00000000000a"), library.AssetHash("aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d")
	aside := filepath.Join(dir, "lost", string(tenant), "aa", string(hash))
	if err := os.MkdirAll(filepath.Dir(aside), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(aside, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = blob.CreateDisk(dir); err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	o, err := d.Open(t.Context(), tenant, hash)
	if err != nil {
		t.Fatal(err)
	}
	o.Close()
}
