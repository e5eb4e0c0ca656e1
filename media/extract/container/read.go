package container

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gabriel-vasile/mimetype"

	"vitrine/library"
)

// Read determines what kind of file r is and takes its metadata out. Size is the
// file's length in bytes.
//
// A broken, cut or hostile file is no error: what could be read is returned, with
// Truncated and Warnings saying what could not. An error means that r itself
// failed, or that the file is empty (a library.Error with code EMPTY_FILE).
// Whatever the file declares, at most 48 MiB of values are held and each value is
// at most 16 MiB long. A file of unknown kind gives its MIME type and no chunks.
func Read(r io.ReaderAt, size int64) (File, error) { return ReadWithin(r, size, nil) }

// ReadWithin is Read for files from anywhere. Before it holds more than 4 MiB of
// values it calls large, once; an error of large ends the reading and is returned.
func ReadWithin(r io.ReaderAt, size int64, large func() error) (f File, err error) {
	if size <= 0 {
		return File{}, library.NewError(library.KindInvalid, library.CodeEmptyFile,
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
	err = readAs(r, size, &f, large)
	return f, err
}

// read is Read without the net, so that tests see a panic.
func read(r io.ReaderAt, size int64, f *File) error { return readAs(r, size, f, nil) }

func readAs(r io.ReaderAt, size int64, f *File, large func() error) error {
	s := newSource(r, size, f)
	s.large = large
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
	{magic(0, "GIF8"), readGIF},
	{magic(0, "II*\x00"), readTIFF},
	{magic(0, "MM\x00*"), readTIFF},
	{magic(0, "II+\x00\x08\x00\x00\x00"), readTIFF},
	{magic(0, "MM\x00+\x00\x08\x00\x00"), readTIFF},
	{magic(0, "8BPS"), readPSD},
	{magic(0, jxlContainer), readJXL},
	{magic(0, jxlCodestream), readJXL},
	{isBMP, readBMP},
	{magic(0, "\x1a\x45\xdf\xa3"), readMatroska},
	{magic(0, "fLaC"), readFLAC},
	{magic(0, "OggS"), readOgg},
	{magic(0, "ID3"), readMP3},
	{isMP3, readMP3},
	{riff("WAVE"), readWAV},
	{riff("AVI "), readAVI},
	{magic(0, "glTF"), readGLB},
	{isSafetensors, readSafetensors},
	{isISOBMFF, readISOBMFF},
	{isSVG, readSVG},
	{isXMP, readXMPFile},
	{isGLTF, readGLTF},
}

func magic(off int, want string) func([]byte) bool {
	return func(head []byte) bool {
		return len(head) >= off && bytes.HasPrefix(head[off:], []byte(want))
	}
}

// isISOBMFF reports whether a file is an ISO base media file, by its first box; QuickTime files may
// lack the one that names the brand.
func isISOBMFF(head []byte) bool {
	for _, kind := range []string{"ftyp", "moov", "mdat", "wide", "pnot"} {
		if magic(4, kind)(head) {
			return true
		}
	}
	return false
}

func riff(form string) func([]byte) bool {
	return func(head []byte) bool { return magic(0, "RIFF")(head) && magic(8, form)(head) }
}

// sniff returns the MIME type by the file's first bytes.
func sniff(head []byte) string {
	switch {
	case magic(0, "\x89PNG\r\n\x1a\n")(head):
		return "image/png" // an animated PNG is a PNG
	case isISOBMFF(head):
		return "video/quicktime" // unless a brand says otherwise
	case isBMP(head):
		return "image/bmp"
	}
	return mimetype.Detect(head).String()
}
