package container

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// gifReader reads a GIF file front to back: its blocks have no length of their
// own, only those of their pieces of at most 255 bytes (GIF89a, section 15).
type gifReader struct {
	s       source
	r       *bufio.Reader
	delayMS int64
}

// readGIF reads the size, frames, comments and XMP of a GIF file.
func readGIF(s source) {
	h := s.peek(6, 7)
	if h == nil {
		s.cut("the GIF's header")
		return
	}
	s.file.Width, s.file.Height = int(binary.LittleEndian.Uint16(h)), int(binary.LittleEndian.Uint16(h[2:]))
	at := 13 + colourTable(h[4])
	g := gifReader{s: s, r: bufio.NewReaderSize(io.NewSectionReader(s.r, s.base+at, max(s.size-at, 0)), 32<<10)}
	if !g.blocks() {
		s.cut("the GIF's blocks")
	}
	if s.file.Frames == 1 { // a still
		s.file.Frames = 0
		return
	}
	s.file.setDuration(float64(g.delayMS))
}

// colourTable returns the length of the colour table that a flags byte announces.
func colourTable(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// blocks reads up to the trailer; false when the file ends before it.
func (g *gifReader) blocks() bool {
	for g.s.step() {
		kind, err := g.r.ReadByte()
		if err != nil {
			return g.failed(err)
		}
		switch kind {
		case 0x3B:
			return true
		case 0: // an empty piece too many, which decoders skip
		case 0x21:
			err = g.extension()
		case 0x2C:
			err = g.image()
		default:
			g.s.warn("the GIF has a block of unknown kind; the rest was not read")
			return true
		}
		if err != nil {
			return g.failed(err)
		}
	}
	return true
}

// failed reports whether an error is the reader's own failure rather than the file's end.
func (g *gifReader) failed(err error) bool {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		g.s.err = err
	}
	return false
}

func (g *gifReader) image() error {
	var h [9]byte
	if _, err := io.ReadFull(g.r, h[:]); err != nil {
		return err
	}
	g.s.file.Frames++
	// The byte behind the colour table is the code size of the pixels.
	if _, err := g.r.Discard(int(colourTable(h[8])) + 1); err != nil {
		return err
	}
	return g.pieces(nil)
}

func (g *gifReader) extension() error {
	label, err := g.r.ReadByte()
	if err != nil {
		return err
	}
	switch label {
	case 0xFE:
		var text bytes.Buffer
		err := g.pieces(func(_ byte, b []byte) { text.Write(b) })
		g.s.add("gif:comment", "comment", utf8OrLatin1(text.Bytes()))
		return err
	case 0xF9:
		return g.pieces(func(_ byte, b []byte) {
			if len(b) >= 3 {
				g.delayMS += 10 * int64(binary.LittleEndian.Uint16(b[1:]))
			}
		})
	case 0xFF:
		return g.application()
	}
	return g.pieces(nil)
}

// The names of the applications whose blocks are read.
const (
	xmpApplication         = "XMP DataXMP"
	credentialsApplication = "C2PA_GIF\x01\x00\x00"
)

// application reads an application's block. XMP is not cut into pieces: its bytes
// read as if they were piece lengths, up to a trailer that ends any such reading
// (XMP specification part 3, 1.1.2), so the lengths are put back between.
func (g *gifReader) application() error {
	name := ""
	var packet bytes.Buffer
	err := g.pieces(func(n byte, b []byte) {
		switch name {
		case "":
			name = string(b)
		case xmpApplication:
			packet.WriteByte(n)
			packet.Write(b)
		case credentialsApplication:
			packet.Write(b)
		}
	})
	switch name {
	case credentialsApplication:
		if g.s.hold("the content credentials", int64(packet.Len())) {
			g.s.addCredentials("gif:C2PA_GIF", packet.Bytes())
		}
	case xmpApplication:
		// The trailer counts down from 255, behind a byte of 1.
		text, _, _ := bytes.Cut(packet.Bytes(), []byte{1, 0xFF, 0xFE, 0xFD})
		readXMP(g.s, text)
	}
	return err
}

// pieces reads the pieces of a block up to the empty one. Visit, if any, gets them
// until they are more than a value may have.
func (g *gifReader) pieces(visit func(n byte, b []byte)) error {
	var buf [255]byte
	for total := 0; ; {
		n, err := g.r.ReadByte()
		if err != nil || n == 0 {
			return err
		}
		if visit == nil || total > maxXMP {
			if _, err := g.r.Discard(int(n)); err != nil {
				return err
			}
			continue
		}
		if _, err := io.ReadFull(g.r, buf[:n]); err != nil {
			return err
		}
		total += int(n) + 1
		visit(n, buf[:n])
	}
}
