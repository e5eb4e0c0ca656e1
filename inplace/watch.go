package inplace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"vitrine/internal/retry"
	"vitrine/library"
	"vitrine/media/folder"
	"vitrine/store"
)

// lookEvery is how often a watched folder is asked whether it still is the one that was
// opened, and files that were being written are looked at again.
const lookEvery = time.Second

// watch goes on with what changes in the folder until ctx ends. Events tell of it at once;
// what they do not tell is found when the whole folder is looked through.
func (r *run) watch(ctx context.Context, root Root) error {
	r.state(library.ImportWatching)
	r.report.clock(false)
	for ctx.Err() == nil {
		if err := r.watchOpen(ctx, root); err != nil && ctx.Err() == nil && !passes(err) {
			return err
		} else if err != nil && ctx.Err() == nil {
			r.report.warn("The folder could not be read for a time; nothing was marked as missing: " + library.AsError(err).Detail)
		}
		if err := retry.Sleep(ctx, lookEvery); err != nil {
			return err
		}
		if err := r.reopen(root); err != nil { // its disk is away; nothing is concluded from that
			r.report.warn("The root " + root.Name + " was not there for a time; nothing was marked as missing.")
			continue
		}
		if err := r.pass(ctx, false); err != nil && !passes(err) {
			return err
		}
	}
	return ctx.Err()
}

// reopen opens the root anew: another disk may be mounted there.
func (r *run) reopen(root Root) error {
	opened, err := root.open()
	if err != nil {
		return err
	}
	now, err := newPlace(root, r.i.Folder, opened)
	if err != nil {
		_ = opened.Close()
		return err
	}
	_ = r.reader.root.Close()
	r.reader.root, r.place = opened, now
	return nil
}

func (r *run) state(s library.ImportState) {
	r.report.mu.Lock()
	defer r.report.mu.Unlock()
	r.report.state = s
}

// watchOpen watches until the folder is another one than was opened, or an error.
func (r *run) watchOpen(ctx context.Context, root Root) error {
	dir := filepath.Join(root.Dir, filepath.FromSlash(r.i.Folder))
	w, err := folder.NewWatcher(dir, func(p string) bool {
		below, err := filepath.Rel(root.Dir, p)
		return err == nil && r.skips(filepath.ToSlash(below))
	})
	if err != nil {
		return err
	}
	defer w.Close()
	scanned := time.Now()
	if err := r.pass(ctx, false); err != nil { // what changed before the watch began
		return err
	}
	for {
		if w.Unwatched > 0 {
			r.report.warn(fmt.Sprintf("The system has no watches left for some of the folders: new files there are found within %s, when the whole folder is looked through. Raise fs.inotify.max_user_watches to be told at once.", r.cfg.Rescan))
		}
		got, err := w.Next(ctx, lookEvery)
		switch {
		case err != nil:
			return err
		case !r.same(root):
			return nil
		case got.All || time.Since(scanned) > r.cfg.Rescan:
			scanned = time.Now()
			w.Add(".")
			err = r.pass(ctx, false)
		case len(got.Paths) > 0:
			err = r.changed(ctx, got.Paths)
		}
		if err == nil {
			err = r.again(ctx, r.takeLater())
		}
		if err != nil {
			return err
		}
	}
}

// same reports whether the root is the folder that was opened.
func (r *run) same(root Root) bool {
	open, err := r.reader.root.Stat(".")
	there, pathErr := os.Stat(root.Dir)
	return err == nil && pathErr == nil && os.SameFile(open, there)
}

