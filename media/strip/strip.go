// Package strip writes media files without what is not to leave the house: prompts,
// workflows, models, EXIF with its thumbnail and GPS position, XMP, content credentials,
// comments, times, and whatever else a format has room for.
//
// In goes a file as an io.ReaderAt; out comes one of the same kind, or a picture in another
// format or size. Each reader of a format knows what a file needs to be shown and keeps that
// alone, so a part that nobody has heard of is left out too. Pixels and frames are copied as
// they are unless the picture is to change. Verify reads what was written again, with the
// extractor that reads files of others. What cannot be written so that nothing is left is an
// *Error, never a file that might hold something.
package strip

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"vitrine/media/extract/container"
	"vitrine/media/memory"
)

// Format is what a picture is written as.
type Format string

// The formats. Preserve leaves a file in its own.
const (
	Preserve Format = "preserve"
	PNG      Format = "png"
	JPEG     Format = "jpeg"
	WebP     Format = "webp"
)

// Keep is what of a file's metadata may stay. A part of a file stays only where all that
// it may hold may stay, so an EXIF block goes when GPS is to go.
type Keep struct {
	Generation bool // prompts, settings, workflows and models
	EXIF       bool // what cameras and programs record, apart from GPS
	GPS        bool
	IPTC       bool // creator, rights, captions
	NoICC      bool // the color profile, which otherwise stays, is to go as well
}

func (k Keep) exif() bool { return k.Generation && k.EXIF && k.GPS }
func (k Keep) iptc() bool { return k.Generation && k.IPTC }
func (k Keep) xmp() bool  { return k.exif() && k.IPTC }

// Options are how a file is written. The zero value removes all metadata and changes
// nothing else.
type Options struct {
	Keep       Keep
	Format     Format // of pictures; empty means Preserve
	MaxEdge    int    // longest edge of pictures in pixels; 0 leaves the size. Nothing is enlarged
	Exact      bool   // the format was asked for: one that cannot be had is an error
	Quality    int    // of JPEG and WebP, 1 to 100; 0 means 90
	Watermark  *Watermark
	Disclosure *Disclosure // written into the file as XMP; nil writes none
	Memory     *memory.Budget
	// EncodeWebP writes a PNG as a lossy WebP; nil: no such encoder is there.
	EncodeWebP WebPEncoder
}

// WebPEncoder encodes a PNG file as a lossy WebP of a quality of 100.
type WebPEncoder func(ctx context.Context, png io.Reader, quality int) ([]byte, error)

// Result is what was written.
type Result struct {
	MIMEType  string
	Extension string   // with its dot
	Size      int64    // bytes
	Unchanged bool     // the bytes are those of the source
	Embedded  bool     // the disclosure stands in the file
	Removed   []string // parts that the source had and the file has not, by their names in the format
	Notes     []string // what else is different, in sentences
}

// Error is why a file cannot be written.
type Error struct {
	Code   string // one of the codes below
	Detail string // a sentence
}

// The codes of Error.
const (
	CodeUnsupported = "FORMAT_UNAVAILABLE"  // metadata cannot be taken out of this kind of file
	CodeDamaged     = "FILE_DAMAGED"        // the file is not what its format says
	CodeTooLarge    = "PICTURE_TOO_LARGE"   // it does not fit into the memory for decoding
	CodeSurvived    = "METADATA_SURVIVED"   // something to be removed was read in what was written
	CodeNoEncoder   = "ENCODER_UNAVAILABLE" // no encoder of the format is there
)

// Error returns the sentence.
func (e *Error) Error() string { return e.Detail }

func damaged(format string, args ...any) error {
	return &Error{CodeDamaged, "The file is damaged: " + fmt.Sprintf(format, args...) + "."}
}

// kind is a kind of file that is rewritten part by part.
type kind struct {
	ext  string
	plan func(input, edit) (*plan, error)
}

// kinds are those by their MIME types.
var kinds map[string]kind

func init() { // models hold pictures, so the table refers to itself
	kinds = map[string]kind{
		"image/png":         {".png", planPNG},
		"image/apng":        {".png", planPNG},
		"image/jpeg":        {".jpg", planJPEG},
		"image/webp":        {".webp", planWebP},
		"image/gif":         {".gif", planGIF},
		"image/avif":        {".avif", planBMFF},
		"image/heic":        {".heic", planBMFF},
		"image/heif":        {".heif", planBMFF},
		"video/mp4":         {".mp4", planBMFF},
		"video/quicktime":   {".mov", planBMFF},
		"video/x-m4v":       {".m4v", planBMFF},
		"audio/mp4":         {".m4a", planBMFF},
		"video/webm":        {".webm", planEBML},
		"video/x-matroska":  {".mkv", planEBML},
		"model/gltf-binary": {".glb", planGLB},
		"model/gltf+json":   {".gltf", planGLTF},
	}
}

// Write writes a file to out as the options ask. The only errors beside *Error are those of
// reading, of writing, of the context, and memory.ErrBusy.
func Write(ctx context.Context, out io.Writer, r io.ReaderAt, size int64, o Options) (Result, error) {
	f, err := container.Read(r, size)
	if err != nil {
		return Result{}, err
	}
	in := input{ctx, r, size}
	if o.Format == "" {
		o.Format = Preserve
	}
	k, known := kinds[f.MIME]
	var p *plan
	if known {
		if p, err = k.plan(in, o.edit(nil)); err != nil {
			return Result{}, err
		}
	}
	c, err := changeOf(in, f, p, o)
	switch {
	case err != nil:
		return Result{}, err
	case c.needed:
		return redraw(out, in, f, p, c, o)
	case !known:
		return Result{}, &Error{CodeUnsupported, fmt.Sprintf("Metadata cannot be taken out of files of the type %s. Export the original with the preset archive.", f.MIME)}
	}
	n, err := p.writeTo(out, in)
	return Result{MIMEType: f.MIME, Extension: k.ext, Size: n, Embedded: p.embedded, Removed: p.names(), Notes: c.notes}, err
}

