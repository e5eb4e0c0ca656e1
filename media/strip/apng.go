package strip

import (
	"bytes"
	"compress/zlib"
	"io"
)

// pngFrames are the frames of an animation, whose pixels are looked at as those of the first picture are.
type pngFrames struct {
	in    input
	size  []byte // width and height of the frame that is being read
	parts []part // its data, each with its number in front
}

// header returns the header of the picture; nil where there is none.
func (f *pngFrames) header() []byte {
	head, err := f.in.bytes(16, 13)
	if err != nil {
		return nil
	}
	return head
}

// take takes a chunk that begins a frame, or one of its data.
func (f *pngFrames) take(p *plan, kind string, off, n int64) error {
	if kind == "fdAT" {
		if n < 4 {
			p.drop(kind)
			return nil
		}
		f.parts = append(f.parts, part{off: off + 8, n: n})
		return nil
	}
	p.copy(off, n+12)
	body, err := f.in.bytes(off+8, 12)
	if err == nil {
		f.size = body[4:12]
	}
	return err
}

// flush writes the data of the frame before: as it is, or packed again where it holds more than pixels.
func (f *pngFrames) flush(p *plan) error {
	parts := f.parts
	f.parts = nil
	data := make([]part, len(parts))
	for i, x := range parts {
		data[i] = part{off: x.off + 4, n: x.n - 4}
	}
	head := f.header()
	if len(parts) > 0 && len(head) == 13 && len(f.size) == 8 {
		head = append(bytes.Clone(f.size), head[8:]...)
		if hasSlack(f.in, data, head) {
			p.drop(pngSlack)
			return f.repack(p, parts, data, pixelBytes(head))
		}
	}
	for _, x := range parts {
		p.copy(x.off-8, x.n+12)
	}
	return nil
}

// repack writes the pixels of a frame alone, in as many chunks as before, because those are numbered.
func (f *pngFrames) repack(p *plan, parts, data []part, pixels int64) error {
	readers := make([]io.Reader, len(data))
	for i, x := range data {
		readers[i] = f.in.section(x.off, x.n)
	}
	from, err := zlib.NewReader(io.MultiReader(readers...))
	if err != nil {
		return damaged("a frame is not compressed as it should be")
	}
	var packed bytes.Buffer
	to := zlib.NewWriter(&packed)
	if _, err := io.CopyN(to, from, pixels); err != nil || packed.Len() > maxPart {
		return damaged("a frame holds more than its pixels, and cannot be read")
	}
	if err := to.Close(); err != nil {
		return err
	}
	rest := packed.Bytes()
	for i, x := range parts {
		number, err := f.in.bytes(x.off, 4)
		if err != nil {
			return err
		}
		n := len(rest) / (len(parts) - i)
		p.put(pngChunk("fdAT", append(bytes.Clone(number), rest[:n]...)))
		rest = rest[n:]
	}
	return nil
}
