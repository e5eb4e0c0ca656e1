package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/media/deck"
	"vitrine/media/pdf"
	"vitrine/media/strip"
	"vitrine/store"
)

// deckFile is a deck while it is written.
type deckFile struct {
	builder  *Builder
	export   *store.ExportClaim
	actor    library.Actor
	progress time.Time
	pictures int // that were asked for
}

// write writes the whole deck.
func (f *deckFile) write(ctx context.Context, w io.Writer) error {
	e, d := f.export, f.export.Deck
	e.Failed, e.Files = nil, 0
	for _, h := range d.Private {
		e.Failed = append(e.Failed, library.ExportFailure{Asset: h, Code: library.CodeAssetPrivate, Detail: "The asset is private and is not part of the deck. Its owner can change its visibility with UpdateAsset."})
	}
	out := deck.Deck{Title: d.Title, Subtitle: d.Subtitle, Language: d.Language, Accent: d.Color, Layout: deck.Layout(d.Layout), Mark: d.Mark, Created: e.CreatedAt, Slides: f.slides(), Cover: f.cover()}
	out.Failed = func(p *deck.Picture, err error) error { return f.fail(ctx, p, err) }
	out.Done = func(int) error { return f.report(ctx) }
	if d.Printed {
		failed := e.Failed
		done, err := f.print(ctx, w, out)
		if done || err != nil {
			return err
		}
		e.Failed, f.pictures = failed, 0 // the other renderer finds them again
	}
	res, err := deck.Write(ctx, w, out)
	e.Files, e.Pages, e.Renderer = res.Pictures, res.Pages, "builtin"
	return err
}

// fail notes a picture that is left out.
func (f *deckFile) fail(ctx context.Context, p *deck.Picture, err error) error {
	if p.Position == coverPosition { // it stands on a slide of its own as well, and fails there again
		return nil
	}
	code, detail, ok := reason(ctx, err)
	if errors.Is(err, pdf.ErrPicture) {
		code, detail, ok = strip.CodeUnsupported, "This kind of picture cannot stand in a PDF.", true
	}
	if !ok {
		return err
	}
	f.export.Failed = append(f.export.Failed, library.ExportFailure{Asset: f.export.Assets[p.Position], Code: code, Detail: detail})
	return nil
}

func (f *deckFile) report(ctx context.Context) error {
	if time.Since(f.progress) < time.Second {
		return nil
	}
	f.progress = time.Now()
	return f.builder.Store.Exports.Progress(ctx, f.actor.Tenant, *f.export, f.pictures)
}

// slides returns the slides, whose pictures are read when their turn comes.
func (f *deckFile) slides() (list []deck.Slide) {
	at := 0
	for _, s := range f.export.Deck.Slides {
		if s.Card != nil {
			list = append(list, deck.Slide{Card: s.Card})
			continue
		}
		list = append(list, deck.Slide{Picture: f.picture(s, at)})
		at++
	}
	return list
}

// coverPosition marks the picture of the cover.
const coverPosition = -1

// cover returns the first picture, or nil where there is none.
func (f *deckFile) cover() *deck.Picture {
	for _, s := range f.export.Deck.Slides {
		if s.Asset != "" {
			return f.picture(s, coverPosition)
		}
	}
	return nil
}

// picture returns a picture, with what may be said of it once it is read.
func (f *deckFile) picture(s library.DeckSlide, position int) *deck.Picture {
	p := &deck.Picture{Position: position, Width: s.Width, Height: s.Height, Alt: fmt.Sprintf("Picture %d", position+1)}
	if position == coverPosition {
		p.Alt = "Picture 1"
	}
	p.JPEG = func(ctx context.Context, edge int) ([]byte, error) {
		if position != coverPosition {
			f.pictures++
		}
		d, object, err := f.builder.open(ctx, f.actor, s.Asset)
		if err != nil {
			return nil, err
		}
		defer object.Close()
		about := describe(d, object, f.export.Spec)
		p.Film = strings.HasPrefix(d.Asset.MIMEType, "video/")
		if f.export.Spec.Preset != library.ExportShare {
			p.Title, p.Caption = titleOf(d.Asset, f.export.Spec), caption(d, about, f.export.Spec)
			if p.Title != "" {
				p.Alt = p.Title
			}
		}
		return f.jpeg(ctx, d, object, edge, about)
	}
	return p
}

