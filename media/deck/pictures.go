package deck

import (
	"slices"
	"strings"

	"vitrine/media/pdf"
)

// Longest edges of pictures in pixels, about 220 to an inch where they stand.
const (
	coverEdge = 1600
	oneEdge   = 2048
	twoEdge   = 1400
	gridEdge  = 900
)

// Edge returns how large pictures of a layout are, in pixels.
func (l Layout) Edge() int {
	switch l {
	case Two:
		return twoEdge
	case Grid:
		return gridEdge
	}
	return oneEdge
}

// perSlide returns how many pictures stand on a slide.
func (w *writer) perSlide() int {
	switch w.deck.Layout {
	case Two:
		return 2
	case Grid:
		return 2 * w.columns
	}
	return 1
}

// GridColumns returns how many columns a grid has: more for pictures that are high.
func GridColumns(slides []Slide) int {
	wide, high, known := 0, 0, 0
	for _, s := range slides {
		p := s.Picture
		if p == nil || p.Width <= 0 || p.Height <= 0 {
			continue
		}
		known++
		switch ratio := float64(p.Width) / float64(p.Height); {
		case ratio > 1.2:
			wide++
		case ratio < 0.85:
			high++
		}
	}
	switch {
	case high*2 > known:
		return 5
	case wide*2 > known || known == 0:
		return 3
	}
	return 4
}

// flush writes the slide of the pictures that wait for it.
func (w *writer) flush() error {
	list := w.waiting
	w.waiting = nil
	if len(list) == 0 {
		return nil
	}
	if w.deck.Layout == FullBleed {
		return w.bleed(list[0])
	}
	p := w.page(paper)
	w.bookmark(p, list)
	columns, rows := min(len(list), w.perSlide()), 1
	gap := 24.0
	if w.deck.Layout == Grid {
		columns, rows, gap = w.columns, 2, 18
		if len(list) <= w.columns { // the last slide
			columns, rows = max(2, len(list)), 1
		}
		if len(list) == 1 {
			columns = 1
		}
	}
	const left, top, bottom = margin, 34.0, pageHeight - 44.0
	width := (pageWidth - 2*left - gap*float64(columns-1)) / float64(columns)
	height := (bottom - top - gap*float64(rows-1)) / float64(rows)
	for i, m := range list {
		w.cell(p, m, left+float64(i%columns)*(width+gap), top+float64(i/columns)*(height+gap), width, height, columns)
	}
	w.foot(p, mutedOnLight)
	return p.End()
}

// bookmark enters the first picture of a slide that has a title into the outline.
func (w *writer) bookmark(p *pdf.Page, list []opened) {
	for _, m := range list {
		if strings.TrimSpace(m.Title) != "" {
			p.Bookmark(clip(m.Title, 120), 1)
			return
		}
	}
}

// cell draws a picture with its caption below it.
func (w *writer) cell(p *pdf.Page, m opened, x, y, width, height float64, columns int) {
	size, most := 12.0, 3
	if columns > 2 {
		size, most = 8.5, 2
	}
	caption := atMost(most, m.Caption)
	below := 0.0
	if len(caption) > 0 {
		below = 8 + size*1.4*float64(len(caption))
	}
	room := height - below
	scale := min(width/float64(m.image.Width), room/float64(m.image.Height))
	shownWidth, shownHeight := float64(m.image.Width)*scale, float64(m.image.Height)*scale
	left, top := x+(width-shownWidth)/2, y+(room-shownHeight)/2
	if columns > 1 { // captions of a row stand on one line
		top = y + room - shownHeight
	}
	p.Open("Figure", m.Alt)
	p.Draw(m.image, left, top, shownWidth, shownHeight, false)
	p.Shut()
	if m.Film {
		w.film(p, left, top+shownHeight)
	}
	// Captions stand below their pictures, and begin where the picture does unless it is narrow.
	at, span := left, shownWidth
	if least := min(width, 300); span < least {
		at, span = x+(width-least)/2, least
	}
	base := top + shownHeight + 8 + size
	for i, line := range caption {
		style := pdf.Style{Face: w.regular, Size: size * 0.92, Color: mutedOnLight}
		if i == 0 && m.Title != "" {
			style = pdf.Style{Face: w.bold, Size: size, Color: onLight}
		}
		w.line(p, line, at, base, span, style, span > shownWidth)
		base += size * 1.4
	}
}

// atMost returns n lines, of which the last holds all that follow.
func atMost(n int, lines []string) []string {
	if len(lines) <= n {
		return lines
	}
	return append(slices.Clone(lines[:n-1]), strings.Join(lines[n-1:], " · "))
}

// line draws one line of a caption.
func (w *writer) line(p *pdf.Page, s string, x, base, room float64, style pdf.Style, centered bool) {
	short := style.Face.Shorten(s, style.Size, room)
	if centered {
		x += (room - style.Face.Width(short, style.Size)) / 2
	}
	p.Open("Caption", "")
	p.Text(short, x, base, style)
	links(p, style.Face, short, x, base, style.Size)
	p.Shut()
}

// film marks a frame as one of a film.
func (w *writer) film(p *pdf.Page, x, bottom float64) {
	const label = "▶ Video"
	width := w.bold.Width(label, 9) + 14
	p.Fill(black, x+8, bottom-26, width, 18, 0.62)
	p.Text(label, x+15, bottom-14, pdf.Style{Face: w.bold, Size: 9, Color: paper})
}

// mostCropped is how much of a picture may be cut off so that it fills a slide.
const mostCropped = 0.36

// bleed writes a picture that fills a slide, or as much of it as its shape allows.
func (w *writer) bleed(m opened) error {
	p := w.page(dark)
	w.bookmark(p, []opened{m})
	ratio := float64(m.image.Width) / float64(m.image.Height) / (float64(pageWidth) / pageHeight)
	crop := min(ratio, 1/ratio) >= 1-mostCropped
	p.Open("Figure", m.Alt)
	p.Draw(m.image, 0, 0, pageWidth, pageHeight, crop)
	p.Shut()
	if m.Film {
		w.film(p, 0, 34)
	}
	caption := atMost(2, m.Caption)
	strip := 40 + 15*float64(max(0, len(caption)-1))
	p.Fill(black, 0, pageHeight-strip, pageWidth, strip, 0.55)
	base := pageHeight - strip + 25
	for i, line := range caption {
		style := pdf.Style{Face: w.regular, Size: 10.5, Color: onDark}
		if i == 0 && m.Title != "" {
			style = pdf.Style{Face: w.bold, Size: 12, Color: onDark}
		}
		w.line(p, line, margin, base, pageWidth-2*margin-150, style, false)
		base += 15
	}
	w.foot(p, onDark)
	return p.End()
}
