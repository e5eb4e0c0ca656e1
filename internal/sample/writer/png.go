package writer

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"

	"vitrine/internal/sample/draw"
)

// chunk is one PNG chunk (PNG specification, section 5.3).
type chunk struct {
	kind string
	data []byte
}

// text is a tEXt chunk; the value must be Latin-1 (see latin1).
func text(key, value string) chunk {
	return chunk{"tEXt", append([]byte(key+"\x00"), latin1(value)...)}
}

// rawText is a tEXt chunk holding the bytes of value as they are, which is how
// tools that know ASCII only, or ignore the encoding, write it.
func rawText(key, value string) chunk { return chunk{"tEXt", []byte(key + "\x00" + value)} }

// utf8Text is an iTXt chunk without language and translated key.
func utf8Text(key, value string) chunk {
	return chunk{"iTXt", []byte(key + "\x00\x00\x00\x00\x00" + value)}
}

// anyText is what Pillow's PngInfo.add_text does: tEXt when the value fits
// Latin-1, iTXt when it does not.
func anyText(key, value string) chunk {
	if isLatin1(value) {
		return text(key, value)
	}
	return utf8Text(key, value)
}

// packedText is a zTXt chunk: the value is deflated.
func packedText(key, value string) chunk {
	var b bytes.Buffer
	b.WriteString(key + "\x00\x00")
	z := zlib.NewWriter(&b)
	_, _ = z.Write(latin1(value)) // a bytes.Buffer does not fail
	_ = z.Close()
	return chunk{"zTXt", b.Bytes()}
}

// density is a pHYs chunk in pixels per metre.
func density(perMetre uint32) chunk {
	b := binary.BigEndian.AppendUint32(nil, perMetre)
	b = binary.BigEndian.AppendUint32(b, perMetre)
	return chunk{"pHYs", append(b, 1)}
}

func isLatin1(s string) bool {
	for _, r := range s {
		if r > 0xff {
			return false
		}
	}
	return true
}

func latin1(s string) []byte {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		out = append(out, byte(r))
	}
	return out
}

const pngSignature = "\x89PNG\r\n\x1a\n"

// encodePNG writes an 8-bit RGB PNG with the given chunks before the pixels.
// It is our own instead of image/png because that one writes no text chunks,
// and because one fixed row filter without a search costs a quarter.
func encodePNG(pic draw.Picture, before ...chunk) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(len(pic.Pix)/2 + 4096)
	out.WriteString(pngSignature)
	head := binary.BigEndian.AppendUint32(nil, uint32(pic.W))
	head = binary.BigEndian.AppendUint32(head, uint32(pic.H))
	writeChunk(&out, chunk{"IHDR", append(head, 8, 2, 0, 0, 0)})
	for _, c := range before {
		writeChunk(&out, c)
	}
	pixels, err := deflatePixels(pic)
	if err != nil {
		return nil, err
	}
	for len(pixels) > 0 {
		n := min(len(pixels), 65536)
		writeChunk(&out, chunk{"IDAT", pixels[:n]})
		pixels = pixels[n:]
	}
	writeChunk(&out, chunk{"IEND", nil})
	return out.Bytes(), nil
}

func writeChunk(out *bytes.Buffer, c chunk) {
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(c.data)))
	out.Write(n[:])
	out.WriteString(c.kind)
	out.Write(c.data)
	sum := crc32.Update(crc32.ChecksumIEEE([]byte(c.kind)), crc32.IEEETable, c.data)
	binary.BigEndian.PutUint32(n[:], sum)
	out.Write(n[:])
}

// deflatePixels filters each row with Up (row minus the row above), which
// suits gradients, and only Huffman codes the result: on grainy pictures the
// search for repetitions doubles the time and finds nothing.
func deflatePixels(pic draw.Picture) ([]byte, error) {
	var out bytes.Buffer
	z, err := zlib.NewWriterLevel(&out, zlib.HuffmanOnly)
	if err != nil {
		return nil, err
	}
	stride := pic.W * 3
	row := make([]byte, stride+1)
	above := make([]byte, stride)
	for y := range pic.H {
		line := pic.Pix[y*stride : (y+1)*stride]
		row[0] = 2
		for i, v := range line {
			row[i+1] = v - above[i]
		}
		above = line
		if _, err := z.Write(row); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
