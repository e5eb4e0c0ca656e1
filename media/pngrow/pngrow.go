// Package pngrow reads the rows of a PNG picture one at a time.
//
// It holds two rows and never the picture, whatever its size and depth, which the
// decoder of the standard library cannot do. In comes a file; out come rows as the
// file has them, unfiltered, together with what is needed to understand them. Checksums
// of chunks are not compared; the compressed data has one of its own.
package pngrow

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Errors of New and of Reader.Next. An error of the underlying reader is passed on.
var (
	ErrNoPNG   = errors.New("not a PNG file")
	ErrDamaged = errors.New("the PNG file is damaged")
)

// Color types of a Header.
const (
	Gray      = 0
	RGB       = 2
	Palette   = 3
	GrayAlpha = 4
	RGBA      = 6
)

// Header is the first chunk of a file.
type Header struct {
	Width, Height int // at least 1
	Depth         int // bits of a sample: 1, 2, 4, 8 or 16
	Color         int // the color type
	Interlaced    bool
}

// Channels returns the samples of a pixel.
func (h Header) Channels() int { return [...]int{1, 0, 3, 1, 2, 0, 4}[h.Color] }

// rowBytes is the size of a row of so many pixels, without its filter's number.
func (h Header) rowBytes(width int) int64 {
	return (int64(width)*int64(h.Channels()*h.Depth) + 7) / 8
}

// Cost returns the bytes that reading the rows takes.
func (h Header) Cost() int64 { return 2*(h.rowBytes(h.Width)+1) + 128<<10 }

// depths lists the depths that the specification allows for each color type.
var depths = map[int][]int{Gray: {1, 2, 4, 8, 16}, RGB: {8, 16}, Palette: {1, 2, 4, 8}, GrayAlpha: {8, 16}, RGBA: {8, 16}}

const signature = "\x89PNG\r\n\x1a\n"

// ReadHeader returns the header of a file.
func ReadHeader(r io.ReaderAt) (Header, error) {
	var b [33]byte
	n, err := r.ReadAt(b[:], 0)
	if n < len(signature) || string(b[:8]) != signature {
		if err != nil && !errors.Is(err, io.EOF) {
			return Header{}, err
		}
		return Header{}, ErrNoPNG
	}
	if n < len(b) || string(b[8:16]) != "\x00\x00\x00\x0dIHDR" {
		return Header{}, ErrDamaged
	}
	w, ht := binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:])
	h := Header{Width: int(w), Height: int(ht), Depth: int(b[24]), Color: int(b[25]), Interlaced: b[28] == 1}
	known := false
	for _, d := range depths[h.Color] {
		known = known || d == h.Depth
	}
	if !known || w == 0 || ht == 0 || w > 1<<31-1 || ht > 1<<31-1 || b[26] != 0 || b[27] != 0 || b[28] > 1 {
		return Header{}, ErrDamaged
	}
	return h, nil
}

// Row is one row of pixels. Pixel i of it is at (X + i·StepX, Y).
type Row struct {
	Y, X, StepX int
	Width       int    // pixels
	Data        []byte // packed as in the file; valid until the next call of Next
}

// Reader reads the rows of one picture.
type Reader struct {
	Header
	Colors      [][3]byte // the palette, of color type Palette
	Alpha       []byte    // opacity of the first colors of the palette
	Transparent []uint16  // the sample or the three samples that stand for full transparency; nil for none

	data       io.Reader
	pass       int
	y          int // next row of the pass
	row, above []byte
}

// pass is one of the seven of an interlaced picture (PNG specification, section 8).
type pass struct{ x, y, stepX, stepY int }

