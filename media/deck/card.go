package deck

import (
	"regexp"
	"strings"
	"unicode"

	"vitrine/library"
	"vitrine/media/pdf"
)

// headingSizes are the sizes of headings in points.
var headingSizes = map[string]float64{"xl": 60, "lg": 44, "md": 32}

// theme is how a text card looks.
type theme struct {
	background, ink, muted, accent pdf.Color
	gradient                       *[2]pdf.Color
}

// themeOf returns the colors of a card.
func (w *writer) themeOf(c library.TextCard) theme {
	accent := colorOf(c.AccentColor, w.accent)
	switch c.Background {
	case "light":
		return theme{background: light, ink: onLight, muted: mix(onLight, light, 0.25), accent: legible(accent, light, onLight)}
	case "gradient":
		from, to := shades(accent)
		return theme{background: to, ink: onDark, muted: mix(onDark, from, 0.12), accent: legible(mix(accent, onDark, 0.4), from, onDark), gradient: &[2]pdf.Color{from, to}}
	}
	return theme{background: dark, ink: onDark, muted: mix(onDark, dark, 0.2), accent: legible(accent, dark, onDark)}
}

// shades returns the colors between which the ground of a card shades: dark ones of its accent color.
func shades(accent pdf.Color) (from, to pdf.Color) {
	from = mix(accent, dark, 0.35)
	for contrast(from, onDark) < 6 {
		from = mix(from, black, 0.1)
	}
	return from, mix(from, dark, 0.8)
}

// card writes a text card as a slide, or as more where its text does not fit.
func (w *writer) card(c library.TextCard) error {
	look := w.themeOf(c)
	centered := c.Layout != "left-aligned"
	col := column{w: w, room: 700, scale: 1}
	if centered {
		col.room = 760
	}
	size := headingSizes[c.HeadingSize]
	if size == 0 {
		size = headingSizes["lg"]
	}
	col.add(block{tag: "P", text: spaced(c.AccentText), size: 13, lead: 1.4, face: w.bold, color: look.accent, spacing: 1.2})
	col.add(block{tag: "H1", text: c.Heading, size: size, lead: 1.12, face: w.bold, color: look.ink, gap: 12})
	col.add(block{tag: "P", text: c.Body, size: 18, lead: 1.5, face: w.regular, color: look.muted, gap: 20})
	for i, b := range c.Bullets {
		gap := 10.0
		if i == 0 {
			gap = 22
		}
		col.add(block{tag: "LI", text: b, size: 18, lead: 1.4, face: w.regular, color: look.muted, gap: gap, marker: look.accent})
	}
	const room = pageHeight - 2*58
	col.fit(room)
	title := firstText(c.Heading, c.AccentText, c.Body, strings.Join(c.Bullets, " "))
	for n, part := range col.pages(room) {
		p := w.page(look.background)
		if g := look.gradient; g != nil {
			p.Gradient(g[0], g[1], 0, 0, pageWidth, pageHeight)
		}
		if n == 0 {
			p.Bookmark(clip(title, 120), 0)
		}
		x, top := float64(margin+24), (pageHeight-part.height())/2
		if centered {
			x = (pageWidth - part.room) / 2
		} else {
			p.Fill(look.accent, margin, top, 4, part.height(), 1)
		}
		part.draw(p, x, top, centered)
		w.foot(p, look.muted)
		if err := p.End(); err != nil {
			return err
		}
	}
	return nil
}

// spaced returns a short text in capitals, where its writing has them.
func spaced(s string) string { return strings.ToUpper(strings.Join(strings.Fields(s), " ")) }

