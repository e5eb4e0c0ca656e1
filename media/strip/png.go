package strip

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// pngNeeded are the chunks that show a picture: pixels, palette, transparency, colors, the
// size of a pixel, and the frames of an animation.
var pngNeeded = map[string]bool{"IHDR": true, "PLTE": true, "IDAT": true, "IEND": true, "tRNS": true, "gAMA": true, "cHRM": true, "sRGB": true,
	"sBIT": true, "bKGD": true, "pHYs": true, "acTL": true, "fcTL": true, "fdAT": true, "cICP": true, "mDCV": true, "cLLI": true}

// pngPlan is the plan of a PNG while its chunks are read.
type pngPlan struct {
	*plan
	in     input
	edit   edit
	frames *pngFrames
	idat   []part
}

// planPNG keeps the chunks that show the picture. What stands after IEND goes.
func planPNG(in input, e edit) (*plan, error) {
	p := &pngPlan{plan: &plan{}, in: in, edit: e, frames: &pngFrames{in: in}}
	p.copy(0, 8)
	for off, kind := int64(8), ""; kind != "IEND"; {
		head, err := in.bytes(off, 8)
		if err != nil {
			return nil, err
		}
		n := int64(binary.BigEndian.Uint32(head))
		kind = string(head[4:])
		if n > in.size-off-12 {
			return nil, damaged("the chunk %q reaches beyond its end", kind)
		}
		if err := p.chunk(kind, off, n); err != nil {
			return nil, err
		}
		off += n + 12
		p.dropUnless(kind != "IEND" || off >= in.size, "bytes after IEND")
	}
	if p.slack = hasSlack(in, p.idat, p.frames.header()); p.slack {
		p.drop(pngSlack)
	}
	p.icc = p.edit.icc
	p.insertPNG(p.edit)
	return p.plan, nil
}

// chunk keeps or drops a chunk at an offset with n bytes of data.
func (p *pngPlan) chunk(kind string, off, n int64) error {
	if kind != "fdAT" {
		if err := p.frames.flush(p.plan); err != nil {
			return err
		}
	}
	switch kind {
	case "eXIf":
		p.exif = part{off: off + 8, n: n}
	case "IDAT":
		p.idat = append(p.idat, part{off: off + 8, n: n})
	}
	switch {
	case kind == "iCCP":
		if p.edit.icc == nil && !p.edit.keep.NoICC {
			p.edit.icc = pngProfile(p.in, off+8, n)
		}
		p.dropUnless(p.edit.icc != nil, kind)
	case !fitsPNG(kind, n):
		if kind == "IHDR" || kind == "IEND" || kind == "PLTE" {
			return damaged("the chunk %q has %d bytes", kind, n)
		}
		p.drop(kind)
	case kind == "fcTL" || kind == "fdAT":
		return p.frames.take(p.plan, kind, off, n)
	case pngNeeded[kind], p.edit.keepsPNG(p.in, kind, off+8, n):
		p.copy(off, n+12)
	default:
		p.drop(kind)
	}
	return nil
}

func (p *plan) dropUnless(kept bool, name string) {
	if !kept {
		p.drop(name)
	}
}

// keepsPNG reports whether a chunk of metadata may stay.
func (e edit) keepsPNG(in input, kind string, off, n int64) bool {
	switch kind {
	case "eXIf":
		return e.keep.exif()
	case "tEXt", "zTXt", "iTXt":
		head, err := in.bytes(off, min(n, 80))
		if err != nil {
			return false
		}
		key, _, _ := bytes.Cut(head, []byte{0})
		switch {
		case string(key) == "XML:com.adobe.xmp":
			return e.keep.xmp() && e.xmp == nil
		case bytes.HasPrefix(key, []byte("Raw profile type")):
			return e.keep.xmp()
		}
		return e.keep.Generation
	}
	return false
}

// insertPNG adds the profile and the XMP packet behind the header, which is the first chunk.
func (p *plan) insertPNG(e edit) {
	var add []byte
	if e.icc != nil {
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		_, _ = z.Write(e.icc)
		_ = z.Close()
		add = append(add, pngChunk("iCCP", append([]byte("icc\x00\x00"), packed.Bytes()...))...)
	}
	if e.xmp != nil {
		add = append(add, pngChunk("iTXt", append([]byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"), e.xmp...))...)
		p.embedded = true
	}
	if len(add) == 0 {
		return
	}
	const head = 8 + 25
	first := p.parts[0]
	p.parts = append([]part{{off: 0, n: head}, {data: add}, {off: head, n: first.n - head}}, p.parts[1:]...)
}

func pngChunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// pngProfile returns the color profile of an iCCP chunk; nil where it is none.
func pngProfile(in input, off, n int64) []byte {
	b, err := in.bytes(off, n)
	if err != nil {
		return nil
	}
	_, rest, ok := bytes.Cut(b, []byte{0})
	if !ok || len(rest) < 2 {
		return nil
	}
	z, err := zlib.NewReader(bytes.NewReader(rest[1:]))
	if err != nil {
		return nil
	}
	icc, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err != nil {
		return nil
	}
	return profile(icc)
}

// maxProfile is the largest color profile that is kept; printers' are the largest.
const maxProfile = 4 << 20

// profile returns a color profile without its texts and what stands behind it; nil where the bytes
// are no profile.
func profile(icc []byte) []byte {
	if len(icc) < 128 || len(icc) > maxProfile || string(icc[36:40]) != "acsp" {
		return nil
	}
	n := binary.BigEndian.Uint32(icc)
	if n < 128 || int64(n) > int64(len(icc)) {
		return nil
	}
	return cleanProfile(icc[:n])
}
