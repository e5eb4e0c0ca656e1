package strip

import (
	"bufio"
	"compress/lzw"
	"encoding/binary"
	"io"
)

// planGIF keeps the screen, the frames with their delays, how often they repeat, and the
// color profile. Comments, texts and all other extensions go.
func planGIF(in input, e edit) (*plan, error) {
	p := &plan{}
	head, err := in.bytes(0, 13)
	if err != nil {
		return nil, err
	}
	off := int64(13) + palette(head[10])
	p.copy(0, off)
	for {
		b, err := in.bytes(off, 1)
		if err != nil {
			return nil, err
		}
		switch b[0] {
		case 0x3b:
			p.copy(off, 1)
			if off+1 < in.size {
				p.drop("bytes after the end")
			}
			return p, nil
		case 0x2c:
			d, err := in.bytes(off, 10)
			if err != nil {
				return nil, err
			}
			data := off + 10 + palette(d[9]) + 1
			end, err := blocksEnd(in, data)
			if err != nil {
				return nil, err
			}
			if err := p.frame(in, off, data, end, d); err != nil {
				return nil, err
			}
			off = end
		case 0x21:
			end, err := gifExtension(in, p, e, off)
			if err != nil {
				return nil, err
			}
			off = end
		case 0:
			off++ // some writers leave an empty block
		default:
			return nil, damaged("there is no block at byte %d", off)
		}
	}
}

// frame copies a frame: its descriptor d, which stands at off, and its blocks from data to end. Where
// those hold more than the pixels they are packed again.
func (p *plan) frame(in input, off, data, end int64, d []byte) error {
	pixels := int64(binary.LittleEndian.Uint16(d[5:])) * int64(binary.LittleEndian.Uint16(d[7:]))
	if pixels > maxPixels {
		return &Error{CodeTooLarge, "A frame has too many pixels to be looked at."}
	}
	width, err := in.bytes(data-1, 1)
	if err != nil {
		return err
	}
	bits := int(width[0])
	if bits < 2 || bits > 8 || pixels == 0 {
		p.copy(off, end-off)
		return nil
	}
	from := &blockReader{r: bufio.NewReader(in.section(data, end-data))}
	z := lzw.NewReader(from, lzw.LSB, bits)
	if n, err := io.CopyN(io.Discard, z, pixels); n < pixels || err != nil {
		p.copy(off, end-off) // cut off: what is there is all pixels
		return nil
	}
	if n, _ := io.CopyN(io.Discard, z, 1); n == 0 && from.left() == 0 {
		p.copy(off, end-off)
		return nil
	}
	p.drop("bytes behind the pixels")
	p.copy(off, data-off)
	to := &blockWriter{}
	packed := lzw.NewWriter(to, lzw.LSB, bits)
	z = lzw.NewReader(&blockReader{r: bufio.NewReader(in.section(data, end-data))}, lzw.LSB, bits)
	if _, err := io.CopyN(packed, z, pixels); err != nil {
		return damaged("a frame cannot be read")
	}
	if err := packed.Close(); err != nil {
		return err
	}
	p.put(to.end())
	return nil
}

// blockReader reads what is in a sequence of sub-blocks.
type blockReader struct {
	r *bufio.Reader
	n int // bytes left of the block
}

func (b *blockReader) ReadByte() (byte, error) {
	if b.n == 0 {
		n, err := b.r.ReadByte()
		if err != nil {
			return 0, err
		}
		if b.n = int(n); n == 0 {
			return 0, io.EOF
		}
	}
	b.n--
	return b.r.ReadByte()
}

// Read makes it a reader; what decodes reads byte by byte, and so no further than it needs.
func (b *blockReader) Read(to []byte) (int, error) {
	for i := range to {
		c, err := b.ReadByte()
		if err != nil {
			return i, err
		}
		to[i] = c
	}
	return len(to), nil
}

// left returns how many bytes were not read.
func (b *blockReader) left() (n int) {
	for {
		if _, err := b.ReadByte(); err != nil {
			return n
		}
		n++
	}
}

// blockWriter packs bytes into sub-blocks.
type blockWriter struct{ data []byte }

func (b *blockWriter) Write(p []byte) (int, error) {
	b.data = append(b.data, p...)
	return len(p), nil
}

func (b *blockWriter) end() (out []byte) {
	for rest := b.data; len(rest) > 0; {
		n := min(255, len(rest))
		out = append(append(out, byte(n)), rest[:n]...)
		rest = rest[n:]
	}
	return append(out, 0)
}

// palette returns the bytes of the color table that follows a descriptor.
func palette(flags byte) int64 {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// blocksEnd returns where a sequence of sub-blocks ends.
func blocksEnd(in input, off int64) (int64, error) {
	for {
		b, err := in.bytes(off, 1)
		if err != nil {
			return 0, err
		}
		off += 1 + int64(b[0])
		if b[0] == 0 {
			return off, nil
		}
	}
}

func gifExtension(in input, p *plan, e edit, off int64) (int64, error) {
	b, err := in.bytes(off, 2)
	if err != nil {
		return 0, err
	}
	end, err := blocksEnd(in, off+2)
	if err != nil {
		return 0, err
	}
	name := ""
	if b[1] == 0xff {
		if a, err := in.bytes(off+2, 12); err == nil && a[0] == 11 {
			name = string(a[1:])
		}
	}
	switch {
	case b[1] == 0xf9 && end-off == 8: // how a frame is shown
		p.copy(off, end-off)
	case (name == "NETSCAPE2.0" || name == "ANIMEXTS1.0") && end-off == 19:
		p.copy(off, end-off)
	case name == "ICCRGBG1012" && !e.keep.NoICC, b[1] == 0xfe && e.keep.Generation, name == "XMP DataXMP" && e.keep.xmp():
		p.copy(off, end-off)
	case b[1] == 0xfe:
		p.drop("comment")
	case name != "":
		p.drop(name)
	default:
		p.drop("extension")
	}
	return end, nil
}
