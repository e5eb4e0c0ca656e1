package container

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"image"
	"io"
	"strings"

	"golang.org/x/image/webp"

	"vitrine/media/memory"
)

// Pixel limits of the hidden-text search. A PNG is read row by row, two rows at a
// time, and keeps one to four bits of a pixel; a WebP picture is decoded whole at
// four to seven bytes each.
const (
	maxStealthPNG  = 64 << 20
	maxStealthRow  = 1 << 20
	maxStealthWebP = 8 << 20
	// A text in the pixels costs bytes; a file with more pixels than this to a byte
	// is blank, and decoding it would be all work for nothing.
	maxWebPPixels = 4096
)

// The first word of a hidden text names where its bits are, and whether it is
// compressed.
var (
	alphaMagics = []string{"stealth_pngcomp", "stealth_pnginfo"}
	rgbMagics   = []string{"stealth_rgbcomp", "stealth_rgbinfo"}
)

// magicBits is the length of the first word.
const magicBits = 15 * 8

// ReadStealth looks for text hidden in the lowest bits of a picture's alpha or
// colour values, and adds it to f.Chunks with Place "png:stealth" or
// "webp:stealth" and the writer's first word as Key. It decodes pixels, unlike
// Read, so callers use it when a file shows no generation data otherwise.
//
// F must be what Read gave for the same bytes. Pictures without such text leave f
// as it was; so do kinds of file other than PNG and WebP, interlaced PNG, colour
// depths other than 8 bits, PNG above 64 million pixels or a million in a row, and
// WebP above 8 million. An error means that r itself failed.
//
// Use runs the part that takes memory, given how many bytes at most; it may refuse,
// and its error is returned. Nil means that memory is no concern.
func ReadStealth(r io.ReaderAt, size int64, f *File, use func(need int64, decode func() error) error) (err error) {
	defer func() {
		if p := recover(); p != nil { // the WebP decoder is not ours
			f.Warnings = append(f.Warnings, "the picture could not be searched for hidden text")
			err = nil
		}
	}()
	s := newSource(r, size, f)
	search, need := func(source) {}, int64(0)
	switch f.MIME {
	case "image/png":
		search, need = stealthPNG, stealthPNGCost(s)
	case "image/webp":
		if need = stealthWebPCost(s); need > 0 {
			search = stealthWebP
		}
	}
	decode := func() error { search(s); return nil }
	if need <= maxSmall || use == nil {
		_ = decode()
	} else if err := use(need, decode); err != nil {
		return err
	}
	if s.err != nil {
		return fmt.Errorf("search the picture for hidden text: %w", s.err)
	}
	return nil
}

// hiddenBits are the lowest bits of one group of channels, in the order in which
// hidden text runs: down the columns, then from left to right.
type hiddenBits struct {
	magics   []string
	channels int // bits per pixel: 1 for alpha, 3 for colour
	height   int
	bits     []byte
}

func newHiddenBits(magics []string, channels, width, height int) *hiddenBits {
	return &hiddenBits{magics, channels, height, make([]byte, (width*height*channels+7)/8)}
}

// set stores the lowest bit of channel c of the pixel at x, y.
func (h *hiddenBits) set(x, y, c int, value byte) {
	i := (x*h.height+y)*h.channels + c
	h.bits[i>>3] |= value & 1 << (7 - i&7)
}

// possible reports whether the first column, filled down to row y, may still begin
// a hidden text. Almost every picture is dismissed here, after few rows.
func (h *hiddenBits) possible(rows int) bool {
	n := min(rows*h.channels, magicBits) / 8
	for _, m := range h.magics {
		if string(h.bits[:min(n, len(h.bits))]) == m[:min(n, len(h.bits))] {
			return true
		}
	}
	return false
}

