// Package extract reads how a picture or video was made out of the file itself.
//
// In goes a file as an io.ReaderAt, and the sidecar files that came with it; out
// come its kind and size, its lineage (prompts, models, settings, workflow,
// parents), the raw chunks of metadata, and a report that says why something is
// missing. Containers are opened by media/extract/container, records are read by
// media/extract/formats, node graphs by media/extract/comfy; this package puts
// the records together. It never looks at pixels (but for text hidden in the
// alpha bits), never asks the network, and never mixes in what an uploader
// asserts.
package extract

import (
	"context"
	"errors"
	"fmt"
	"io"

	"vitrine/library"
	"vitrine/media/extract/container"
	"vitrine/media/extract/formats"
	"vitrine/media/memory"
)

// ParserVersion grows whenever the same chunks would give another lineage.
// Stored lineage with a lower one may be read again from the stored chunks.
const ParserVersion = 13

// Options are what is known of a file beside its bytes. The zero value is useful.
type Options struct {
	Filename string    // the file's own name: it tells which of several outputs wrote it
	Sidecars []Sidecar // files of the same name with generation data in them
	// Memory is what reading a file takes its memory from where that is more than a
	// few megabytes. The caller releases it when it holds the result no longer.
	Memory *memory.Lease
	// NoStealth leaves out the search for text hidden in the alpha bits, which
	// decodes the picture; it runs only when the file says nothing else.
	NoStealth bool
}

// Sidecar is a file that lay beside the media file: .json, .txt, .xmp, .yaml or
// the first-frame .png of a video.
type Sidecar struct {
	Name string
	Data []byte
}

// Result is what a file says.
type Result struct {
	MIMEType   string
	Width      int // pixels of the file, which may differ from the generation's
	Height     int
	DurationMS int64 // milliseconds; 0 for stills
	Lineage    library.Lineage
	// Chunks are the raw pieces of metadata. Kept, they let a later parser read
	// the lineage again without the file.
	Chunks []container.Chunk
	Report Report
}

// Read takes a file's lineage out of it. Size is the length in bytes. The only
// errors are those of reading r, an empty file, and a cancelled context: a file
// with nothing readable in it is a Result whose Report says why.
func Read(ctx context.Context, r io.ReaderAt, size int64, opts Options) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	file, err := container.ReadWithin(r, size, func() error { return opts.Memory.Acquire(ctx, largeMetadata) })
	if err != nil {
		return Result{}, fmt.Errorf("read the file's metadata: %w", err)
	}
	file.Chunks = append(file.Chunks, sidecarChunks(opts.Sidecars)...)
	lineage, report := FromChunks(file, opts)
	if report.State == StateNone && !opts.NoStealth {
		before := len(file.Chunks)
		if err := container.ReadStealth(r, size, &file, opts.use(ctx)); err != nil {
			return Result{}, fmt.Errorf("read the picture's hidden text: %w", err)
		}
		if len(file.Chunks) > before {
			lineage, report = FromChunks(file, opts)
		}
	}
	return Result{MIMEType: file.MIME, Width: file.Width, Height: file.Height, DurationMS: file.DurationMS,
		Lineage: lineage, Chunks: file.Chunks, Report: report}, nil
}

// largeMetadata is what a file takes at most that has as much metadata as is read of
// one: to be read, understood and searched for hidden text.
const largeMetadata = 500 << 20

// use runs a decoder within the memory that is configured. One that needs more than
// any may have is left out.
func (o Options) use(ctx context.Context) func(int64, func() error) error {
	return func(need int64, decode func() error) error {
		var large *memory.TooLargeError
		if err := o.Memory.Use(ctx, need, decode); !errors.As(err, &large) {
			return err
		}
		return nil
	}
}

// unreadableWarning marks lineage whose reading failed midway.
const unreadableWarning = "the generation data could not be read"

// FromChunks returns the lineage that chunks of metadata hold. It does no I/O, so
// that stored chunks can be read again; sidecars among opts are not looked at,
// their chunks are already in the file's.
func FromChunks(file container.File, opts Options) (lineage library.Lineage, report Report) {
	defer func() {
		// The readers are fuzzed and hold no known panic; one bad file must
		// still not take a server down.
		if p := recover(); p != nil {
			lineage = library.Lineage{Models: []library.ModelUse{}, Warnings: []string{unreadableWarning}}
			report = Report{State: StateNone, Reason: ReasonUnreadable, Sentence: "The generation metadata in this file could not be read."}
		}
	}()
	src := formats.Open(file)
	src.Filename = opts.Filename
	lineage = merge(formats.Read(src))
	nameWriter(src, &lineage)
	clean(&lineage)
	return lineage, explain(file, src, &lineage)
}
