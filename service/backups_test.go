package service_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"vitrine/backup"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
)

func TestBackups_TheWorkerMakesOneAndTheNextWhenItIsDue(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "backups")
	e := servicetest.Start(t, servicetest.Options{Adjust: func(c *service.Config) {
		c.Backups = service.BackupConfig{To: place, Every: time.Hour, Keep: backup.Keep{Last: 2}}
	}})
	e.StoreFile("", "fox.png", "image/png", picture(31))
	list := func() []backup.Manifest {
		t.Helper()
		at, err := backup.OpenDir(place)
		if err != nil {
			return nil
		}
		defer at.Close()
		all, err := backup.List(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	servicetest.Eventually(t, "a backup is made without being asked for", func() error {
		if len(list()) == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	if m, err := e.BackUp(t.Context(), false); err != nil || m != nil {
		t.Errorf("another one was due at once: %+v %v", m, err)
	}
	for range 3 {
		if m, err := e.BackUp(t.Context(), true); err != nil || m == nil {
			t.Fatalf("one that was asked for: %+v %v", m, err)
		}
	}
	if all := list(); len(all) != 2 {
		t.Errorf("%d backups are kept", len(all))
	}
}

// TestBackups_OneIntoABucketUnderLoadRestoresWhatWasAcknowledged, of a library whose files
// are in a bucket too.
func TestBackups_OneIntoABucketUnderLoadRestoresWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	server, adjust := inBucket(t)
	e := servicetest.Start(t, servicetest.Options{Roles: []service.Role{service.RoleAPI, service.RoleIndex}, Adjust: func(c *service.Config) {
		adjust(c)
		c.Backups = service.BackupConfig{To: server.Bucket("backups"), Every: time.Hour}
	}})
	var mu sync.Mutex
	acknowledged := map[library.AssetHash]bool{}
	var writers sync.WaitGroup
	stop := make(chan struct{})
	for w := range 4 {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				got := e.StoreFile("", "fox.png", "image/png", picture(1000*(w+1)+n))
				mu.Lock()
				acknowledged[library.AssetHash(got.Asset.AssetH)] = true
				mu.Unlock()
			}
		})
	}
	servicetest.Eventually(t, "there are files", func() error {
		mu.Lock()
		defer mu.Unlock()
		if len(acknowledged) < 30 {
			return errors.New("few yet")
		}
		return nil
	})
	mu.Lock()
	before := make([]library.AssetHash, 0, len(acknowledged))
	for h := range acknowledged {
		before = append(before, h)
	}
	mu.Unlock()
	m, err := e.BackUp(t.Context(), true)
	close(stop)
	writers.Wait()
	if err != nil || len(m.Damaged) > 0 || m.Files.Count < int64(len(before)) {
		t.Fatalf("%+v %v", m, err)
	}
	from, err := backup.OpenAt(t.Context(), e.Cfg.Backups.To, server.Access)
	if err != nil {
		t.Fatal(err)
	}
	blobs := restoreFiles(t, from, *m)
	for _, h := range before {
		if _, err := blobs.Size(t.Context(), e.Tenant, h); err != nil {
			t.Errorf("%s was acknowledged before the backup: %v", h, err)
		}
	}
	t.Logf("%d files were acknowledged before it began, %d are in it, %d in the end", len(before), m.Files.Count, len(acknowledged))
}

// restoreFiles restores a backup into a library of its own, and returns where its files are.
func restoreFiles(t *testing.T, from backup.Target, m backup.Manifest) *blob.Disk {
	t.Helper()
	url := testenv.Postgres(t)
	blobs, err := blob.CreateDisk(filepath.Join(t.TempDir(), "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { blobs.Close() })
	got, err := backup.Restore(t.Context(), from, m, backup.Library{Database: store.Config{URL: url}, Blobs: blobs}, backup.Options{})
	if err != nil || got.Assets != m.Files.Count || got.Files != m.Files.Count {
		t.Fatalf("%+v %v", got, err)
	}
	return blobs
}
