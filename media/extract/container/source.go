package container

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limits of one Read. They hold whatever a file declares about itself.
const (
	maxValue    = 16 << 20 // bytes of one metadata value, before and after decompression
	maxHeld     = 48 << 20 // bytes of all values together: raw, inflated and decoded
	maxSmall    = 4 << 20  // bytes of all values that are held without asking
	maxChunks   = 4096     // chunks of one file
	maxWarnings = 32       // warnings of one file
	maxSteps    = 1 << 20  // chunks, boxes, elements and segments looked at
	maxDepth    = 32       // boxes within boxes
)

// ledger counts what one Read spends, across all the parts of the file it looks into.
type ledger struct {
	file     *File
	held     int64
	inflated int64 // bytes that decompression gave, kept or not
	steps    int
	err      error        // the reader's own failure, as opposed to the file's
	large    func() error // asked once before more than maxSmall is held; nil allows it
}

// source is a range of a file, or bytes that were taken out of it. Offsets are
// relative to the range; reading outside of it gives nothing.
type source struct {
	*ledger
	r    io.ReaderAt
	base int64
	size int64
}

func newSource(r io.ReaderAt, size int64, f *File) source {
	return source{ledger: &ledger{file: f}, r: r, size: size}
}

// part narrows the source to n bytes from off on, clipped to what there is.
func (s source) part(off, n int64) source {
	off = min(max(off, 0), s.size)
	n = min(max(n, 0), s.size-off)
	return source{ledger: s.ledger, r: s.r, base: s.base + off, size: n}
}

// memory makes a source of bytes that were already read.
func (s source) memory(b []byte) source {
	return source{ledger: s.ledger, r: bytes.NewReader(b), size: int64(len(b))}
}

// peek returns exactly n bytes at off, or nil when the range does not hold them.
// It is meant for headers: callers bound n themselves.
func (s source) peek(off, n int64) []byte {
	if off < 0 || n < 0 || n > maxValue || off > s.size-n || s.err != nil {
		return nil
	}
	b := make([]byte, n)
	if s.fill(b, off) < n {
		return nil
	}
	return b
}

// front returns up to n bytes from the start of the range.
func (s source) front(n int64) []byte {
	b := make([]byte, min(max(n, 0), s.size))
	return b[:s.fill(b, 0)]
}

// fill reads into b as much as there is.
func (s source) fill(b []byte, off int64) int64 {
	n, err := s.r.ReadAt(b, s.base+off)
	if n == len(b) {
		return int64(n)
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		s.err = err
		return 0
	}
	s.file.Truncated = true // the file is shorter than its caller said
	return int64(n)
}

// value reads one metadata value, within the limits; what names it in warnings.
func (s source) value(what string, off, n int64) ([]byte, bool) {
	if n > maxValue {
		s.warn("%s is larger than %d MiB and was left out", what, maxValue>>20)
		return nil, false
	}
	if off < 0 || n < 0 || off > s.size-n {
		s.warn("%s reaches beyond the end of the file and was left out", what)
		return nil, false
	}
	if !s.hold(what, n) {
		return nil, false
	}
	b := s.peek(off, n)
	return b, b != nil
}

// hold books n bytes of memory and reports whether they are allowed.
func (l *ledger) hold(what string, n int64) bool {
	if l.held+n > maxHeld {
		l.warn("%s was left out: the file's metadata is larger than %d MiB", what, maxHeld>>20)
		return false
	}
	if l.held+n > maxSmall && l.large != nil {
		if l.err = l.large(); l.err != nil {
			return false
		}
		l.large = nil
	}
	l.held += n
	return true
}

// step counts one chunk looked at and reports whether the walk may go on.
func (l *ledger) step() bool {
	l.steps++
	if l.steps == maxSteps {
		l.warn("the file has more than %d parts; the rest was not read", maxSteps)
	}
	return l.steps < maxSteps && l.err == nil
}

func (l *ledger) warn(format string, args ...any) {
	if len(l.file.Warnings) < maxWarnings {
		l.file.Warnings = append(l.file.Warnings, clip(plain(fmt.Sprintf(format, args...))))
	}
}

// cut notes that the file ends too early, and where.
func (l *ledger) cut(where string) {
	if !l.file.Truncated {
		l.file.Truncated = true
		l.warn("the file ends inside %s", where)
	}
}

// add keeps a text chunk. Empty texts say nothing and are dropped.
func (l *ledger) add(place, key, text string) {
	text = plain(text)
	if text == "" || !l.room() || !l.hold(place, int64(len(text))) {
		return
	}
	l.file.Chunks = append(l.file.Chunks, Chunk{Place: place, Key: clip(plain(key)), Text: text})
}

// addCredentials keeps C2PA data, whose bytes were booked when they were read.
func (l *ledger) addCredentials(key string, data []byte) {
	if len(data) > 0 && l.room() {
		l.file.Chunks = append(l.file.Chunks, Chunk{Place: "c2pa", Key: key, Data: data})
	}
}

func (l *ledger) room() bool {
	if len(l.file.Chunks) == maxChunks {
		l.warn("the file has more than %d pieces of metadata; the rest was left out", maxChunks)
	}
	return len(l.file.Chunks) < maxChunks
}
