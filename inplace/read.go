package inplace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/gabriel-vasile/mimetype"

	"vitrine/library"
	"vitrine/media/blob"
	"vitrine/media/extract"
	"vitrine/media/folder"
	"vitrine/media/memory"
	"vitrine/store"
)

// Results of files, as reports name them. Stored and unchanged files are counted only.
const (
	resultFailed  = "failed"
	resultSkipped = "skipped"
	resultPaired  = "paired"
	resultMoved   = "moved"
	resultAlready = "already_stored"
	resultChanged = "changed"
	resultMissing = "missing"
	resultBack    = "restored"
)

// candidate is a file that the walk found and that is to be read.
type candidate struct {
	path     string // below the root
	listing  *folder.Listing
	known    *known // what the library knows of this path; nil: nothing
	attempts int
}

// reading is what became of reading a candidate: a file to be stored, or a result.
type reading struct {
	candidate
	file    *store.InPlaceFile
	lineage string // why the file tells nothing of its making; empty: it does
	result  string
	reason  string
	asset   library.AssetHash
	later   bool // it is being written
	trouble bool // the disk may have gone
	bytes   int64
}

func (r reading) is(result, reason string) reading {
	r.result, r.reason = result, reason
	return r
}

// reader reads files below one root.
type reader struct {
	root   *os.Root
	name   string // of the root
	preset folder.Preset
	opt    library.ImportOptions
	actor  library.Actor
	memory *memory.Budget
	limit  int64
}

// wholeLimit is up to which size a file is read into memory, so that it is read once.
const wholeLimit = 24 << 20

// headSize is how many bytes of a file's beginning its kind is detected from.
const headSize = 4096

// buffers are kept between files.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// read reads one file: its kind, its hashes, its metadata.
func (rd *reader) read(ctx context.Context, c candidate) reading {
	out := reading{candidate: c}
	f, info, err := openFile(rd.root, c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out.trouble = true
		return out // it went since it was listed; nothing was promised
	case errors.Is(err, errNoFile):
		return out.is(resultSkipped, "not a regular file")
	case err != nil:
		out.trouble = true
		return out.is(resultFailed, cause(err))
	}
	defer f.Close()
	stamp := stampOf(info)
	name := path.Base(c.path)
	switch {
	case !stable(stamp):
		out.later = true
		return out
	case stamp.Size == 0 && folder.MediaName(name):
		return out.is(resultFailed, "the file is empty")
	case stamp.Size == 0:
		return out.is(resultSkipped, "the file is empty")
	case stamp.Size > rd.limit:
		return out.is(resultFailed, fmt.Sprintf("the file is larger than the %d bytes that are allowed", rd.limit))
	}
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if _, err := io.CopyN(buf, f, min(stamp.Size, headSize)); err != nil {
		out.trouble = !errors.Is(err, io.EOF)
		return out.is(resultFailed, cause(err))
	}
	mime := sniff(buf.Bytes())
	if done := rd.other(&out, name, mime, f); done {
		return out
	}
	return rd.content(ctx, out, f, buf, stamp, mime)
}

func sniff(head []byte) string {
	kind, _, _ := strings.Cut(mimetype.Detect(head).String(), ";")
	return kind
}

// other sorts out what is no asset of its own.
func (rd *reader) other(out *reading, name, mime string, f *os.File) bool {
	if !folder.IsMedia(mime) {
		if media := out.listing.MediaOf(name); media != "" {
			*out = out.is(resultPaired, "sidecar of "+media)
		} else {
			*out = out.is(resultSkipped, "no media file ("+mime+")")
		}
		return true
	}
	if video := out.listing.VideoOf(name); video != "" && mime == "image/png" {
		if folder.IsFirstFrame(io.NewSectionReader(f, 0, 1<<40)) {
			*out = out.is(resultPaired, "first frame of "+video+", which holds its workflow")
			return true
		}
	}
	return false
}

