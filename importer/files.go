package importer

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gabriel-vasile/mimetype"

	"vitrine/media/folder"
)

// file is one file on its way through the run.
type file struct {
	path  string // as the user would name it
	label string // relative to the folder that is imported
	size  int64
	made  time.Time // its modification time
	mime  string
	sha1  string

	sidecars []string // paths of files that tell of its making

	url, storagePath string // where to send it
}

// walk finds the files below the paths. Hidden files and folders are passed over;
// links to folders are not followed, so no cycle can trap it.
func (r *run) walk(ctx context.Context, paths []string, out chan<- file) error {
	for _, root := range paths {
		info, err := os.Stat(root)
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", root, cause(err))
		}
		if !info.IsDir() {
			if err := r.visit(ctx, root, filepath.Base(root), out); err != nil {
				return err
			}
			continue
		}
		err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				r.record(file{path: path}, failed(cause(err).Error()))
				return nil
			}
			if path != root && strings.HasPrefix(e.Name(), ".") {
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if e.IsDir() {
				return ctx.Err()
			}
			label, err := filepath.Rel(root, path)
			if err != nil {
				label = e.Name()
			}
			return r.visit(ctx, path, filepath.ToSlash(label), out)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// visit looks at one file and passes it on when it is media. Only cancelling
// gives an error.
func (r *run) visit(ctx context.Context, path, label string, out chan<- file) error {
	info, err := os.Stat(path) // follows a link to a file
	f := file{path: path, label: label}
	switch {
	case err != nil:
		r.record(f, failed(cause(err).Error()))
		return ctx.Err()
	case info.IsDir():
		r.record(f, Outcome{Result: resultSkipped, Reason: "a link to a folder; name the folder itself to import it"})
		return ctx.Err()
	case !info.Mode().IsRegular():
		r.record(f, Outcome{Result: resultSkipped, Reason: "not a regular file"})
		return ctx.Err()
	}
	f.size, f.made = info.Size(), info.ModTime()
	if f.mime, err = sniff(path); err != nil {
		r.record(f, failed(cause(err).Error()))
		return ctx.Err()
	}
	if f.size == 0 && folder.MediaName(filepath.Base(path)) {
		r.update(func(c *Counts) { c.Found++ })
		r.record(f, failed("the file is empty"))
		return ctx.Err()
	}
	if !folder.IsMedia(f.mime) {
		if media := r.beside.mediaOf(path); media != "" {
			r.record(f, Outcome{Result: resultSidecar, Reason: "used as sidecar of " + media})
			return ctx.Err()
		}
		r.record(f, Outcome{Result: resultSkipped, Reason: "no media file (" + f.mime + ")"})
		return ctx.Err()
	}
	f.sidecars = r.beside.sidecarsOf(path, f.mime)
	r.update(func(c *Counts) { c.Found++ })
	select {
	case out <- f:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func sniff(path string) (string, error) {
	t, err := mimetype.DetectFile(path)
	if err != nil {
		return "", err
	}
	kind, _, _ := strings.Cut(t.String(), ";")
	return kind, nil
}

// hash reads files for their SHA-1.
func (r *run) hash(ctx context.Context, in <-chan file, out chan<- file) error {
	for f := range in {
		err := f.identify(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.record(f, failed(cause(err).Error()))
			continue
		}
		select {
		case out <- f:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func fileSHA1(ctx context.Context, path string) (sum string, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha1.New()
	buf := make([]byte, 256<<10)
	for {
		if err := ctx.Err(); err != nil {
			return "", 0, err
		}
		n, err := f.Read(buf)
		h.Write(buf[:n])
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(h.Sum(nil)), size, nil
		}
		if err != nil {
			return "", 0, err
		}
	}
}

// cause drops the path from an error of the file system; the report has it beside.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