// jpeg returns a picture as a JPEG without the metadata that the preset removes, or a preview of
// what cannot be drawn itself.
func (f *deckFile) jpeg(ctx context.Context, d store.AssetDetail, r io.ReaderAt, edge int, about About) ([]byte, error) {
	if strings.HasPrefix(d.Asset.MIMEType, "image/") {
		spec := f.export.Spec
		spec.Format, spec.Exact, spec.Original, spec.Keep = "jpeg", true, false, library.ExportKeep{ICC: true}
		if spec.MaxEdge == 0 || spec.MaxEdge > edge {
			spec.MaxEdge = edge
		}
		temp, res, err := f.builder.Write(ctx, r, d.Asset.Size, spec, about, d.Asset)
		if err == nil {
			defer temp.discard()
			if data, err := temp.bytes(); err != nil || res.MIMEType == "image/jpeg" && pdf.Showable(data) {
				return data, err
			}
		} else if why := (*strip.Error)(nil); !errors.As(err, &why) || why.Code != strip.CodeUnsupported && why.Code != strip.CodeTooLarge {
			return nil, err
		}
	}
	return f.builder.Preview(ctx, f.actor.Tenant, d.Asset.Hash, largestPreview(edge))
}

// largestPreview returns the size of the kept previews that is nearest to what a slide needs.
func largestPreview(edge int) int {
	if edge > 1024 {
		return 2048
	}
	return 1024
}

// bytes returns the file, which is no larger than a picture of a slide.
func (t *tempFile) bytes() ([]byte, error) { return os.ReadFile(t.file.Name()) }

// caption returns what a preset says below a picture.
func caption(d store.AssetDetail, about About, spec library.ExportSpec) []string {
	a, title := d.Asset, titleOf(d.Asset, spec)
	made := ""
	if spec.Disclosure && strings.HasPrefix(about.SourceType, strip.SourceTypes) && strings.Contains(strings.ToLower(about.SourceType), "algorithmicmedia") {
		made = join(" · ", "AI-generated", about.System)
	}
	switch spec.Preset {
	case library.ExportPortfolio:
		return lines(title, join(" · ", about.Creator, about.Rights), made)
	case library.ExportArchive:
		prompt := ""
		if d.Lineage.Positive != nil {
			prompt = *d.Lineage.Positive
		}
		return lines(title, prompt, settings(d.Lineage))
	}
	return lines(title, join(" · ", about.Creator, about.Rights), join(" · ", size(a), made))
}

// titleOf returns a picture's title, or its file name where the preset keeps those.
func titleOf(a library.Asset, spec library.ExportSpec) string {
	if title := strings.Join(strings.Fields(a.Title), " "); title != "" || !spec.Original {
		return title
	}
	return a.Filename
}

func size(a library.Asset) string {
	if a.Width <= 0 || a.Height <= 0 {
		return ""
	}
	return fmt.Sprintf("%d × %d", a.Width, a.Height)
}

// settings returns how a picture was generated, as far as its file says.
func settings(l library.Lineage) string {
	parts := []string{l.Tool}
	for _, m := range l.Models[:min(len(l.Models), 3)] {
		parts = append(parts, m.Name)
	}
	if p := l.Parameters; p != nil {
		if p.Sampler != nil {
			parts = append(parts, *p.Sampler)
		}
		if p.Steps != nil {
			parts = append(parts, fmt.Sprintf("%d steps", *p.Steps))
		}
		if p.CFGScale != nil {
			parts = append(parts, fmt.Sprintf("CFG %g", *p.CFGScale))
		}
		if p.Seed != nil {
			parts = append(parts, fmt.Sprintf("seed %d", *p.Seed))
		}
	}
	return join(" · ", parts...)
}

// join joins the texts that are not empty.
func join(separator string, list ...string) string {
	return strings.Join(lines(list...), separator)
}

// lines returns the texts that are not empty, each on one line.
func lines(list ...string) (out []string) {
	for _, s := range list {
		if s = strings.Join(strings.Fields(s), " "); s != "" {
			out = append(out, s)
		}
	}
	return out
}