// content hashes a media file and reads its metadata; buf has its beginning.
func (rd *reader) content(ctx context.Context, out reading, f *os.File, buf *bytes.Buffer, stamp store.FileStamp, mime string) reading {
	var at io.ReaderAt = f
	digest := blob.NewDigest()
	head := bytes.Clone(buf.Bytes()[:min(buf.Len(), 32)])
	from := &untilDone{ctx, f}
	if stamp.Size <= wholeLimit {
		buf.Grow(int(stamp.Size))
		if _, err := io.CopyN(buf, from, stamp.Size-int64(buf.Len())); err != nil && !errors.Is(err, io.EOF) {
			out.trouble = ctx.Err() == nil
			return out.is(resultFailed, cause(err))
		}
		_, _ = digest.Write(buf.Bytes()) // never fails
		at = bytes.NewReader(buf.Bytes())
	} else {
		_, _ = digest.Write(buf.Bytes())
		if _, err := io.CopyBuffer(digest, from, make([]byte, 1<<20)); err != nil {
			out.trouble = ctx.Err() == nil
			return out.is(resultFailed, cause(err))
		}
	}
	sum := digest.Sum()
	if info, err := f.Stat(); err != nil || sum.Size != stamp.Size || !stampOf(info).Same(stamp) {
		out.later = true
		return out
	}
	out.bytes = sum.Size
	sidecars, trouble := rd.sidecars(out.candidate, folder.Moves(mime, head))
	lease := rd.memory.Lease()
	defer lease.Release()
	name := library.CleanFilename(path.Base(out.path))
	read, err := extract.Read(ctx, at, sum.Size, extract.Options{Filename: name, Sidecars: sidecars, Memory: lease})
	if err != nil {
		return out.is(resultFailed, cause(err))
	}
	if read.Report.State == extract.StateNone {
		out.lineage = string(read.Report.Reason)
	}
	out.reason = trouble
	out.file = &store.InPlaceFile{New: rd.asset(out.path, name, stamp, sum, read), Original: store.Original{Root: rd.name, Path: out.path, Stamp: stamp}}
	return out
}

// asset is what is stored of a file.
func (rd *reader) asset(p, name string, stamp store.FileStamp, sum blob.Staged, read extract.Result) store.NewAsset {
	kind, _, _ := strings.Cut(read.MIMEType, ";")
	n := store.NewAsset{KeepAbsent: !rd.opt.Restore, Lineage: read.Lineage, ParserVersion: extract.ParserVersion, Report: read.Report,
		Asset: library.Asset{Hash: sum.SHA1, SHA256: sum.SHA256, BLAKE3: sum.BLAKE3, Filename: name, SourcePath: library.VisibleText(p), MIMEType: kind, ClaimedType: kind,
			Size: sum.Size, Width: read.Width, Height: read.Height, DurationMS: read.DurationMS, Tags: rd.opt.Tags, InPlace: true,
			CreatedAt: time.Unix(0, stamp.Modified).UTC().Truncate(time.Second)}}
	if n.Asset.Filename == "" {
		n.Asset.Filename = string(sum.SHA1)
	}
	if rd.actor.Kind == library.ActorKey {
		n.Asset.Owner = rd.actor.ID
	}
	if len(read.Chunks) > 0 {
		n.Chunks = read.Chunks
	}
	return n
}

// sidecars reads what fits of a file's sidecars. trouble names those that are left out, and why.
func (rd *reader) sidecars(c candidate, moves bool) (list []extract.Sidecar, trouble string) {
	left := int64(folder.SidecarsLimit)
	for _, name := range c.listing.SidecarsOf(path.Base(c.path), moves) {
		f, _, err := openFile(rd.root, path.Join(path.Dir(c.path), name))
		if err != nil {
			trouble = "its sidecar " + name + " cannot be read: " + cause(err)
			continue
		}
		data, err := folder.ReadSidecar(f, name, left)
		_ = f.Close()
		switch {
		case err != nil:
			trouble = "its sidecar " + name + " cannot be read: " + cause(err)
		case int64(len(data)) > left:
			trouble = "its sidecar " + name + " is too large"
		case len(data) > 0:
			list = append(list, extract.Sidecar{Name: library.CleanFilename(name), Data: data})
			left -= int64(len(data))
		}
	}
	return list, trouble
}

// cause drops the path from an error of the file system; the report has it beside.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
