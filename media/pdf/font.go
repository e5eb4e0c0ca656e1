package pdf

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// Font is a TrueType font. It keeps what it was asked, so it belongs to one document at a time.
type Font struct {
	name   string
	parsed *sfnt.Font
	tables map[string][]byte
	buffer sfnt.Buffer
	units  fixed.Int26_6 // of an em
	glyphs map[rune]sfnt.GlyphIndex
	widths map[sfnt.GlyphIndex]float64
	// Thicken is how many ems glyphs are drawn heavier, for a font without a bold face of its own.
	Thicken float64
}

// ErrFont reports that data is no TrueType font.
var ErrFont = errors.New("not a TrueType font")

// ParseFont reads a font with TrueType outlines.
func ParseFont(name string, data []byte) (*Font, error) {
	parsed, err := sfnt.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFont, err)
	}
	f := &Font{name: name, parsed: parsed, tables: map[string][]byte{}, units: fixed.Int26_6(parsed.UnitsPerEm()), glyphs: map[rune]sfnt.GlyphIndex{}, widths: map[sfnt.GlyphIndex]float64{}}
	if len(data) < 12 {
		return nil, ErrFont
	}
	for i := range int(binary.BigEndian.Uint16(data[4:])) {
		at := 12 + 16*i
		if at+16 > len(data) {
			return nil, ErrFont
		}
		off, n := int(binary.BigEndian.Uint32(data[at+8:])), int(binary.BigEndian.Uint32(data[at+12:]))
		if off < 0 || n < 0 || off+n > len(data) {
			return nil, ErrFont
		}
		f.tables[string(data[at:at+4])] = data[off : off+n]
	}
	for _, needed := range []string{"head", "hhea", "hmtx", "maxp", "loca", "glyf"} {
		if f.tables[needed] == nil {
			return nil, fmt.Errorf("%w: there is no table %s", ErrFont, needed)
		}
	}
	return f, nil
}

// glyph returns the glyph of a character, 0 where there is none.
func (f *Font) glyph(r rune) sfnt.GlyphIndex {
	g, ok := f.glyphs[r]
	if !ok {
		g, _ = f.parsed.GlyphIndex(&f.buffer, r) // 0 with an error
		f.glyphs[r] = g
	}
	return g
}

// width returns how wide a glyph is in ems.
func (f *Font) width(g sfnt.GlyphIndex) float64 {
	w, ok := f.widths[g]
	if !ok {
		if a, err := f.parsed.GlyphAdvance(&f.buffer, g, f.units, font.HintingNone); err == nil {
			w = float64(a) / float64(f.units)
		}
		f.widths[g] = w
	}
	return w
}

// kern returns how much nearer two glyphs stand, in ems.
func (f *Font) kern(a, b sfnt.GlyphIndex) float64 {
	k, err := f.parsed.Kern(&f.buffer, a, b, f.units, font.HintingNone)
	if err != nil {
		return 0
	}
	return float64(k) / float64(f.units)
}

// flags of a component of a glyph that is made of others.
const (
	componentWords    = 0x0001
	componentScale    = 0x0008
	componentMore     = 0x0020
	componentTwoScale = 0x0040
	componentMatrix   = 0x0080
)

// outline returns the description of a glyph, empty where it has none.
func (f *Font) outline(g int) []byte {
	loca, glyf := f.tables["loca"], f.tables["glyf"]
	long := len(f.tables["head"]) >= 52 && f.tables["head"][51] == 1
	at := func(i int) int {
		if long {
			return int(binary.BigEndian.Uint32(loca[4*i:]))
		}
		return 2 * int(binary.BigEndian.Uint16(loca[2*i:]))
	}
	size := 2
	if long {
		size = 4
	}
	if g < 0 || (g+2)*size > len(loca) {
		return nil
	}
	from, to := at(g), at(g+1)
	if from < 0 || from >= to || to > len(glyf) {
		return nil
	}
	return glyf[from:to]
}

// components returns the glyphs that a glyph is made of.
func components(outline []byte) (list []int) {
	if len(outline) < 10 || int16(binary.BigEndian.Uint16(outline)) >= 0 {
		return nil
	}
	for at := 10; at+4 <= len(outline); {
		flags := binary.BigEndian.Uint16(outline[at:])
		list = append(list, int(binary.BigEndian.Uint16(outline[at+2:])))
		at += 6
		if flags&componentWords != 0 {
			at += 2
		}
		switch {
		case flags&componentScale != 0:
			at += 2
		case flags&componentTwoScale != 0:
			at += 4
		case flags&componentMatrix != 0:
			at += 8
		}
		if flags&componentMore == 0 {
			break
		}
	}
	return list
}