// text returns the hidden text and its first word: the word, the length in bits as
// a 32-bit number, then the text.
func (h *hiddenBits) text(s source) (word, text string) {
	for _, m := range h.magics {
		if rest, ok := bytes.CutPrefix(h.bits, []byte(m)); ok {
			word = m
			h.bits = rest
		}
	}
	if word == "" || len(h.bits) < 4 {
		return "", ""
	}
	n := int64(binary.BigEndian.Uint32(h.bits)+7) / 8
	if n > int64(len(h.bits)-4) || n > maxValue {
		s.warn("the hidden text is longer than the picture can hold and was left out")
		return "", ""
	}
	b := h.bits[4 : 4+n]
	if strings.HasSuffix(word, "comp") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			s.warn("the hidden text is not compressed as it says")
			return "", ""
		}
		b = s.expand("the hidden text", z, n)
	}
	return word, utf8OrLatin1(b)
}

// keep adds the hidden text that one of the groups holds.
func keepHidden(s source, place string, groups []*hiddenBits) {
	for _, h := range groups {
		if word, text := h.text(s); text != "" {
			s.add(place, word, text)
			return
		}
	}
}

// stealthWebPCost returns what decoding a WebP picture takes, in bytes, or 0 when it
// is not searched: large ones, animations, and lossy ones without transparency, none
// of whose bits is exact. The library's decoder allocates by the bitstream's own
// size, which may differ from what the header says.
func stealthWebPCost(s source) int64 {
	exact, pixels, small := int64(0), int64(0), fits(s.file.Width, s.file.Height, maxStealthWebP) && s.file.Frames == 0
	walkRIFF(s, 12, webpChunks, func(kind string, off, n int64) {
		switch kind {
		case "ALPH", "VP8L":
			exact += n
		}
		if kind == "VP8 " || kind == "VP8L" {
			var bitstream File
			w := webpReader{s: source{ledger: &ledger{file: &bitstream}}}
			w.size(kind, s.peek(off, min(n, 10)))
			pixels = max(pixels, int64(bitstream.Width)*int64(bitstream.Height), int64(s.file.Width)*int64(s.file.Height))
			small = small && fits(bitstream.Width, bitstream.Height, maxStealthWebP) && pixels <= s.size*maxWebPPixels
		}
	})
	if !small || exact == 0 {
		return 0
	}
	// A lossy picture with transparency takes three bytes more, the search half a one.
	return memory.LosslessWebP(pixels, exact) + 4*pixels
}

func stealthWebP(s source) {
	section := io.NewSectionReader(s.r, s.base, s.size)
	m, err := webp.Decode(section)
	if err != nil {
		return
	}
	w, h := m.Bounds().Dx(), m.Bounds().Dy()
	var groups []*hiddenBits
	switch m := m.(type) {
	case *image.NRGBA:
		alpha, colour := newHiddenBits(alphaMagics, 1, w, h), newHiddenBits(rgbMagics, 3, w, h)
		for y := range h {
			fillRow(y, m.Pix[y*m.Stride:], 4, w, alpha, colour)
		}
		groups = []*hiddenBits{alpha, colour}
	case *image.NYCbCrA: // lossy colour with exact alpha
		alpha := newHiddenBits(alphaMagics, 1, w, h)
		for y := range h {
			for x := range w {
				alpha.set(x, y, 0, m.A[y*m.AStride+x])
			}
		}
		groups = []*hiddenBits{alpha}
	}
	keepHidden(s, "webp:stealth", groups)
}

// fillRow stores one row of pixels of 3 or 4 bytes each.
func fillRow(y int, row []byte, pixel, width int, alpha, colour *hiddenBits) {
	for x := range width {
		p := row[x*pixel : (x+1)*pixel]
		if alpha != nil {
			alpha.set(x, y, 0, p[3])
		}
		if colour != nil {
			for c := range 3 {
				colour.set(x, y, c, p[c])
			}
		}
	}
}

func fits(width, height, limit int) bool {
	return width > 0 && height > 0 && width <= limit/height
}
