// Package deck lays out slides and writes them as a PDF: a cover, text cards, and pictures with
// captions.
//
// In goes a Deck with functions that return its pictures as JPEG files; out comes the PDF, page by
// page. The pictures of one page are in memory at a time. One that cannot be had is left
// out and reported, and the others move up. The package knows nothing of where pictures come from.
package deck

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/media/pdf"
)

// Layout is how pictures stand on slides.
type Layout string

// The layouts.
const (
	One       Layout = "one"        // on each slide, whole
	Two       Layout = "two"        // side by side
	Grid      Layout = "grid"       // six to ten, by their shape
	FullBleed Layout = "full_bleed" // on each slide, up to its edges
)

// Layouts lists the layouts; the first is the default.
var Layouts = []Layout{One, Two, Grid, FullBleed}

// Deck is what is to be written.
type Deck struct {
	Title    string
	Subtitle string
	Language string // a BCP 47 tag; empty means "en"
	Accent   string // a color such as #1e90ff; empty means the deck's own
	Layout   Layout
	Mark     bool // "Made with Vitrine" on every slide
	Created  time.Time
	Cover    *Picture // nil: none
	Slides   []Slide
	// Failed is told of a picture that is left out. An error that it returns ends the deck.
	Failed func(p *Picture, err error) error
	// Done is told how many slides were looked at.
	Done func(slides int) error
}

// Slide is a text card or a picture.
type Slide struct {
	Card    *library.TextCard
	Picture *Picture
}

// Picture is a picture of a deck.
type Picture struct {
	Title         string   // for the outline
	Caption       []string // lines below the picture, the title first where there is one
	Alt           string   // what is read to people who do not see the picture
	Width, Height int      // pixels, as far as known
	Film          bool     // it is a frame of a film
	// JPEG returns the picture with a longest edge of about edge pixels.
	JPEG func(ctx context.Context, edge int) ([]byte, error)
	// Position is where it is in the deck, from 0; the caller's own.
	Position int
}

// Result is what was written.
type Result struct {
	Pages    int
	Pictures int // without the cover's
}

// producer is what a document says it was made with.
const producer = "Vitrine"

// writer is a deck while it is written.
type writer struct {
	ctx           context.Context //nolint:containedctx // lives for one call
	deck          *Deck
	pdf           *pdf.Writer
	regular, bold pdf.Face
	accent        pdf.Color
	waiting       []opened // pictures for the next slide
	pictures      int
	columns       int // of the grid
}

// opened is a picture that is part of the document.
type opened struct {
	*Picture
	image *pdf.Picture
}

// Write writes a deck.
func Write(ctx context.Context, out io.Writer, d Deck) (Result, error) {
	regular, bold, err := faces()
	if err != nil {
		return Result{}, err
	}
	w := &writer{ctx: ctx, deck: &d, regular: regular, bold: bold, accent: colorOf(d.Accent, ownAccent), columns: GridColumns(d.Slides),
		pdf: pdf.New(out, pdf.Info{Title: d.Title, Language: d.Language, Producer: producer, Created: d.Created})}
	if err := w.cover(); err != nil {
		return Result{}, err
	}
	for i, s := range d.Slides {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if err := w.slide(s); err != nil {
			return Result{}, err
		}
		if d.Done != nil {
			if err := d.Done(i + 1); err != nil {
				return Result{}, err
			}
		}
	}
	if err := w.flush(); err != nil {
		return Result{}, err
	}
	err = w.pdf.Close()
	return Result{Pages: w.pdf.Pages(), Pictures: w.pictures}, err
}

// slide writes a text card, or a picture once its slide is full.
func (w *writer) slide(s Slide) error {
	if s.Card != nil {
		if err := w.flush(); err != nil {
			return err
		}
		return w.card(*s.Card)
	}
	image, err := w.open(s.Picture, w.deck.Layout.Edge())
	if err != nil || image == nil {
		return err
	}
	w.pictures++
	w.waiting = append(w.waiting, opened{s.Picture, image})
	if len(w.waiting) == w.perSlide() {
		return w.flush()
	}
	return nil
}

// open makes a picture part of the document. One that cannot be had is reported and nil.
func (w *writer) open(p *Picture, edge int) (*pdf.Picture, error) {
	data, err := p.JPEG(w.ctx, edge)
	if err == nil {
		image, err := w.pdf.Picture(data)
		if err == nil || w.pdf.Err() != nil {
			return image, err
		}
		return nil, w.failed(p, err)
	}
	if w.ctx.Err() != nil {
		return nil, w.ctx.Err()
	}
	return nil, w.failed(p, err)
}

func (w *writer) failed(p *Picture, err error) error {
	if w.deck.Failed == nil {
		return fmt.Errorf("picture %d: %w", p.Position, err)
	}
	return w.deck.Failed(p, err)
}

// page begins a slide on a background.
func (w *writer) page(background pdf.Color) *pdf.Page {
	p := w.pdf.Page(pageWidth, pageHeight)
	p.Fill(background, 0, 0, pageWidth, pageHeight, 1)
	return p
}

// foot draws the page number and the mark.
func (w *writer) foot(p *pdf.Page, color pdf.Color) {
	number := fmt.Sprint(w.pdf.Pages() + 1)
	style := pdf.Style{Face: w.regular, Size: 9, Color: color}
	x := pageWidth - margin - w.regular.Width(number, style.Size)
	p.Text(number, x, footLine, style)
	if w.deck.Mark {
		p.Text(Mark, x-12-w.regular.Width(Mark, style.Size), footLine, style)
	}
}

// Mark is the watermark of slides.
const Mark = "Made with Vitrine"

// cover writes the first slide.
func (w *writer) cover() error {
	d := w.deck
	p := w.page(dark)
	p.Bookmark(d.Title, 0)
	room := float64(pageWidth - 2*margin)
	if d.Cover != nil {
		image, err := w.open(d.Cover, coverEdge)
		if err != nil {
			return err
		}
		if image != nil {
			p.Open("Figure", d.Cover.Alt)
			p.Draw(image, pageWidth/2, 0, pageWidth/2, pageHeight, true)
			p.Shut()
			room = pageWidth/2 - 2*margin
		}
	}
	c := column{w: w, room: room, scale: 1}
	c.add(block{tag: "H1", text: d.Title, size: 44, lead: 1.12, face: w.bold, color: onDark})
	c.add(block{tag: "P", text: clip(d.Subtitle, 600), size: 15, lead: 1.45, face: w.regular, color: mutedOnDark, gap: 18})
	c.fit(330)
	top := (pageHeight - c.height()) / 2
	p.Fill(w.accent, margin, top-26, 44, 4, 1)
	c.draw(p, margin, top, false)
	small := pdf.Style{Face: w.regular, Size: 10, Color: mutedOnDark}
	x := margin + 0.0
	if !d.Created.IsZero() {
		p.Open("P", "")
		x += p.Text(d.Created.UTC().Format("2006-01-02"), x, pageHeight-margin, small) + 16
		p.Shut()
	}
	if d.Mark {
		p.Text(Mark, x, pageHeight-margin, small)
	}
	return p.End()
}

// clip returns the beginning of a text of at most n characters.
func clip(s string, n int) string {
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > n {
		return strings.TrimSpace(string(r[:n])) + "…"
	}
	return s
}
