// Package sample writes a library to try things on: a folder of generated
// pictures that looks as if several people had used several image generators
// for some months.
//
// In come a folder, a count and a seed; out go exactly that many files, each
// picture drawn by our own code and saved the way a generator saves it, and a
// Truth per file that says what a reader must find in it. Equal count, seed and
// size give byte-identical files with equal times. Among them are the files
// real folders hold as well: stripped copies, exact duplicates, a cut-off
// download, a text file, an empty file, a wrong extension.
//
// The package reads no file, needs no network and never writes into a folder
// that already holds something.
package sample

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"vitrine/internal/sample/writer"
	"vitrine/library"
)

// Options say what to write. Count is the number of files, 1 to 1,000,000.
// MaxEdge limits the longer side of the pictures in pixels, 64 to 2048; 0 keeps
// the natural sizes of 512 to 1216. Writers restricts the ways of saving to the
// named ones (see Writers); empty means all, in the shares of the table.
// TruthPath, if set, receives the Report as JSON and must lie outside the folder.
type Options struct {
	Count     int
	Seed      uint64
	MaxEdge   int
	Writers   []string
	TruthPath string
}

// Truth is what one written file holds. Facts are what a reader must find; a
// zero fact is one the file does not state. Path is relative, with slashes.
type Truth struct {
	Path   string `json:"path"`
	Writer string `json:"writer"`
	Size   int64  `json:"size"`
	// What is to be seen, for tests of search: the kind of scene, its subject,
	// its colour and the hour of the day, as words of the prompt.
	Kind    string `json:"kind,omitempty"`
	Subject string `json:"subject,omitempty"`
	Colour  string `json:"colour,omitempty"`
	Time    string `json:"time,omitempty"`
	Manner  string `json:"manner,omitempty"`
	writer.Facts
	// ParentPath is the parent's place in the sample, SourcePath that of the
	// file of which this one is a copy (duplicate) or another saving.
	ParentPath string `json:"parent_path,omitempty"`
	SourcePath string `json:"source_path,omitempty"`
}

// Report lists every written file in the order of their times.
type Report struct {
	Seed  uint64  `json:"seed"`
	Count int     `json:"count"`
	Bytes int64   `json:"bytes"`
	Files []Truth `json:"files"`
}

// Write fills dir, which must be empty or absent. progress, if not nil, is
// called after every file, never by two goroutines at once. A cancelled ctx
// stops the work and leaves the files written so far.
func Write(ctx context.Context, dir string, opts Options, progress func(done, total int)) (Report, error) {
	if err := opts.check(dir); err != nil {
		return Report{}, err
	}
	entries, err := plan(opts)
	if err != nil {
		return Report{}, err
	}
	if err := makeFolder(dir); err != nil {
		return Report{}, err
	}
	report := Report{Seed: opts.Seed, Count: opts.Count, Files: make([]Truth, len(entries))}
	var (
		group, gctx = errgroup.WithContext(ctx)
		mu          sync.Mutex
		done        int
	)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, e := range entries {
		group.Go(func() error {
			if err := gctx.Err(); err != nil {
				return err
			}
			truth, err := e.write(dir)
			if err != nil {
				return fmt.Errorf("writing sample file %d: %w", i+1, err)
			}
			mu.Lock()
			defer mu.Unlock()
			report.Files[i] = truth
			report.Bytes += truth.Size
			done++
			if progress != nil {
				progress(done, len(entries))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return Report{}, err
	}
	return report, report.save(opts.TruthPath)
}

// Writers lists the names Options.Writers accepts, in the order of the table.
func Writers() []string {
	names := make([]string, len(shares))
	for i, s := range shares {
		names[i] = s.name
	}
	return names
}

const maxCount = 1_000_000

func (o Options) check(dir string) error {
	var errs []library.FieldError
	bad := func(field, code, message string) {
		errs = append(errs, library.FieldError{Field: field, Code: code, Message: message})
	}
	if o.Count < 1 || o.Count > maxCount {
		bad("count", "range", fmt.Sprintf("Give a number of files from 1 to %d.", maxCount))
	}
	if o.MaxEdge != 0 && (o.MaxEdge < 64 || o.MaxEdge > 2048) {
		bad("max_edge", "range", "Give a longer side of 64 to 2048 pixels, or 0 for the natural sizes.")
	}
	for _, w := range o.Writers {
		if !slices.Contains(Writers(), w) {
			bad("writers", "enum", "Unknown writer; known are "+strings.Join(Writers(), ", ")+".")
			break
		}
	}
	if o.TruthPath != "" && within(dir, o.TruthPath) {
		bad("truth_path", "conflict", "The truth file must lie outside the sample folder.")
	}
	if len(errs) > 0 {
		return library.Invalid(errs...)
	}
	return nil
}

func within(dir, path string) bool {
	a, errA := filepath.Abs(dir)
	b, errB := filepath.Abs(path)
	if errA != nil || errB != nil {
		return true // cannot tell: refuse
	}
	rel, err := filepath.Rel(a, b)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// makeFolder refuses a folder that holds anything: a sample mixed with somebody's
// files could neither be removed again nor be the same twice.
func makeFolder(dir string) error {
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("opening the sample folder: %w", err)
	}
	if len(names) > 0 {
		return library.NewError(library.KindConflict, library.CodeConflict, "The sample folder is not empty. Name a new folder, or empty this one.")
	}
	return os.MkdirAll(dir, 0o755)
}

func (r Report) save(path string) error {
	if path == "" {
		return nil
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("encoding the truth file: %w", err)
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
