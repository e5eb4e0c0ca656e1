package preview

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"

	"golang.org/x/image/webp"

	"vitrine/media/memory"
)

// webpFile is what the chunks of a WebP say. The decoder takes the canvas' size
// for transparency and the frame's own for the colors, so both count.
type webpFile struct {
	width, height   int   // of the frame
	canvas          int64 // pixels of the canvas; 0 where none is given
	lossless        bool
	data            int64 // bytes of the frame's data
	alpha           bool
	alphaData       int64
	frame, frameEnd int64 // where the chunk of the first frame of an animation is; 0 for a still
}

// openWebP takes the first frame of an animation.
func openWebP(f file) (source, error) {
	w, err := walkWebP(f)
	if err != nil {
		return source{}, err
	}
	kind := "WebP"
	if w.lossless {
		kind = "lossless WebP"
	}
	return decoded(kind, w.width, w.height, w.cost(), func(f file) (image.Image, error) { return webp.Decode(w.still(f)) }), nil
}

// cost follows golang.org/x/image/webp.
func (w webpFile) cost() int64 {
	size := pixels(w.width, w.height)
	if w.lossless {
		return memory.LosslessWebP(size, w.data)
	}
	// Planes of whole macroblocks with 4:2:0, filter parameters of each, the data.
	blocks := int64((w.width+15)/16) * int64((w.height+15)/16)
	cost := blocks*(256+128+16) + min(w.data, 130<<20) + 64<<10
	if w.alpha {
		canvas := max(w.canvas, size)
		cost += canvas + memory.LosslessWebP(canvas, w.alphaData)
	}
	return cost
}

func walkWebP(f file) (w webpFile, err error) {
	for off, chunks := int64(12), 0; off+8 <= f.n && chunks < maxSegments; chunks++ {
		kind, n, err := chunkAt(f, off)
		if err != nil {
			return w, err
		}
		if n > f.n-off-8 {
			return w, errShort
		}
		switch kind {
		case "VP8X":
			if b := f.head(off+8, 10); b != nil {
				w.alpha = b[0]&0x10 != 0
				w.canvas = pixels(int(b[4])|int(b[5])<<8|int(b[6])<<16+1, int(b[7])|int(b[8])<<8|int(b[9])<<16+1)
			}
		case "ALPH":
			w.alphaData += n
		case "VP8 ", "VP8L":
			return w, w.readFrame(f, kind, off+8, n)
		case "ANMF":
			return w, w.readAnimation(f, off+8+16, off+8+n)
		}
		off += 8 + n + n&1
	}
	return w, errShort
}

// readAnimation finds the chunk with the colors of the first frame.
func (w *webpFile) readAnimation(f file, off, end int64) error {
	w.alpha, w.canvas = false, 0 // the frame is decoded by itself
	for chunks := 0; off+8 <= end && chunks < maxSegments; chunks++ {
		kind, n, err := chunkAt(f, off)
		if err != nil {
			return err
		}
		if n > end-off-8 {
			return errShort
		}
		if kind == "VP8 " || kind == "VP8L" {
			w.frame, w.frameEnd = off, off+8+n
			return w.readFrame(f, kind, off+8, n)
		}
		off += 8 + n + n&1
	}
	return errShort
}

func chunkAt(f file, off int64) (kind string, length int64, err error) {
	h := f.head(off, 8)
	if h == nil {
		return "", 0, errShort
	}
	return string(h[:4]), int64(binary.LittleEndian.Uint32(h[4:])), nil
}

// readFrame reads the dimensions out of a frame's first bytes (RFC 9649, 2.5 and 2.6).
func (w *webpFile) readFrame(f file, kind string, off, n int64) error {
	w.lossless, w.data = kind == "VP8L", n
	if w.lossless {
		h := f.head(off, 5)
		if h == nil || h[0] != 0x2f {
			return errShort
		}
		bits := binary.LittleEndian.Uint32(h[1:])
		w.width, w.height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
		return nil
	}
	h := f.head(off, 10)
	if h == nil || h[0]&1 != 0 {
		return errShort // a frame that builds on another one is no still
	}
	w.width, w.height = int(binary.LittleEndian.Uint16(h[6:])&0x3fff), int(binary.LittleEndian.Uint16(h[8:])&0x3fff)
	return nil
}

// still returns the file as the decoder of stills takes it: of an animation the
// first frame, as a file of its own.
func (w webpFile) still(f file) io.Reader {
	if w.frame == 0 {
		return f.whole()
	}
	n := w.frameEnd - w.frame
	head := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+n+n&1))
	return io.MultiReader(bytes.NewReader(append(head, "WEBP"...)), f.section(w.frame, n), bytes.NewReader(make([]byte, n&1)))
}
