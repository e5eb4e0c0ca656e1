package pdf

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/image/font/sfnt"
)

// usedFont is a font of a document, with the glyphs that it needs.
type usedFont struct {
	*Font
	self ref
	name string // in the resources of pages
	used map[sfnt.GlyphIndex]rune
}

// use notes a glyph, and returns its font as the document has it.
func (w *Writer) use(f *Font, g sfnt.GlyphIndex, r rune) *usedFont {
	i := slices.IndexFunc(w.fonts, func(u *usedFont) bool { return u.Font == f })
	if i < 0 {
		i = len(w.fonts)
		w.fonts = append(w.fonts, &usedFont{Font: f, self: w.reserve(), name: fmt.Sprintf("F%d", i+1), used: map[sfnt.GlyphIndex]rune{}})
	}
	u := w.fonts[i]
	if _, ok := u.used[g]; !ok {
		u.used[g] = r
	}
	return u
}

// write embeds the font with the glyphs that were used.
func (u *usedFont) write(w *Writer) {
	glyphs := slices.Sorted(maps.Keys(u.used))
	tag := sha256.New()
	for _, g := range glyphs {
		fmt.Fprint(tag, g, " ")
	}
	prefix := make([]byte, 6)
	for i, b := range tag.Sum(nil)[:6] {
		prefix[i] = 'A' + b%26
	}
	base := string(prefix) + "+" + u.Font.name
	file, descriptor, descendant, unicode := w.reserve(), w.reserve(), w.reserve(), w.reserve()
	data := u.subset(glyphs)
	w.packed(file, fmt.Sprintf("/Length1 %d", len(data)), data)
	head, hhea := u.tables["head"], u.tables["hhea"]
	units := func(b []byte) int { return int(int16(binary.BigEndian.Uint16(b))) * 1000 / int(u.units) }
	w.object(descriptor, fmt.Sprintf("<</Type /FontDescriptor /FontName /%s /Flags 4 /FontBBox [%d %d %d %d] /ItalicAngle 0 /Ascent %d /Descent %d /CapHeight %d /StemV 80 /FontFile2 %s>>",
		base, units(head[36:]), units(head[38:]), units(head[40:]), units(head[42:]), units(hhea[4:]), units(hhea[6:]), units(hhea[4:]), file))
	w.object(descendant, fmt.Sprintf("<</Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo <</Registry (Adobe) /Ordering (Identity) /Supplement 0>> /FontDescriptor %s /DW 0 /W [%s] /CIDToGIDMap /Identity>>",
		base, descriptor, u.widthTable(glyphs)))
	w.packed(unicode, "", []byte(u.unicodeTable(glyphs)))
	w.object(u.self, fmt.Sprintf("<</Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts [%s] /ToUnicode %s>>", base, descendant, unicode))
}

func (u *usedFont) widthTable(glyphs []sfnt.GlyphIndex) string {
	var b strings.Builder
	for i, g := range glyphs {
		if i == 0 || glyphs[i-1]+1 != g {
			if i > 0 {
				b.WriteString("] ")
			}
			fmt.Fprintf(&b, "%d [", g)
		}
		fmt.Fprintf(&b, "%s ", number(u.width(g)*1000))
	}
	return b.String() + "]"
}

// unicodeTable says which characters the glyphs stand for, so that text can be searched and copied.
func (u *usedFont) unicodeTable(glyphs []sfnt.GlyphIndex) string {
	var b strings.Builder
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n")
	for part := range slices.Chunk(glyphs, 100) {
		fmt.Fprintf(&b, "%d beginbfchar\n", len(part))
		for _, g := range part {
			fmt.Fprintf(&b, "<%04X> <", uint16(g))
			for _, unit := range utf16.Encode([]rune{u.used[g]}) {
				fmt.Fprintf(&b, "%04X", unit)
			}
			b.WriteString(">\n")
		}
		b.WriteString("endbfchar\n")
	}
	b.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	return b.String()
}

// subset returns the font with the outlines of some glyphs and of those that they are made of.
// Glyphs keep their numbers, so nothing that points to them changes; what is left out takes a few
// bytes once it is compressed.
func (f *Font) subset(glyphs []sfnt.GlyphIndex) []byte {
	keep := map[int]bool{0: true}
	var add func(g, depth int)
	add = func(g, depth int) {
		if depth > 8 || keep[g] && g != 0 {
			return
		}
		keep[g] = true
		for _, c := range components(f.outline(g)) {
			add(c, depth+1)
		}
	}
	add(0, 0)
	for _, g := range glyphs {
		add(int(g), 0)
	}
	n := f.parsed.NumGlyphs()
	loca := make([]byte, 4*(n+1))
	var glyf []byte
	for g := range n {
		binary.BigEndian.PutUint32(loca[4*g:], uint32(len(glyf)))
		if keep[g] {
			glyf = append(glyf, f.outline(g)...)
			for len(glyf)%4 != 0 {
				glyf = append(glyf, 0)
			}
		}
	}
	binary.BigEndian.PutUint32(loca[4*n:], uint32(len(glyf)))
	head := slices.Clone(f.tables["head"])
	binary.BigEndian.PutUint32(head[8:], 0)
	binary.BigEndian.PutUint16(head[50:], 1) // long offsets
	return assemble(map[string][]byte{"head": head, "hhea": f.tables["hhea"], "hmtx": f.metrics(keep), "maxp": f.tables["maxp"], "loca": loca, "glyf": glyf,
		"cvt ": f.tables["cvt "], "fpgm": f.tables["fpgm"], "prep": f.tables["prep"]})
}

// metrics returns the widths of glyphs, with zeros for those that are left out.
func (f *Font) metrics(keep map[int]bool) []byte {
	out := slices.Clone(f.tables["hmtx"])
	long := int(binary.BigEndian.Uint16(f.tables["hhea"][34:]))
	for g := range long {
		if !keep[g] && g != long-1 && 4*g+4 <= len(out) { // the last one holds for all that follow
			clear(out[4*g : 4*g+4])
		}
	}
	return out
}

// assemble returns a font file of tables.
func assemble(tables map[string][]byte) []byte {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(tables)), func(s string) bool { return len(tables[s]) == 0 })
	exponent := 0
	for 1<<(exponent+1) <= len(names) {
		exponent++
	}
	out := binary.BigEndian.AppendUint32(nil, 0x00010000)
	for _, v := range []int{len(names), 16 << exponent, exponent, 16*len(names) - 16<<exponent} {
		out = binary.BigEndian.AppendUint16(out, uint16(v))
	}
	at := len(out) + 16*len(names)
	var body []byte
	adjustment := 0
	for _, name := range names {
		data := tables[name]
		if name == "head" {
			adjustment = at + len(body) + 8
		}
		out = append(out, name...)
		for _, v := range []uint32{checksum(data), uint32(at + len(body)), uint32(len(data))} {
			out = binary.BigEndian.AppendUint32(out, v)
		}
		body = append(body, data...)
		for len(body)%4 != 0 {
			body = append(body, 0)
		}
	}
	out = append(out, body...)
	binary.BigEndian.PutUint32(out[adjustment:], 0xB1B0AFBA-checksum(out))
	return out
}

func checksum(b []byte) (sum uint32) {
	for len(b) >= 4 {
		sum += binary.BigEndian.Uint32(b)
		b = b[4:]
	}
	var last [4]byte
	copy(last[:], b)
	return sum + binary.BigEndian.Uint32(last[:])
}