var adam7 = []pass{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

var whole = []pass{{0, 0, 1, 1}}

// New reads everything up to the pixels of a file. Bounds on its size are the
// caller's: see Cost.
func New(r io.ReaderAt, size int64) (*Reader, error) {
	h, err := ReadHeader(r)
	if err != nil {
		return nil, err
	}
	p := &Reader{Header: h}
	chunks := &chunkReader{r: r, size: size, next: 33}
	if err := p.readTables(chunks); err != nil {
		return nil, err
	}
	if p.data, err = zlib.NewReader(bufio.NewReaderSize(chunks, 64<<10)); err != nil {
		return nil, damaged(err)
	}
	n := h.rowBytes(h.Width) + 1
	p.row, p.above = make([]byte, n), make([]byte, n)
	return p, nil
}

// readTables reads palette and transparency, and stops before the pixels.
func (p *Reader) readTables(c *chunkReader) error {
	for {
		kind, body, err := c.chunk()
		if err != nil {
			return err
		}
		switch {
		case kind == "IDAT":
			if p.Color == Palette && p.Colors == nil {
				return ErrDamaged
			}
			return nil
		case kind == "IEND":
			return ErrDamaged
		case kind == "PLTE" && p.Color == Palette:
			if len(body) == 0 || len(body)%3 != 0 || len(body) > 768 {
				return ErrDamaged
			}
			for i := 0; i < len(body); i += 3 {
				p.Colors = append(p.Colors, [3]byte(body[i:]))
			}
		case kind == "tRNS" && p.Color == Palette:
			p.Alpha = body
		case kind == "tRNS" && (p.Color == Gray || p.Color == RGB):
			if len(body) != 2*p.Channels() {
				return ErrDamaged
			}
			for i := 0; i < len(body); i += 2 {
				p.Transparent = append(p.Transparent, binary.BigEndian.Uint16(body[i:]))
			}
		}
	}
}

// Next returns the next row, in the order of the file: from top to bottom, seven
// times over for an interlaced picture. After the last it returns io.EOF, unless the
// checksum of all of them is wrong.
func (p *Reader) Next() (Row, error) {
	passes := whole
	if p.Interlaced {
		passes = adam7
	}
	for ; p.pass < len(passes); p.pass, p.y = p.pass+1, 0 {
		at := passes[p.pass]
		width := (p.Width - at.x + at.stepX - 1) / at.stepX
		y := at.y + p.y*at.stepY
		if width <= 0 || y >= p.Height {
			continue
		}
		n := p.rowBytes(width) + 1
		if p.y == 0 {
			clear(p.above)
		}
		row, above := p.row[:n], p.above[:n]
		if _, err := io.ReadFull(p.data, row); err != nil {
			return Row{}, damaged(err)
		}
		if !unfilter(row, above, max(1, p.Channels()*p.Depth/8)) {
			return Row{}, ErrDamaged
		}
		p.y++
		p.row, p.above = p.above, p.row
		return Row{Y: y, X: at.x, StepX: at.stepX, Width: width, Data: row[1:]}, nil
	}
	if _, err := io.ReadFull(p.data, p.row[:1]); errors.Is(err, zlib.ErrChecksum) {
		return Row{}, ErrDamaged
	}
	return Row{}, io.EOF
}

// damaged tells damage of the file from an error of reading it.
func damaged(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, zlib.ErrHeader),
		errors.Is(err, zlib.ErrChecksum), errors.Is(err, zlib.ErrDictionary):
		return ErrDamaged
	}
	return fmt.Errorf("%w (%w)", ErrDamaged, err)
}

// chunkReader reads chunks, and then joins the IDAT chunks that follow each other.
type chunkReader struct {
	r          io.ReaderAt
	size, next int64 // next is where the next chunk begins
	at, left   int64 // within the current IDAT
}

// maxTable bounds what is read of a chunk before the pixels; a palette has 768 bytes.
const maxTable = 1024

// chunk reads the next chunk. Of kinds that no one asks for, and of IDAT, there is
// no body.
func (c *chunkReader) chunk() (kind string, body []byte, err error) {
	var head [8]byte
	if _, err := c.r.ReadAt(head[:], c.next); err != nil {
		return "", nil, damaged(err)
	}
	n, kind := int64(binary.BigEndian.Uint32(head[:])), string(head[4:])
	at := c.next + 8
	if n > c.size-at {
		if kind != "IDAT" {
			return "", nil, ErrDamaged
		}
		n = c.size - at // a file that is cut off: its rows end early
	}
	c.next = at + n + 4
	switch kind {
	case "IDAT":
		c.at, c.left = at, n
	case "PLTE", "tRNS":
		if n > maxTable {
			return "", nil, ErrDamaged
		}
		body = make([]byte, n)
		if _, err := c.r.ReadAt(body, at); err != nil && n > 0 {
			return "", nil, damaged(err)
		}
	}
	return kind, body, nil
}

func (c *chunkReader) Read(b []byte) (int, error) {
	for c.left == 0 {
		kind, _, err := c.chunk()
		if err != nil {
			return 0, err
		}
		if kind != "IDAT" {
			return 0, io.EOF
		}
	}
	n, err := c.r.ReadAt(b[:min(int64(len(b)), c.left)], c.at)
	c.at, c.left = c.at+int64(n), c.left-int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}
