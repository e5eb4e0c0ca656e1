package container

import (
	"bytes"
	"encoding/binary"
)

// readWebP walks the chunks of a WebP file (RFC 9649). The size in its header is
// not trusted: tools that append metadata forget to raise it.
func readWebP(s source) {
	w := webpReader{s: s}
	// One byte less than declared is a missing padding byte.
	if b := s.peek(4, 4); b != nil && int64(binary.LittleEndian.Uint32(b))+8 > s.size+1 {
		s.cut("the WebP's chunks")
	}
	walkRIFF(s, 12, webpChunks, w.chunk)
	if w.frames > 1 {
		s.file.Frames = w.frames
		s.file.setDuration(float64(w.delayMS))
	}
}

var webpChunks = []string{"VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP", "EXIF", "XMP ", "C2PA"}

// webpReader keeps what is known only after the last chunk.
type webpReader struct {
	s       source
	canvas  bool // VP8X gave the size; the frames' own may be smaller
	frames  int
	delayMS int64
}

func (w *webpReader) chunk(kind string, off, n int64) {
	switch kind {
	case "VP8X", "VP8 ", "VP8L":
		if b := w.s.peek(off, min(n, 10)); b != nil {
			w.size(kind, b)
		}
	case "ANMF":
		if b := w.s.peek(off, min(n, 16)); len(b) == 16 {
			w.frames++
			w.delayMS += int64(uint24(b[12:]))
		}
	case "EXIF":
		readEXIF(w.s.part(off, n), "webp:exif")
	case "XMP ":
		if b, ok := w.s.value("the XMP packet", off, n); ok {
			readXMP(w.s, b)
		}
	case "C2PA":
		riffCredentials(w.s, "webp:C2PA", off, n)
	}
}

// size reads the picture's size out of the chunk that has it.
func (w *webpReader) size(kind string, b []byte) {
	f := w.s.file
	switch {
	case kind == "VP8X" && len(b) >= 10:
		w.canvas = true
		f.Width, f.Height = uint24(b[4:])+1, uint24(b[7:])+1
	case w.canvas:
	case kind == "VP8 " && len(b) >= 10 && bytes.Equal(b[3:6], []byte{0x9D, 0x01, 0x2A}):
		f.Width = int(binary.LittleEndian.Uint16(b[6:])) & 0x3FFF
		f.Height = int(binary.LittleEndian.Uint16(b[8:])) & 0x3FFF
	case kind == "VP8L" && len(b) >= 5 && b[0] == 0x2F:
		bits := binary.LittleEndian.Uint32(b[1:])
		f.Width, f.Height = int(bits&0x3FFF)+1, int(bits>>14&0x3FFF)+1
	}
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// walkRIFF visits the chunks of a RIFF file from off to its end. Chunks have even
// length; known tells the file's chunk types, so that a writer that forgot the
// padding byte is noticed.
func walkRIFF(s source, off int64, known []string, visit func(kind string, off, n int64)) {
	for off < s.size && s.step() {
		h := s.peek(off, 8)
		if h == nil {
			if s.size-off > 1 { // one byte is the last chunk's padding
				s.cut("a RIFF chunk's header")
			}
			return
		}
		n := int64(binary.LittleEndian.Uint32(h[4:]))
		if off+8+n > s.size {
			s.cut("the RIFF chunk " + printable(string(h[:4])))
			n = s.size - off - 8
			if !clippable(string(h[:4])) {
				return
			}
		}
		visit(string(h[:4]), off+8, n)
		off += 8 + n
		if n&1 == 1 && !isKnown(s.peek(off, 4), known) {
			off++
		}
	}
}

// clippable names the chunks that are still of use when the file ends inside
// them: a frame's header tells its size, and EXIF fields are found one by one.
func clippable(kind string) bool {
	return kind == "VP8 " || kind == "VP8L" || kind == "ANMF" || kind == "EXIF"
}

func isKnown(b []byte, known []string) bool {
	for _, k := range known {
		if string(b) == k {
			return true
		}
	}
	return false
}