func firstText(list ...string) string {
	for _, s := range list {
		if strings.ContainsFunc(s, unicode.IsGraphic) && strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// block is a paragraph, a heading or a bullet.
type block struct {
	tag, text         string
	size, lead        float64 // points; lines are lead times as far apart
	face              pdf.Face
	color, marker     pdf.Color
	gap, spacing      float64 // points before it; between characters
	lines             []string
	continued, listed bool // its beginning is on the page before
}

// column is text that is laid out one block below another.
type column struct {
	w      *writer
	room   float64 // points
	scale  float64 // of all sizes
	blocks []block
}

// indent is how far bullets stand from the edge, in ems.
const indent = 1.3

func (c *column) add(b block) {
	if b.text = strings.TrimSpace(b.text); b.text != "" {
		b.listed = b.tag == "LI"
		c.blocks = append(c.blocks, b)
		c.wrap(&c.blocks[len(c.blocks)-1])
	}
}

func (c *column) wrap(b *block) {
	room, size := c.room, b.size*c.scale
	if b.listed {
		room -= indent * size
	}
	if b.spacing > 0 { // room for what is added between characters
		room *= size / (size + 2*b.spacing)
	}
	b.lines = b.face.Wrap(b.text, size, room, 0)
}

// smallest is how far text is made smaller before it goes on on another slide.
const smallest = 0.62

// fit makes the text smaller until it fits, as far as it stays legible.
func (c *column) fit(room float64) {
	for c.height() > room && c.scale > smallest {
		c.scale = max(smallest, c.scale*0.94)
		for i := range c.blocks {
			c.wrap(&c.blocks[i])
		}
	}
}

func (c *column) height() (h float64) {
	for i, b := range c.blocks {
		if i > 0 {
			h += b.gap * c.scale
		}
		h += float64(len(b.lines)) * b.size * b.lead * c.scale
	}
	return h
}

// pages divides a column into parts that fit.
func (c *column) pages(room float64) (parts []column) {
	part := column{w: c.w, room: c.room, scale: c.scale}
	used := 0.0
	for _, b := range c.blocks {
		step := b.size * b.lead * c.scale
		if len(part.blocks) > 0 {
			used += b.gap * c.scale
		}
		for len(b.lines) > 0 {
			fits := int((room - used + 0.01) / step)
			if fits < 1 && len(part.blocks) > 0 {
				parts, part, used = append(parts, part), column{w: c.w, room: c.room, scale: c.scale}, 0
				continue
			}
			head := b
			head.lines = b.lines[:min(max(1, fits), len(b.lines))]
			part.blocks, used = append(part.blocks, head), used+float64(len(head.lines))*step
			b.lines, b.continued = b.lines[len(head.lines):], true
		}
	}
	return append(parts, part)
}

// draw draws the column with its upper edge at top.
func (c *column) draw(p *pdf.Page, x, top float64, centered bool) {
	inList := false
	for i, b := range c.blocks {
		if i > 0 {
			top += b.gap * c.scale
		}
		if b.listed != inList {
			if inList {
				p.Shut()
			} else {
				p.Open("L", "")
			}
			inList = b.listed
		}
		top = c.drawBlock(p, b, x, top, centered)
	}
	if inList {
		p.Shut()
	}
}

func (c *column) drawBlock(p *pdf.Page, b block, x, top float64, centered bool) float64 {
	size := b.size * c.scale
	step := size * b.lead
	p.Open(b.tag, "")
	if b.listed {
		x += c.listEdge(centered)
		if !b.continued {
			r := size * 0.3
			p.Fill(b.marker, x, top+step/2-r/2, r, r, 1)
		}
		x += indent * size
		p.Open("LBody", "")
		defer p.Shut()
	}
	defer p.Shut()
	style := pdf.Style{Face: b.face, Size: size, Color: b.color, Spacing: b.spacing * c.scale}
	for _, line := range b.lines {
		at := x
		if centered && !b.listed {
			at += (c.room - b.face.Width(line, size) - style.Spacing*float64(len([]rune(line)))) / 2
		}
		base := top + step/2 + size*0.36
		p.Text(line, at, base, style)
		links(p, b.face, line, at, base, size)
		top += step
	}
	return top
}

// listEdge returns how far the bullets of a centered card stand from its edge: together they are in the
// middle, and each begins where the others do.
func (c *column) listEdge(centered bool) float64 {
	widest := 0.0
	for _, b := range c.blocks {
		for _, line := range b.lines {
			if b.listed {
				widest = max(widest, b.face.Width(line, b.size*c.scale)+indent*b.size*c.scale)
			}
		}
	}
	if !centered {
		return 0
	}
	return max(0, (c.room-widest)/2)
}

// urls are addresses in a text.
var urls = regexp.MustCompile(`https?://[^\s<>"'\x60{}|\\^]+[^\s<>"'\x60{}|\\^.,;:!?()\[\]…]`)

// links makes the addresses in a line links.
func links(p *pdf.Page, face pdf.Face, line string, x, base, size float64) {
	for _, at := range urls.FindAllStringIndex(line, 20) {
		from := face.Width(line[:at[0]], size)
		url := line[at[0]:at[1]]
		p.Link(ascii(url), url, x+from, base-size, face.Width(url, size), size*1.3)
	}
}

// ascii returns a URL whose other characters are escaped.
func ascii(url string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(url) {
		if c := url[i]; c > ' ' && c < 0x7f {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}
