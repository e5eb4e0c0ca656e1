package container

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gabriel-vasile/mimetype"

	"vitrine/library"
)

// Read tells what kind of file r is and takes its metadata out. Size is the
// file's length in bytes.
//
// A broken, cut or hostile file is no error: what could be read is returned, with
// Truncated and Warnings saying what could not. An error means that r itself
// failed, or that the file is empty (a library.Fault with code EMPTY_FILE).
// Whatever the file declares, at most 64 MiB of values are held and each value is
// at most 32 MiB long. A file of unknown kind gives its MIME type and no chunks.
func Read(r io.ReaderAt, size int64) (f File, err error) {
	if size <= 0 {
		return File{}, library.NewFault(library.KindInvalid, library.CodeEmptyFile,
			"The file is empty. Send the file's bytes.")
	}
	defer func() {
		// The readers are fuzzed and hold no known panic; one bad file must
		// still not take a server down.
		if p := recover(); p != nil {
			f.Warnings = append(f.Warnings, "the file's metadata could not be read")
			err = nil
		}
	}()
	err = read(r, size, &f)
	return f, err
}

// read is Read without the net, so that tests see a panic.
func read(r io.ReaderAt, size int64, f *File) error {
	s := newSource(r, size, f)
	head := s.front(sniffLen)
	f.MIME = sniff(head)
	for _, k := range kinds {
		if k.is(head) {
			k.read(s)
			break
		}
	}
	if s.err != nil {
		return fmt.Errorf("read the file's metadata: %w", s.err)
	}
	return nil
}

// sniffLen is how much of a file's start decides about its kind.
const sniffLen = 3072

// kinds lists the formats that are read, the first match wins. A reader may
// refine File.MIME when the kind shows only further on.
var kinds = []struct {
	is   func(head []byte) bool
	read func(s source)
}{
	{magic(0, "\x89PNG\r\n\x1a\n"), readPNG},
	{magic(0, "\xff\xd8\xff"), readJPEG},
	{riff("WEBP"), readWebP},
}

func magic(off int, want string) func([]byte) bool {
	return func(head []byte) bool {
		return len(head) >= off && bytes.HasPrefix(head[off:], []byte(want))
	}
}

func riff(form string) func([]byte) bool {
	return func(head []byte) bool { return magic(0, "RIFF")(head) && magic(8, form)(head) }
}

// sniff gives the MIME type by the file's first bytes.
func sniff(head []byte) string {
	switch {
	case magic(0, "\x89PNG\r\n\x1a\n")(head):
		return "image/png" // an animated PNG is a PNG
	}
	return mimetype.Detect(head).String()
}
