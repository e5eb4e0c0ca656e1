package inplace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vitrine/library"
)

// place is the folder of an import as it was when the import began, so that it can be told
// from what lies there once its disk is unmounted.
type place struct {
	root   Root
	folder string // below the root
	was    fs.FileInfo
}

// newPlace returns the folder of an import. A folder that is not there is one whose disk may be mounted later:
// it was there when the import was asked for.
func newPlace(root Root, folder string, opened *os.Root) (place, error) {
	p := place{root: root, folder: folder}
	info, err := opened.Stat(below(folder))
	if err != nil {
		return p, p.lost(err)
	}
	p.was = info
	return p, nil
}

// away returns an error when the folder is not there any more, or when another one lies in its place.
func (p place) away(opened *os.Root) error {
	root, err := opened.Stat(".")
	if err != nil {
		return p.lost(err)
	}
	now, err := os.Stat(p.root.Dir)
	if err != nil || !os.SameFile(root, now) {
		return p.lost(err)
	}
	if now, err = opened.Stat(below(p.folder)); err != nil || !os.SameFile(p.was, now) {
		return p.lost(err)
	}
	return nil
}

func (p place) lost(cause error) error {
	return &library.Error{Kind: library.KindUnavailable, Code: library.CodeFilesUnavailable, RetryAfter: 30 * time.Second, Cause: cause,
		Detail: "The folder " + shown(filepath.ToSlash(filepath.Join(p.root.Name, p.folder))) + " is not there at present. Is its disk mounted? Nothing was marked as missing, and what was imported before is kept."}
}

// unlessAway follows a file that could not be read although it was listed: an error where the whole
// folder is away, so that not every one of its files is reported.
func (r *run) unlessAway() error {
	if r.i.Options.Watch && r.report.is(library.ImportWatching) { // folders that are watched are looked at anew by themselves
		return nil
	}
	if err := r.place.away(r.reader.root); err != nil {
		return err
	}
	r.report.warn("Files could not be read, or had gone when they were to be read. If the disk of a folder was unmounted meanwhile, import again once it is back.")
	return nil
}

// mostAsked is how many files of a disk are asked for before it is held to be away.
const mostAsked = 200

// certain returns those of the files that a pass did not find which have gone for certain: the file is not there
// now, and after that one which the pass found on the same disk still is. A disk may go in the midst of a pass;
// away reports that it seems to have.
func (r *run) certain(seen, gone []*known) (certain []*known, away bool) {
	for _, k := range gone {
		if _, err := r.reader.root.Lstat(k.Path); err != nil && !errors.Is(err, fs.ErrPermission) {
			certain = append(certain, k)
		}
	}
	if r.i.Options.AcceptMissing || len(certain) == 0 {
		return certain, false
	}
	for _, k := range seen[:min(len(seen), mostAsked)] {
		info, err := r.reader.root.Stat(k.at())
		if err == nil && stampOf(info).Device == k.Stamp.Device {
			return certain, false
		}
	}
	return nil, true
}
