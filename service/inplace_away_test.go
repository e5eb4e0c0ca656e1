package service_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
)

// TestInPlace_ADiskThatIsUnmountedInTheMidstOfAnImport: the import says so, nothing is marked, and everything is stored once when
// the disk is back.
func TestInPlace_ADiskThatIsUnmountedInTheMidstOfAnImport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		folder     string // of the import, below the root
		mountPoint bool   // an empty folder stays
	}{"the root": {}, "a folder of it": {folder: "disk"}, "a folder whose mount point stays": {folder: "disk", mountPoint: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, dir := folderOf(t)
			disk := filepath.Join(dir, c.folder)
			const early, late = 12, 5
			for n := range early + late {
				path := filepath.Join(disk, fmt.Sprintf("sub%d", n%3), fmt.Sprintf("p%02d.png", n))
				put(t, path, picture(200+n))
				if soon := time.Now().Add(time.Hour); n >= early { // it is taken for being written
					check(t, os.Chtimes(path, soon, soon))
				}
			}
			started, err := e.Client("").StartImport(t.Context(), client.StartImportInput{Folder: disk})
			check(t, err)
			awaitImport(t, e, started.ImportID, func(i library.Import) bool { return i.Counts.Stored == early && i.Counts.Waiting == late })
			check(t, os.Rename(disk, dir+"-aside"))
			if c.mountPoint {
				check(t, os.Mkdir(disk, 0o750))
			}
			got := awaitImport(t, e, started.ImportID, func(i library.Import) bool { return strings.Contains(strings.Join(i.Warnings, " "), "mounted") })
			if got.Counts.Missing+got.Counts.Failed != 0 || got.Counts.Stored != early {
				t.Errorf("while it is away: %+v", got)
			}
			if c.mountPoint { // what is there is an empty folder, and the import ends; another one follows
				got = awaitImport(t, e, started.ImportID, func(i library.Import) bool { return !i.State.Open() })
				if got.Counts.Missing != 0 || got.Counts.Away != early {
					t.Errorf("on the mount point: %+v", got)
				}
				check(t, os.Remove(disk))
			}
			allThere(t, e, early)
			for n := early; n < early+late; n++ {
				check(t, os.Chtimes(filepath.Join(dir+"-aside", fmt.Sprintf("sub%d", n%3), fmt.Sprintf("p%02d.png", n)), old, old))
			}
			check(t, os.Rename(dir+"-aside", disk))
			stored := early + late
			if c.mountPoint {
				stored = late
				got = runImport(t, e, client.StartImportInput{Folder: disk})
			} else {
				got = awaitImport(t, e, started.ImportID, func(i library.Import) bool { return !i.State.Open() })
				if said := strings.Join(got.Warnings, " "); !strings.Contains(said, "It had to wait") || strings.Contains(said, "It waits") {
					t.Errorf("the report says %q", said)
				}
			}
			if got.State != library.ImportCompleted || got.Counts.Stored != stored || got.Counts.Found != early+late || got.Counts.Missing+got.Counts.Failed != 0 {
				t.Errorf("once it is back: %+v %+v", got, filesOf(t, e, got.ID))
			}
			allThere(t, e, early+late)
		})
	}
}

// allThere fails the test unless the library has so many assets, each with one file that is what was imported.
func allThere(t *testing.T, e *servicetest.Env, want int) {
	t.Helper()
	awaitSearch(t, e, "", int64(want))
	places := map[library.AssetHash]int{}
	check(t, e.Store.Originals.Below(t.Context(), e.Tenant, "pictures", "", func(o store.Original) error {
		places[o.Hash]++
		if o.State != library.OriginalIntact {
			t.Errorf("%s is %s", o.Path, o.State)
		}
		if places[o.Hash] > 1 {
			t.Errorf("%s is there twice", o.Path)
		}
		return nil
	}))
	if len(places) != want {
		t.Errorf("%d files are known instead of %d", len(places), want)
	}
}

// TestInPlace_AFolderThatGoesBeforeTheImportBegins is waited for, and imported once it is back.
func TestInPlace_AFolderThatGoesBeforeTheImportBegins(t *testing.T) {
	t.Parallel()
	e, dir := folderOf(t, service.RoleAPI, service.RoleRelay, service.RoleIndex)
	disk := filepath.Join(dir, "disk")
	for n := range 3 {
		put(t, filepath.Join(disk, fmt.Sprintf("p%d.png", n)), picture(230+n))
	}
	started, err := e.Client("").StartImport(t.Context(), client.StartImportInput{Folder: disk})
	check(t, err)
	check(t, os.Rename(disk, dir+"-aside"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Imports.Run(ctx) }()
	t.Cleanup(func() { stop(); check(t, <-ended) })
	got := awaitImport(t, e, started.ImportID, func(i library.Import) bool { return len(i.Warnings) > 0 })
	if !got.State.Open() || !strings.Contains(got.Warnings[0], "Is its disk mounted?") || got.Counts.Failed != 0 {
		t.Errorf("while it is away: %+v", got)
	}
	check(t, os.Rename(dir+"-aside", disk))
	got = awaitImport(t, e, started.ImportID, func(i library.Import) bool { return !i.State.Open() })
	if got.State != library.ImportCompleted || got.Counts.Stored != 3 || got.Counts.Missing+got.Counts.Failed != 0 {
		t.Errorf("once it is back: %+v", got)
	}
	allThere(t, e, 3)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
