package strip

import (
	"image"
	"image/color"
	"sync"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Watermark is a text drawn onto a picture.
type Watermark struct {
	Text     string
	Position string  // top-left, top-right, center, bottom-left, bottom-right; empty means bottom-right
	Opacity  float64 // above 0 and at most 1; 0 means 0.6
}

// Positions are where a watermark may stand.
var Positions = []string{"top-left", "top-right", "center", "bottom-left", "bottom-right"}

var boldFont = sync.OnceValue(func() *opentype.Font {
	f, err := opentype.Parse(gobold.TTF)
	if err != nil {
		panic(err) // it is part of the program
	}
	return f
})

// paint draws the text, white with a dark edge, as high as a twenty-fifth of the shorter side
// and at most as wide as the picture.
func (w Watermark) paint(dst *image.NRGBA) {
	b := dst.Bounds()
	size := max(10, float64(min(b.Dx(), b.Dy()))/25)
	face, err := opentype.NewFace(boldFont(), &opentype.FaceOptions{Size: size, DPI: 72})
	if err != nil {
		return
	}
	width := font.MeasureString(face, w.Text).Ceil()
	if room := b.Dx() * 9 / 10; width > room && width > 0 {
		_ = face.Close()
		size = max(6, size*float64(room)/float64(width))
		if face, err = opentype.NewFace(boldFont(), &opentype.FaceOptions{Size: size, DPI: 72}); err != nil {
			return
		}
		width = font.MeasureString(face, w.Text).Ceil()
	}
	defer face.Close()
	opacity := w.Opacity
	if opacity <= 0 || opacity > 1 {
		opacity = 0.6
	}
	at := w.origin(b, width, int(size))
	edge := max(1, int(size/16))
	for _, layer := range []struct {
		by int
		c  color.NRGBA
	}{{edge, color.NRGBA{0, 0, 0, uint8(opacity * 200)}}, {0, color.NRGBA{255, 255, 255, uint8(opacity * 255)}}} {
		d := font.Drawer{Dst: over{dst}, Src: image.NewUniform(layer.c), Face: face, Dot: fixed.P(at.X+layer.by, at.Y+layer.by)}
		d.DrawString(w.Text)
	}
}

// over is a picture that a font draws on.
type over struct{ *image.NRGBA }

var _ draw.Image = over{}

// origin returns where the text's base line begins.
func (w Watermark) origin(b image.Rectangle, width, height int) image.Point {
	margin := height
	left, right := b.Min.X+margin, b.Max.X-margin-width
	top, bottom := b.Min.Y+margin+height, b.Max.Y-margin
	switch w.Position {
	case "top-left":
		return image.Pt(left, top)
	case "top-right":
		return image.Pt(right, top)
	case "center":
		return image.Pt((b.Min.X+b.Max.X-width)/2, (b.Min.Y+b.Max.Y+height)/2)
	case "bottom-left":
		return image.Pt(left, bottom)
	}
	return image.Pt(right, bottom)
}
