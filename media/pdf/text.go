package pdf

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// Face is a list of fonts: each character is of the first that has it.
type Face []*Font

// box stands for characters that no font has, as far as a font has the box itself.
const box = '□'

// glyph is one glyph of a text.
type glyph struct {
	font   *Font
	index  sfnt.GlyphIndex
	char   rune
	width  float64 // ems
	before float64 // ems that it stands nearer to the one before it
}

// find returns the font and the glyph of a character.
func (f Face) find(r rune) (*Font, sfnt.GlyphIndex, rune) {
	for _, char := range []rune{r, box, '?'} {
		for _, one := range f {
			if g := one.glyph(char); g != 0 {
				return one, g, char
			}
		}
	}
	return f[0], 0, '?'
}

// Has reports whether one of the fonts has a character.
func (f Face) Has(r rune) bool {
	_, _, char := f.find(r)
	return char == r
}

// unseen reports whether a character is not drawn: what is no text, and what only says how
// others look.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == unicode.ReplacementChar || !unicode.IsPrint(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Co, r)
}

// glyphs returns the glyphs of a text in the order in which they are seen.
func (f Face) glyphs(s string) (list []glyph) {
	for _, r := range visual(norm.NFC.String(strings.ToValidUTF8(s, ""))) {
		if unicode.IsSpace(r) {
			r = ' '
		} else if unseen(r) {
			continue
		}
		font, index, char := f.find(r)
		g := glyph{font: font, index: index, char: char, width: font.width(index)}
		if n := len(list); n > 0 && list[n-1].font == font {
			g.before = font.kern(list[n-1].index, index)
		}
		list = append(list, g)
	}
	return list
}

// visual returns a line in the order in which it is seen: parts that are written from right to
// left are turned.
func visual(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		p, _ := bidi.LookupRune(r)
		return p.Class() == bidi.R || p.Class() == bidi.AL
	}) {
		return s
	}
	var p bidi.Paragraph
	if _, err := p.SetString(s); err != nil {
		return s
	}
	order, err := p.Order()
	if err != nil {
		return s
	}
	var b strings.Builder
	for i := range order.NumRuns() {
		run := order.Run(i)
		if run.Direction() == bidi.RightToLeft {
			b.WriteString(bidi.ReverseString(run.String()))
		} else {
			b.WriteString(run.String())
		}
	}
	return b.String()
}

func width(list []glyph, size, spacing float64) (w float64) {
	for _, g := range list {
		w += (g.width+g.before)*size + spacing
	}
	return max(0, w)
}

// Width returns how wide a line is at a size.
func (f Face) Width(s string, size float64) float64 { return width(f.glyphs(s), size, 0) }

// Wrap breaks a text into lines of at most a width, where the rules of its writing allow it, and
// in a word that alone is wider. Line breaks of the text stay. There are no lines beyond max, unless
// that is 0; the last one then ends in an ellipsis.
func (f Face) Wrap(s string, size, room float64, most int) (lines []string) {
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), "\n") {
		lines = append(lines, f.wrapLine(strings.TrimRightFunc(paragraph, unicode.IsSpace), size, room, most)...)
		if most > 0 && len(lines) > most {
			lines = lines[:most]
			lines[most-1] = f.Shorten(lines[most-1]+"…", size, room)
			return lines
		}
	}
	return lines
}

// wrapLine breaks one paragraph. It stops after more than most lines, unless that is 0.
func (f Face) wrapLine(s string, size, room float64, most int) (lines []string) {
	line, used := "", 0.0
	flush := func() {
		lines = append(lines, strings.TrimRightFunc(line, unicode.IsSpace))
		line, used = "", 0
	}
	for state := -1; s != "" && (most == 0 || len(lines) <= most); {
		var segment string
		segment, s, state = nextSegment(s, state)
		w := f.Width(segment, size)
		bare := f.Width(strings.TrimRightFunc(segment, unicode.IsSpace), size)
		if line != "" && used+bare > room {
			flush()
		}
		if bare <= room {
			line, used = line+segment, used+w
			continue
		}
		for cluster, rest, cs := "", segment, -1; rest != ""; { // a word that is wider than a line
			cluster, rest, _, cs = uniseg.FirstGraphemeClusterInString(rest, cs)
			cw := f.Width(cluster, size)
			if line != "" && used+cw > room {
				flush()
			}
			line, used = line+cluster, used+cw
		}
	}
	if line != "" || len(lines) == 0 {
		flush()
	}
	return lines
}

// nextSegment returns the beginning of a text up to where a line may break, and the rest. Addresses
// stay whole, so that they can be links.
func nextSegment(s string, state int) (segment, rest string, next int) {
	segment, rest, _, next = uniseg.FirstLineSegmentInString(s, state)
	if !strings.HasPrefix(segment, "http://") && !strings.HasPrefix(segment, "https://") {
		return segment, rest, next
	}
	for rest != "" && strings.TrimRightFunc(segment, unicode.IsSpace) == segment {
		var more string
		more, rest, _, next = uniseg.FirstLineSegmentInString(rest, next)
		segment += more
	}
	return segment, rest, next
}

// Shorten returns a line that is at most as wide as there is room, with an ellipsis where
// something is left out.
func (f Face) Shorten(s string, size, room float64) string {
	s = strings.Join(strings.Fields(s), " ")
	if f.Width(s, size) <= room {
		return s
	}
	end := f.Width("…", size)
	var b strings.Builder
	used := 0.0
	for cluster, rest, state := "", s, -1; rest != ""; {
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		w := f.Width(cluster, size)
		if used+w+end > room {
			break
		}
		b.WriteString(cluster)
		used += w
	}
	return strings.TrimRight(b.String(), " …") + "…"
}

// number returns a number as a PDF has it.
func number(v float64) string {
	s := strconv.FormatFloat(v, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// show returns the operators that draw glyphs of one font.
func show(list []glyph, name string, size float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "/%s %s Tf [<", name, number(size))
	for i, g := range list {
		if i > 0 && g.before != 0 {
			fmt.Fprintf(&b, "> %s <", number(-g.before*1000))
		}
		fmt.Fprintf(&b, "%04X", uint16(g.index))
	}
	b.WriteString(">] TJ")
	return b.String()
}
