package inplace

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/media/folder"
	"vitrine/store"
)

// known is what the library knows of a file of the folder.
type known struct {
	store.Original
	seen bool   // it was found in this pass
	now  string // where, if that is not where it was
}

// at returns where the file was found, below the root.
func (k *known) at() string {
	if k.now != "" {
		return k.now
	}
	return k.Path
}

// identity tells a file that was renamed: the same inode with the same content.
type identity struct{ inode, device, size, modified, changed int64 }

func identityOf(s store.FileStamp) identity {
	return identity{s.Inode, s.Device, s.Size, s.Modified, s.Changed}
}

// walker lists the files of a folder and sorts out what need not be read. It is used by one
// goroutine.
type walker struct {
	root   *os.Root
	preset folder.Preset
	known  map[string]*known
	same   map[identity]*known
	out    func(candidate) error // a file to be read
	report *report
	first  bool   // the first pass of this import: what has not changed is counted
	id     string // of the import

	unreadable []string // folders that could not be listed: what is in them is not missing
}

// know adds a file that the library knows.
func (w *walker) know(o store.Original) {
	k := &known{Original: o}
	w.known[o.Path] = k
	if o.Stamp.Inode != 0 {
		w.same[identityOf(o.Stamp)] = k
	}
}

// note adds what became of a file or folder that is not read to the report.
func (w *walker) note(path, result, reason string) { w.report.file(path, result, reason, "") }

// folder lists one folder and those below it, the newest first: what was made last is what
// people look for.
func (w *walker) folder(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := readDir(w.root, dir)
	if err != nil {
		w.unreadable = append(w.unreadable, dir)
		w.note(dir, resultFailed, "the folder cannot be listed: "+cause(err))
		return nil
	}
	var files, folders []listed
	var names, folderNames []string
	for _, e := range entries {
		l := listed{name: e.Name()}
		if l.info, err = w.root.Lstat(path.Join(below(dir), l.name)); err != nil {
			continue // it went since
		}
		if l.info.IsDir() {
			folders, folderNames = append(folders, l), append(folderNames, l.name)
			continue
		}
		files, names = append(files, l), append(names, l.name)
	}
	if slices.Contains(names, markFile) {
		w.note(dir, resultSkipped, "the library's own folder of files")
		return nil
	}
	newest := func(a, b listed) int { return b.info.ModTime().Compare(a.info.ModTime()) }
	slices.SortStableFunc(files, newest)
	slices.SortStableFunc(folders, newest)
	listing := folder.NewListing(names)
	for _, f := range files {
		if err := w.file(path.Join(dir, f.name), f.info, listing); err != nil {
			return err
		}
	}
	for _, f := range folders {
		p := path.Join(dir, f.name)
		if why := w.preset.SkipFolder(f.name, func() []string { return folderNames }); why != "" {
			w.note(p, resultSkipped, why)
			continue
		}
		if err := w.folder(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// markFile lies in the library's own folder of files.
const markFile = "vitrine-blobs"

type listed struct {
	name string
	info fs.FileInfo
}

// readDir lists a folder below a root.
func readDir(root *os.Root, dir string) ([]os.DirEntry, error) {
	f, err := root.Open(below(dir))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// file sorts out one file.
func (w *walker) file(p string, info fs.FileInfo, listing *folder.Listing) error {
	if w.first {
		w.report.count(func(c *library.ImportCounts) { c.Listed++ })
	}
	name := path.Base(p)
	switch {
	case strings.HasPrefix(name, "."):
		return nil
	case len(p) > maxPath:
		w.note(p[:maxPath], resultFailed, "the path is longer than 2,000 bytes")
		return nil
	}
	if why := w.preset.SkipFile(name); why != "" {
		w.note(p, resultSkipped, why)
		return nil
	}
	k := w.known[p]
	if k != nil {
		k.seen = true
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if info2, err := w.root.Stat(p); err != nil || !info2.Mode().IsRegular() {
			w.note(p, resultSkipped, "a link that leads out of the root, to a folder or to nothing")
			return nil
		} else {
			info = info2
		}
	}
	if k != nil && k.State == library.OriginalIntact && k.Stamp.Same(stampOf(info)) {
		if w.first {
			w.report.unchanged(k, w.id)
		}
		return nil
	}
	if k == nil && w.renamed(p, stampOf(info)) {
		return nil
	}
	return w.out(candidate{path: p, listing: listing, known: k})
}

// maxPath is how long a path below a root may be, in bytes.
const maxPath = 2000

// renamed reports whether a file is one that lay elsewhere: then it need not be read.
func (w *walker) renamed(p string, stamp store.FileStamp) bool {
	k := w.same[identityOf(stamp)]
	if k == nil || stamp.Inode == 0 || k.seen || k.State == library.OriginalChanged {
		return false
	}
	if _, err := w.root.Lstat(k.Path); err == nil {
		return false // a second name of the same file
	}
	k.seen, k.now = true, p
	w.report.moved(store.Moved{From: k.Original, Path: p, Now: stamp})
	return true
}

// below reports whether a file lies in a folder that could not be listed, or that the preset
// leaves out now.
func (w *walker) below(p string) bool {
	for _, dir := range w.unreadable {
		if dir == "" || strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}
