package folder

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Changes is what happened in a watched folder.
type Changes struct {
	Paths []string // below the folder, with the system's separators: made, written, renamed or removed
	All   bool     // events were lost, or could not be had: everything is to be looked at
}

// Watcher reports changes in a folder and those below it.
type Watcher struct {
	dir    string
	skip   func(path string) bool
	events *fsnotify.Watcher

	watched int
	// Unwatched counts the folders for which the system has no watches left: what changes in
	// them is found by looking.
	Unwatched int
}

// NewWatcher watches a folder. skip tells which folders below it are left out, by path; nil:
// none. A system that has no watches to give is no error: see Unwatched.
func NewWatcher(dir string, skip func(path string) bool) (*Watcher, error) {
	w := &Watcher{dir: dir, skip: skip}
	var err error
	if w.events, err = fsnotify.NewBufferedWatcher(4096); err != nil {
		if !atLimit(err) {
			return nil, err
		}
		w.Unwatched++
		return w, nil
	}
	w.Add(".")
	return w, nil
}

// atLimit reports whether the system has no watches left.
func atLimit(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// Add watches a folder below the one that is watched, and those below it. It may be watched
// already.
func (w *Watcher) Add(below string) {
	if w.events == nil {
		return
	}
	_ = filepath.WalkDir(filepath.Join(w.dir, below), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() { // what cannot be read is found out by the scan
			return nil
		}
		if path != w.dir && w.skip != nil && w.skip(path) {
			return fs.SkipDir
		}
		if err := w.events.Add(path); err != nil && atLimit(err) {
			w.Unwatched++
		}
		return nil
	})
}

// debounce is how long changes are collected: a program that saves a picture makes several.
const debounce = 250 * time.Millisecond

// Next waits for changes and returns all that came within a moment. It returns none when
// wait is over first, and the error of ctx.
func (w *Watcher) Next(ctx context.Context, wait time.Duration) (Changes, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var out Changes
	seen := map[string]bool{}
	var events chan fsnotify.Event
	var failures chan error
	if w.events != nil {
		events, failures = w.events.Events, w.events.Errors
	}
	for began := (time.Time{}); ; {
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-timer.C:
			return out, nil
		case e, ok := <-events:
			if !ok {
				return Changes{All: true}, nil
			}
			if rel, err := filepath.Rel(w.dir, e.Name); err == nil && e.Op != fsnotify.Chmod && !seen[rel] {
				seen[rel] = true
				out.Paths = append(out.Paths, rel)
				if info, err := os.Lstat(e.Name); err == nil && info.IsDir() && e.Has(fsnotify.Create) {
					w.Add(rel)
				}
			}
		case _, ok := <-failures:
			out.All = out.All || ok // too many at once, for example
		}
		if began.IsZero() && (len(out.Paths) > 0 || out.All) {
			began = time.Now()
			timer.Reset(debounce)
		}
	}
}

// Close ends the watch.
func (w *Watcher) Close() {
	if w.events != nil {
		_ = w.events.Close()
	}
}