// changed looks at single files and folders.
func (r *run) changed(ctx context.Context, paths []string) error {
	below := make([]string, len(paths))
	for i, p := range paths {
		below[i] = path.Join(r.i.Folder, filepath.ToSlash(p))
	}
	w, err := r.newPartial(ctx, below)
	if err != nil {
		return err
	}
	var gone []*known
	err = r.pipeline(ctx, func(ctx context.Context, out func(candidate) error) error {
		w.out = out
		listings := map[string]*folder.Listing{}
		for _, p := range below {
			if err := r.changedOne(ctx, w, p, listings, &gone); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := r.saveMoves(ctx); err != nil {
		return err
	}
	return r.markIfAlive(ctx, gone)
}

// newPartial returns a walker that knows of some paths.
func (r *run) newPartial(ctx context.Context, paths []string) (*walker, error) {
	w := r.emptyWalker()
	list, err := r.cfg.Store.Originals.At(ctx, r.i.Tenant, r.i.Root, paths)
	for _, o := range list {
		w.know(o)
	}
	return w, err
}

// changedOne looks at one path. What is not there any more is added to gone.
func (r *run) changedOne(ctx context.Context, w *walker, p string, listings map[string]*folder.Listing, gone *[]*known) error {
	if r.leftOut(p) {
		return nil
	}
	info, err := w.root.Lstat(below(p))
	if errors.Is(err, fs.ErrNotExist) {
		if k := w.known[p]; k != nil && !k.seen {
			*gone = append(*gone, k)
		} else if k == nil { // perhaps a folder
			return r.cfg.Store.Originals.Below(ctx, r.i.Tenant, r.i.Root, p, func(o store.Original) error {
				k := &known{Original: o}
				w.same[identityOf(o.Stamp)] = k
				*gone = append(*gone, k)
				return nil
			})
		}
		return nil
	}
	if err != nil {
		return nil //nolint:nilerr // the next look at the whole folder reports it
	}
	if !info.IsDir() {
		dir := path.Dir(p)
		if listings[dir] == nil {
			listings[dir] = r.listing(dir)
		}
		return w.file(p, info, listings[dir])
	}
	if p == "." || p == r.i.Folder {
		return nil // its entries have events of their own
	}
	err = r.cfg.Store.Originals.Below(ctx, r.i.Tenant, r.i.Root, p, func(o store.Original) error {
		if w.known[o.Path] == nil {
			w.known[o.Path] = &known{Original: o}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.folder(ctx, p)
}

// leftOut reports whether a path lies in a folder that is not imported.
func (r *run) leftOut(p string) bool {
	for dir := path.Dir(p); dir != "." && dir != "/" && dir != r.i.Folder; dir = path.Dir(dir) {
		if r.skips(dir) {
			return true
		}
	}
	return false
}

// skips reports whether a folder is left out for what it is called and lies beside.
func (r *run) skips(dir string) bool {
	return r.reader.preset.SkipFolder(path.Base(dir), func() []string { return r.names(path.Dir(dir), true) }) != ""
}

// listing returns the names of the files of a folder.
func (r *run) listing(dir string) *folder.Listing { return folder.NewListing(r.names(dir, false)) }

// names returns the names of the folders in a folder, or of its other entries. It returns none of a
// folder that can't be read: who looks at that folder says so.
func (r *run) names(dir string, folders bool) []string {
	entries, err := readDir(r.reader.root, dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() == folders {
			names = append(names, e.Name())
		}
	}
	return names
}

// markIfAlive marks files as missing whose disk is there for certain: another file of it
// is. Of the others nothing is concluded before the whole folder is looked through.
func (r *run) markIfAlive(ctx context.Context, gone []*known) error {
	if len(gone) == 0 {
		return nil
	}
	sample, err := r.cfg.Store.Originals.Sample(ctx, r.i.Tenant, r.i.Root, 200)
	if err != nil {
		return err
	}
	alive := map[int64]bool{}
	for _, o := range sample {
		if alive[o.Stamp.Device] {
			continue
		}
		if info, err := r.reader.root.Stat(o.Path); err == nil && stampOf(info).Same(o.Stamp) {
			alive[o.Stamp.Device] = true
		}
	}
	var certain []*known
	for _, k := range gone {
		if alive[k.Stamp.Device] && !k.seen && k.State != library.OriginalMissing {
			certain = append(certain, k)
		}
	}
	return r.mark(ctx, certain)
}
