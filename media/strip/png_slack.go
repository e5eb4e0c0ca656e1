package strip

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
)

// pngSizes are the sizes of chunks that have a fixed or largest one. One that is larger holds
// more than it needs to show the picture.
var pngSizes = map[string]struct{ least, most int64 }{
	"IHDR": {13, 13}, "PLTE": {3, 768}, "IEND": {0, 0}, "tRNS": {1, 256}, "gAMA": {4, 4}, "cHRM": {32, 32}, "sRGB": {1, 1}, "sBIT": {1, 4}, "bKGD": {1, 6}, "pHYs": {9, 9},
	"acTL": {8, 8}, "fcTL": {26, 26}, "cICP": {4, 4}, "mDCV": {24, 24}, "cLLI": {8, 8},
}

// fitsPNG reports whether a chunk is as large as it may be.
func fitsPNG(kind string, n int64) bool {
	size, known := pngSizes[kind]
	return !known || n >= size.least && n <= size.most
}

// pngSlack is what stands in the data of a PNG's pixels and is none.
const pngSlack = "bytes behind the pixels"

// hasSlack reports whether pixel data, which stands in parts of the file, holds more than the
// pixels: compressed bytes behind them, or bytes behind the compressed ones. Data that is cut off has none.
func hasSlack(in input, idat []part, head []byte) bool {
	if len(head) < 13 {
		return false
	}
	readers := make([]io.Reader, len(idat))
	for i, p := range idat {
		readers[i] = in.section(p.off, p.n)
	}
	r := bufio.NewReaderSize(io.MultiReader(readers...), 64<<10) // deflate reads byte by byte and no further than its end
	z, err := zlib.NewReader(r)
	if err != nil {
		return !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(z, pixelBytes(head)+1))
	if err != nil {
		return !errors.Is(err, io.ErrUnexpectedEOF)
	}
	if n > pixelBytes(head) {
		return true
	}
	_, err = r.ReadByte()
	return err == nil
}

// pixelBytes returns how many bytes the pixels of a PNG are, by its header.
func pixelBytes(head []byte) (n int64) {
	w, h := int64(binary.BigEndian.Uint32(head)), int64(binary.BigEndian.Uint32(head[4:]))
	bits := int64(head[8]) * map[byte]int64{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[head[9]]
	pass := func(w, h int64) {
		if w > 0 && h > 0 {
			n += h * (1 + (w*bits+7)/8)
		}
	}
	if head[12] == 0 {
		pass(w, h)
		return n
	}
	for _, p := range [7][4]int64{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}} {
		pass((w-p[0]+p[2]-1)/p[2], (h-p[1]+p[3]-1)/p[3])
	}
	return n
}
