// Package previewtest writes pictures that are small as files and large in memory.
package previewtest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/bits"
)

// PNG returns a black picture of the given bit depth and color type.
func PNG(w, h, depth, color int, interlaced bool) []byte {
	channels := map[int]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	head = binary.BigEndian.AppendUint32(head, uint32(h))
	head = append(head, byte(depth), byte(color), 0, 0, 0)
	var rows int64
	row := func(width int) int64 { return 1 + int64(width*channels*depth+7)/8 }
	if interlaced {
		head[12] = 1
		for _, p := range [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
			pw, ph := (w-p[0]+p[2]-1)/p[2], (h-p[1]+p[3]-1)/p[3]
			if pw > 0 && ph > 0 {
				rows += int64(ph) * row(pw)
			}
		}
	} else {
		rows = int64(h) * row(w)
	}
	b := []byte("\x89PNG\r\n\x1a\n")
	b = pngChunk(b, "IHDR", head)
	if color == 3 {
		b = pngChunk(b, "PLTE", make([]byte, 3))
	}
	b = pngChunk(b, "IDAT", zeros(rows))
	return pngChunk(b, "IEND", nil)
}

func pngChunk(b []byte, kind string, body []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	at := len(b)
	b = append(append(b, kind...), body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[at:]))
}

// zeros compresses n zero bytes.
func zeros(n int64) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	if _, err := io.CopyN(z, endless{}, n); err != nil {
		panic(err) // a buffer takes everything
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// ProgressiveJPEG returns a grey picture of the given sampling factors, such as 0x11
// for each of three components. It has a single scan. Behind it comes a segment that
// says that the components are RGB: a decoder that follows copies the picture.
func ProgressiveJPEG(w, h int, sampling ...byte) []byte {
	b := []byte{0xff, 0xd8, 0xff, 0xdb, 0, 67, 0}
	b = append(b, bytes.Repeat([]byte{1}, 64)...)
	n := len(sampling)
	b = append(b, 0xff, 0xc2, 0, byte(8+3*n), 8, byte(h>>8), byte(h), byte(w>>8), byte(w), byte(n))
	for i, s := range sampling {
		b = append(b, byte(i+1), s, 0)
	}
	// One code of one bit: no difference to the block before.
	b = append(b, 0xff, 0xc4, 0, 20, 0, 1)
	b = append(b, make([]byte, 16)...)
	b = append(b, 0xff, 0xda, 0, byte(6+2*n), byte(n))
	maxH, maxV, perUnit := 1, 1, 0
	for i, s := range sampling {
		b = append(b, byte(i+1), 0)
		maxH, maxV = max(maxH, int(s>>4)), max(maxV, int(s&15))
		perUnit += int(s>>4) * int(s&15)
	}
	if n == 1 {
		maxH, maxV, perUnit = 1, 1, 1
	}
	b = append(b, 0, 0, 0)
	units := ((w + 8*maxH - 1) / (8 * maxH)) * ((h + 8*maxV - 1) / (8 * maxV))
	b = append(b, make([]byte, (units*perUnit+7)/8)...)
	b = append(b, "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"...)
	return append(b, 0xff, 0xd9)
}

// LosslessWebP returns a picture of one color, whose pixels take no bits at all.
// With a palette two pixels share a byte.
func LosslessWebP(w, h int, palette bool) []byte {
	out := bitWriter{}
	out.put(0x2f, 8)
	out.put(uint32(w-1), 14)
	out.put(uint32(h-1), 14)
	out.put(0, 4) // no hint of transparency; version 0
	if palette {
		out.put(1, 1)  // a transform:
		out.put(3, 2)  // color indexing
		out.put(15, 8) // of 16 colors
		out.put(0, 1)  // no color cache
		out.codes()
	}
	out.put(0, 1) // no further transform
	out.put(0, 1) // no color cache
	out.put(0, 1) // one set of codes for the whole picture
	out.codes()
	body := append(out.done(), make([]byte, 8)...)
	return riff(chunk("VP8L", body))
}

// WebPOfManyCodes returns a small lossless picture with as many and as long prefix
// codes as a decoder takes: 2600 sets of five.
func WebPOfManyCodes() []byte {
	const edge, sets = 204, 2600 // 51×51 tiles of 4×4 pixels
	out := bitWriter{}
	out.put(0x2f, 8)
	out.put(edge-1, 14)
	out.put(edge-1, 14)
	out.put(0, 4)
	out.put(0, 1)  // no transform
	out.put(1, 1)  // a color cache
	out.put(11, 4) // of 2048 entries
	out.put(1, 1)  // a set of codes for each tile
	out.put(0, 3)  // of 4×4 pixels
	out.put(0, 1)  // the picture of tiles has no color cache
	out.evenCode(280)
	out.evenCode(256)
	for range 3 {
		out.singleCode()
	}
	for i := range 51 * 51 {
		set := min(i, sets-1)
		out.symbol(set&0xff, 280)
		out.symbol(set>>8, 256)
	}
	for range sets {
		out.evenCode(280 + 2048)
		for range 3 {
			out.evenCode(256)
		}
		out.evenCode(40)
	}
	for range edge * edge {
		out.symbol(0, 280+2048)
		for range 3 {
			out.symbol(0, 256)
		}
	}
	return riff(chunk("VP8L", out.done()))
}

// evenCode writes a complete code of so many symbols whose lengths differ by one at
// most: the first ones are the shorter.
func (b *bitWriter) evenCode(symbols int) {
	length := bits.Len(uint(symbols - 1))
	short := 1<<length - symbols
	order := []int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	b.put(0, 1)
	b.put(uint32(len(order)-4), 4)
	for _, l := range order { // repeat is 0, the shorter length 10, the longer 11
		switch l {
		case 16:
			b.put(1, 3)
		case length - 1, length:
			b.put(2, 3)
		default:
			b.put(0, 3)
		}
	}
	b.put(0, 1) // a length for each symbol
	b.run(2, short)
	b.run(3, symbols-short)
}

// run writes the same length for so many symbols.
func (b *bitWriter) run(code uint32, symbols int) {
	for first := true; symbols > 0; first = false {
		if first || symbols < 3 {
			b.msb(code, 2)
			symbols--
			continue
		}
		n := min(symbols, 6)
		b.msb(0, 1) // as before, three to six times
		b.put(uint32(n-3), 2)
		symbols -= n
	}
}

// symbol writes a symbol of the code that evenCode wrote.
func (b *bitWriter) symbol(i, symbols int) {
	length := bits.Len(uint(symbols - 1))
	if short := 1<<length - symbols; i < short {
		b.msb(uint32(i), length-1)
	} else {
		b.msb(uint32(i+short), length)
	}
}

// msb writes the bits of a code, the highest first.
func (b *bitWriter) msb(code uint32, length int) {
	for i := length - 1; i >= 0; i-- {
		b.put(code>>i&1, 1)
	}
}

// codes writes five codes that each have a single symbol.
func (b *bitWriter) codes() {
	for range 5 {
		b.singleCode()
	}
}

func (b *bitWriter) singleCode() {
	b.put(1, 1) // a simple code
	b.put(0, 1) // of one symbol
	b.put(0, 1) // which has one bit
	b.put(0, 1) // and is 0
}

func riff(body []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(body)))
	return append(append(b, "WEBP"...), body...)
}

func chunk(kind string, body []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(body)))
	b = append(b, body...)
	return append(b, make([]byte, len(body)&1)...)
}

type bitWriter struct {
	b []byte
	n int
}

func (b *bitWriter) put(v uint32, bits int) {
	for i := range bits {
		if b.n%8 == 0 {
			b.b = append(b.b, 0)
		}
		b.b[b.n/8] |= byte(v>>i&1) << (b.n % 8)
		b.n++
	}
}

func (b *bitWriter) done() []byte { return b.b }
