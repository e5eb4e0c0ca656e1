package deck

import (
	"bytes"
	"context"
	"fmt"
	"image"
	_ "image/jpeg" // what pictures of decks are
	"os"
	"path/filepath"
	"slices"

	"vitrine/publish/page"
)

// Page is the file that WritePage writes, and that a browser prints.
const Page = "deck.html"

// Bounds of a deck that a browser prints, which holds all of it at once.
const (
	MaxPrinted      = 200       // slides
	maxPrintedBytes = 256 << 20 // of pictures
)

// TooLargeError reports a deck that is too large to be printed by a browser.
type TooLargeError struct{ Detail string }

// Error implements error.
func (e *TooLargeError) Error() string { return e.Detail }

// printed is a deck while it becomes the page that a browser prints.
type printed struct {
	deck    *Deck
	dir     string
	bytes   int
	view    page.View
	grounds map[string][2]string
}

// WritePage writes a deck into an empty folder as a page of the kind that publications have, with its pictures and fonts
// beside it. The result has the pictures; the slides are counted once they are printed. A deck of more than MaxPrinted
// slides, or of very large pictures, is a TooLargeError.
func WritePage(ctx context.Context, dir string, d Deck) (Result, error) {
	if len(d.Slides) > MaxPrinted {
		return Result{}, &TooLargeError{fmt.Sprintf("A browser prints decks of up to %d slides, and this one has %d.", MaxPrinted, len(d.Slides))}
	}
	p := &printed{deck: &d, dir: dir, grounds: map[string][2]string{}, view: page.View{Title: d.Title, Message: clip(d.Subtitle, 600), Language: d.Language, Policy: page.Policy, Print: true}}
	style := page.Print{Grounds: p.grounds, Columns: 1, Rows: 1, Bleed: d.Layout == FullBleed, Accent: d.Accent}
	switch d.Layout {
	case Two:
		style.Columns = 2
	case Grid:
		style.Columns, style.Rows = GridColumns(d.Slides), 2
	}
	if d.Mark {
		style.Mark = Mark
	}
	if d.Cover != nil {
		i, err := p.picture(ctx, d.Cover, "cover", coverEdge)
		if err != nil {
			return Result{}, err
		}
		style.Cover = i.Small
	}
	pictures, err := p.slides(ctx)
	if err == nil {
		err = p.write(style)
	}
	return Result{Pictures: pictures}, err
}

// slides writes the pictures, and returns how many there are.
func (p *printed) slides(ctx context.Context) (pictures int, err error) {
	for n, s := range p.deck.Slides {
		id := fmt.Sprint("s", n+1)
		if s.Card != nil {
			p.view.Items = append(p.view.Items, page.Item{ID: id, Card: s.Card})
			if s.Card.Background == "gradient" {
				from, to := shades(colorOf(s.Card.AccentColor, colorOf(p.deck.Accent, ownAccent)))
				p.grounds[id] = [2]string{hexOf(from), hexOf(to)}
			}
		} else {
			i, err := p.picture(ctx, s.Picture, id, p.deck.Layout.Edge())
			if err != nil {
				return 0, err
			}
			if i.Small != "" {
				p.view.Items = append(p.view.Items, i)
				pictures++
			}
		}
		if p.deck.Done != nil {
			if err := p.deck.Done(n + 1); err != nil {
				return 0, err
			}
		}
	}
	return pictures, nil
}

// picture writes a picture and returns what the page has of it, which has no file where the picture cannot be had.
func (p *printed) picture(ctx context.Context, m *Picture, id string, edge int) (page.Item, error) {
	data, err := m.JPEG(ctx, edge)
	if ctx.Err() != nil {
		return page.Item{}, ctx.Err()
	}
	size := image.Config{}
	if err == nil {
		size, _, err = image.DecodeConfig(bytes.NewReader(data))
	}
	if err != nil {
		if p.deck.Failed == nil {
			return page.Item{}, fmt.Errorf("picture %d: %w", m.Position, err)
		}
		return page.Item{}, p.deck.Failed(m, err)
	}
	if p.bytes += len(data); p.bytes > maxPrintedBytes {
		return page.Item{}, &TooLargeError{fmt.Sprintf("The pictures of this deck take more than the %d MB of which a browser prints a deck.", maxPrintedBytes>>20)}
	}
	i := page.Item{ID: id, Small: id + ".jpg", Alt: m.Alt, Width: size.Width, Height: size.Height, Lines: slices.Clone(m.Caption)}
	if m.Title != "" && len(i.Lines) > 0 {
		i.Title, i.Lines = i.Lines[0], i.Lines[1:]
	}
	if m.Film {
		i.Kind = "Video"
	}
	return i, os.WriteFile(filepath.Join(p.dir, i.Small), data, 0o600)
}

// write writes the fonts and the page itself.
func (p *printed) write(style page.Print) error {
	if err := WriteFonts(p.dir); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(p.dir, Page), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := page.Write(f, p.view, page.PrintStyle(p.view, style)); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
