package strip

import (
	"encoding/binary"
)

// Flags of a WebP file with more than one image chunk.
const (
	webpXMP   = 0x04
	webpEXIF  = 0x08
	webpAlpha = 0x10
	webpICC   = 0x20
	webpAnim  = 0x02
)

// planWebP keeps the image chunks, those of an animation, and the color profile.
func planWebP(in input, e edit) (*plan, error) {
	w := &webpFile{plan: &plan{}, edit: e}
	head, err := in.bytes(0, 12)
	if err != nil {
		return nil, err
	}
	end := min(in.size, 8+int64(binary.LittleEndian.Uint32(head[4:])))
	for off := int64(12); off+8 <= in.size; {
		if off >= end && off > 12 {
			w.drop("bytes after the end") // or metadata behind a header that was not raised
			break
		}
		n, err := w.chunk(in, off)
		if err != nil {
			return nil, err
		}
		off += 8 + n + n&1
	}
	if w.images == 0 {
		return nil, damaged("it has no picture")
	}
	w.plan.icc = w.edit.icc
	w.assemble()
	return w.plan, nil
}

// webpFile is a WebP file that is put together anew.
type webpFile struct {
	*plan
	edit
	images        int
	width, height uint32
	alpha, anim   bool
	split         bool // pixels and their transparency are apart
	exifKept      bool
	xmpKept       bool
	tail          []part // metadata that stays, which comes last
}

// chunk takes one chunk and returns its length.
func (w *webpFile) chunk(in input, off int64) (int64, error) {
	head, err := in.bytes(off, 8)
	if err != nil {
		return 0, err
	}
	kind, n := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
	if n > in.size-off-8 {
		return 0, damaged("the chunk %q reaches beyond its end", kind)
	}
	padded := min(n+n&1, in.size-off-8)
	if kind == "EXIF" {
		w.plan.exif = part{off: off + 8, n: n}
	}
	switch {
	case kind == "VP8X":
		return n, w.header(in, off+8, n)
	case kind == "VP8 ", kind == "VP8L", kind == "ALPH", kind == "ANIM":
		return n, w.image(in, kind, off, n, padded)
	case kind == "ANMF":
		return n, w.frame(in, off, n)
	case kind == "ICCP":
		if w.edit.icc == nil && !w.keep.NoICC {
			if b, err := in.bytes(off+8, n); err == nil {
				w.edit.icc = profile(b)
			}
		}
		w.dropUnless(w.edit.icc != nil, kind)
	case kind == "EXIF" && w.keep.exif():
		w.exifKept = true
		w.tail = append(w.tail, part{off: off, n: 8 + padded})
	case kind == "XMP " && w.keep.xmp() && w.xmp == nil:
		w.xmpKept = true
		w.tail = append(w.tail, part{off: off, n: 8 + padded})
	default:
		w.drop(kind)
	}
	return n, nil
}

func (w *webpFile) header(in input, off, n int64) error {
	b, err := in.bytes(off, min(n, 10))
	if err == nil && len(b) == 10 {
		w.alpha = b[0]&webpAlpha != 0
		w.width, w.height = 1+uint24(b[4:]), 1+uint24(b[7:])
	}
	return err
}

// image takes a chunk of pixels, or the header of an animation.
func (w *webpFile) image(in input, kind string, off, n, padded int64) error {
	w.copy(off, 8+padded)
	w.zeros(n + n&1 - padded)
	switch kind {
	case "ANIM":
		w.anim = true
	case "ALPH":
		w.alpha, w.split = true, true
	default:
		w.images++
		return w.measure(in, kind, off+8, n)
	}
	return nil
}

// measure reads the size of a picture that has no header of its own.
func (w *webpFile) measure(in input, kind string, off, n int64) error {
	b, err := in.bytes(off, min(n, 10))
	if err != nil || w.width > 0 || len(b) < 10 {
		return err
	}
	if kind == "VP8L" {
		bits := binary.LittleEndian.Uint32(b[1:])
		w.width, w.height, w.alpha = 1+bits&0x3fff, 1+bits>>14&0x3fff, bits>>28&1 == 1
		return nil
	}
	w.width, w.height = uint32(binary.LittleEndian.Uint16(b[6:])&0x3fff), uint32(binary.LittleEndian.Uint16(b[8:])&0x3fff)
	return nil
}

// frame takes one frame of an animation, with its own chunks of pixels alone.
func (w *webpFile) frame(in input, off, n int64) error {
	if n < 16 {
		return damaged("a frame is too short")
	}
	var inner []part
	size := int64(16)
	for at := off + 24; at+8 <= off+8+n; {
		head, err := in.bytes(at, 8)
		if err != nil {
			return err
		}
		kind, m := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		m += m & 1
		if m > off+8+n-at-8 {
			return damaged("a part of a frame reaches beyond its end")
		}
		if kind == "VP8 " || kind == "VP8L" || kind == "ALPH" {
			inner = append(inner, part{off: at, n: 8 + m})
			size += 8 + m
		} else {
			w.drop("frame " + kind)
		}
		at += 8 + m
	}
	w.images++
	w.put(webpHead("ANMF", size))
	w.copy(off+8, 16)
	for _, x := range inner {
		w.copy(x.off, x.n)
	}
	return nil
}

// assemble puts the header before the chunks and the metadata behind them.
func (w *webpFile) assemble() {
	chunks := w.parts
	w.parts = nil
	var flags byte
	for _, f := range []struct {
		on   bool
		flag byte
	}{{w.alpha, webpAlpha}, {w.anim, webpAnim}, {w.edit.icc != nil, webpICC}, {w.exifKept, webpEXIF}, {w.xmpKept || w.xmp != nil, webpXMP}} {
		if f.on {
			flags |= f.flag
		}
	}
	var front []byte
	if flags&^webpAlpha != 0 || w.split {
		front = append(webpHead("VP8X", 10), flags, 0, 0, 0)
		front = appendUint24(appendUint24(front, w.width-1), w.height-1)
	}
	if w.edit.icc != nil {
		front = append(append(front, webpHead("ICCP", int64(len(w.edit.icc)))...), w.edit.icc...)
		front = append(front, make([]byte, len(w.edit.icc)&1)...)
	}
	tail := w.tail
	if w.xmp != nil {
		x := append(webpHead("XMP ", int64(len(w.xmp))), w.xmp...)
		tail = append(tail, part{data: append(x, make([]byte, len(w.xmp)&1)...)})
		w.embedded = true
	}
	body := append(append([]part{{data: front}}, chunks...), tail...)
	if len(front) == 0 {
		body = body[1:]
	}
	size := (&plan{parts: body}).size()
	w.put(append(webpHead("RIFF", 4+size), "WEBP"...))
	w.parts = append(w.parts, body...)
}

func webpHead(kind string, n int64) []byte {
	return binary.LittleEndian.AppendUint32([]byte(kind), uint32(n))
}

func uint24(b []byte) uint32 { return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 }

func appendUint24(b []byte, v uint32) []byte { return append(b, byte(v), byte(v>>8), byte(v>>16)) }