// edit is what a plan is made for.
type edit struct {
	keep Keep
	icc  []byte // profile to embed in place of the file's own
	xmp  []byte // packet to embed
}

func (o Options) edit(icc []byte) edit {
	return edit{keep: o.Keep, icc: icc, xmp: o.Disclosure.Packet()}
}

// input is a file that is read in ranges.
type input struct {
	ctx  context.Context
	r    io.ReaderAt
	size int64
}

// maxPart is the largest part that is held in memory.
const maxPart = 32 << 20

// bytes returns n bytes at an offset. A file that ends before is damaged.
func (in input) bytes(off, n int64) ([]byte, error) {
	if err := in.ctx.Err(); err != nil {
		return nil, err
	}
	if off < 0 || n < 0 || n > maxPart || off > in.size-n {
		return nil, damaged("a part at byte %d reaches beyond its end", off)
	}
	b := make([]byte, n)
	if got, err := in.r.ReadAt(b, off); got < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			return nil, damaged("it ends at byte %d", off+int64(got))
		}
		return nil, err
	}
	return b, nil
}

func (in input) section(off, n int64) *io.SectionReader { return io.NewSectionReader(in.r, off, n) }

// part is a piece of a file to be written: literal bytes, a range of the source, or zeros.
type part struct {
	data   []byte
	off, n int64 // used where data is nil; off -1 means n zeros
}

// plan is a file to be written, piece by piece.
type plan struct {
	parts    []part
	removed  []string
	embedded bool
	slack    bool   // the pixels' data holds more than pixels
	exif     part   // the file's EXIF block
	icc      []byte // its color profile
}

func (p *plan) copy(off, n int64) {
	if last := len(p.parts) - 1; last >= 0 && p.parts[last].data == nil && p.parts[last].off >= 0 && p.parts[last].off+p.parts[last].n == off {
		p.parts[last].n += n
		return
	}
	if n > 0 {
		p.parts = append(p.parts, part{off: off, n: n})
	}
}

func (p *plan) put(b []byte) {
	if len(b) > 0 {
		p.parts = append(p.parts, part{data: b})
	}
}

func (p *plan) zeros(n int64) {
	if n > 0 {
		p.parts = append(p.parts, part{off: -1, n: n})
	}
}

// drop notes a part that is left out.
func (p *plan) drop(name string) { p.removed = append(p.removed, name) }

// names returns the names of the parts that are left out, each once.
func (p *plan) names() []string {
	list := slices.Clone(p.removed)
	slices.Sort(list)
	list = slices.Compact(list)
	for i := range list {
		list[i] = strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '?'
			}
			return r
		}, list[i])
	}
	return list[:min(len(list), 32)]
}

func (p *plan) size() (n int64) {
	for _, x := range p.parts {
		if x.data != nil {
			n += int64(len(x.data))
		} else {
			n += x.n
		}
	}
	return n
}

func (p *plan) writeTo(w io.Writer, in input) (written int64, err error) {
	out := bufio.NewWriterSize(w, 64<<10)
	for _, x := range p.parts {
		if err := in.ctx.Err(); err != nil {
			return written, err
		}
		var n int64
		switch {
		case x.data != nil:
			var k int
			k, err = out.Write(x.data)
			n = int64(k)
		case x.off < 0:
			n, err = io.CopyN(out, zeros{}, x.n)
		default:
			n, err = io.Copy(out, in.section(x.off, x.n))
			if err == nil && n < x.n {
				err = damaged("it ends at byte %d", x.off+n)
			}
		}
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, out.Flush()
}

// reader reads what writeTo writes.
func (p *plan) reader(in input) io.Reader {
	var all []io.Reader
	for _, x := range p.parts {
		switch {
		case x.data != nil:
			all = append(all, bytes.NewReader(x.data))
		case x.off < 0:
			all = append(all, io.LimitReader(zeros{}, x.n))
		default:
			all = append(all, in.section(x.off, x.n))
		}
	}
	return io.MultiReader(all...)
}

// zeros is an endless source of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// blanks are ranges of a file that are overwritten in their place, so that nothing moves
// that offsets elsewhere point to.
type blanks struct {
	list []blank
}

type blank struct {
	off  int64
	n    int64
	data []byte // nil: zeros
}

func (b *blanks) zero(off, n int64) { b.list = append(b.list, blank{off: off, n: n}) }
func (b *blanks) put(off int64, data []byte) {
	b.list = append(b.list, blank{off, int64(len(data)), data})
}

// plan adds the whole file from off to end to a plan, with the blanks in their places. Where
// blanks overlap, the first one in the file wins.
func (b *blanks) plan(p *plan, end int64) {
	slices.SortStableFunc(b.list, func(x, y blank) int {
		switch {
		case x.off < y.off:
			return -1
		case x.off > y.off:
			return 1
		}
		return 0
	})
	at := int64(0)
	for _, x := range b.list {
		if x.off < at { // within one that is blank already
			cut := min(at-x.off, x.n)
			x.off, x.n = x.off+cut, x.n-cut
			if x.data != nil {
				x.data = x.data[cut:]
			}
		}
		if x.n <= 0 || x.off >= end {
			continue
		}
		x.n = min(x.n, end-x.off)
		p.copy(at, x.off-at)
		if x.data != nil {
			p.put(x.data[:x.n])
		} else {
			p.zeros(x.n)
		}
		at = x.off + x.n
	}
	p.copy(at, end-at)
}
