package preview

import (
	"context"
	"errors"
	"image"
	"image/draw"
	"io"
	"math"
)

// source is a picture whose header was read and whose pixels were not.
type source struct {
	kind          string // for people: "PNG", "progressive JPEG"
	width, height int
	// cost is what read allocates at most, in bytes, all of it together: the collector
	// need not run meanwhile.
	cost int64
	// read returns the picture in a square of edge pixels; see reducer.
	read func(f file, edge int) (*image.RGBA, error)
}

// file is an open file that is read until the context ends, so that decoders stop
// when nobody waits for them any longer.
type file struct {
	ctx context.Context
	r   io.ReaderAt
	n   int64
}

// ReadAt implements io.ReaderAt.
func (f file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	if off >= f.n {
		return 0, io.EOF
	}
	n, err := f.r.ReadAt(p[:min(int64(len(p)), f.n-off)], off)
	if n < len(p) && err == nil {
		err = io.EOF
	}
	return n, err
}

// section returns a reader of a part of the file, which is an io.ReaderAt too.
func (f file) section(off, n int64) *io.SectionReader { return io.NewSectionReader(f, off, n) }

func (f file) whole() *io.SectionReader { return f.section(0, f.n) }

// head returns n bytes at an offset, or nil when the file ends before.
func (f file) head(off int64, n int) []byte {
	b := make([]byte, n)
	if got, _ := f.ReadAt(b, off); got < n {
		return nil
	}
	return b
}

// errShort reports a file that ends within its header.
var errShort = errors.New("the file ends too early")

// open reads the header of a picture: what it is, how large, and what decoding it
// takes. ErrUnsupported means that it is none of the kinds known here.
func open(f file) (source, error) {
	b := make([]byte, 16)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return source{}, err
	}
	switch b = b[:n]; {
	case starts(b, "\x89PNG\r\n\x1a\n"):
		return openPNG(f)
	case starts(b, "\xff\xd8"):
		return openJPEG(f)
	case starts(b, "RIFF") && len(b) >= 12 && string(b[8:12]) == "WEBP":
		return openWebP(f)
	case starts(b, "GIF87a"), starts(b, "GIF89a"):
		return openGIF(f)
	case starts(b, "II*\x00"), starts(b, "MM\x00*"):
		return openTIFF(f)
	case starts(b, "BM"):
		return openBMP(f)
	}
	return source{}, ErrUnsupported
}

func starts(b []byte, with string) bool { return len(b) >= len(with) && string(b[:len(with)]) == with }

// decoded makes a source of a picture that is decoded as a whole. The stripe that
// brings its pixels into one form is part of the cost.
func decoded(kind string, w, h int, cost int64, decode func(file) (image.Image, error)) source {
	cost += 4 * int64(w) * int64(stripeRows(w))
	return source{kind: kind, width: w, height: h, cost: cost, read: func(f file, edge int) (*image.RGBA, error) {
		img, err := decode(f)
		if err != nil {
			return nil, err
		}
		b := img.Bounds() // the first frame of a GIF may be smaller than its screen
		if b.Empty() || b.Dx() > w || b.Dy() > h {
			return nil, errors.New("the picture has another size than its header says")
		}
		r := newReducer(b.Dx(), b.Dy(), edge)
		passRows(img, r)
		return r.out, nil
	}}
}

// pixels multiplies sizes that a header claims without overflowing.
func pixels(w, h int) int64 {
	if w > math.MaxInt32 || h > math.MaxInt32 {
		return math.MaxInt64 / 64
	}
	return int64(w) * int64(h)
}

// stripeRows is how many rows are converted at once: enough that the way into the
// conversion does not count, few enough to stay in the cache.
func stripeRows(w int) int { return max(1, min(16, (1<<18)/w)) }

// passRows passes the pixels of a picture to a reducer, on the background where
// they are not opaque.
func passRows(img image.Image, r *reducer) {
	b := img.Bounds()
	rows := stripeRows(b.Dx())
	stripe := image.NewRGBA(image.Rect(0, 0, b.Dx(), rows))
	paint := painter(img)
	for y := b.Min.Y; y < b.Max.Y; y += rows {
		n := min(rows, b.Max.Y-y)
		part := stripe.SubImage(image.Rect(0, 0, b.Dx(), n)).(*image.RGBA)
		paint(part, image.Pt(b.Min.X, y))
		for i := range n {
			r.row(part.Pix[i*part.Stride:][:4*b.Dx()], 4)
		}
	}
}

// painter returns how a stripe is filled with a picture's pixels from a point on.
func painter(img image.Image) func(*image.RGBA, image.Point) {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		if p, ok := img.(*image.Paletted); ok {
			return paintPaletted(p)
		}
		return func(s *image.RGBA, at image.Point) { draw.Draw(s, s.Rect, img, at, draw.Src) }
	}
	switch m := img.(type) {
	case *image.Paletted:
		return paintPaletted(m)
	case *image.NYCbCrA:
		return paintNYCbCrA(m)
	}
	return func(s *image.RGBA, at image.Point) {
		draw.Draw(s, s.Rect, background, image.Point{}, draw.Src)
		draw.Draw(s, s.Rect, img, at, draw.Over)
	}
}

// paintPaletted looks every color up once.
func paintPaletted(m *image.Paletted) func(*image.RGBA, image.Point) {
	var colors [256][4]byte
	for i, c := range m.Palette[:min(len(m.Palette), len(colors))] {
		one := image.NewRGBA(image.Rect(0, 0, 1, 1))
		draw.Draw(one, one.Rect, background, image.Point{}, draw.Src)
		draw.Draw(one, one.Rect, image.NewUniform(c), image.Point{}, draw.Over)
		colors[i] = [4]byte(one.Pix)
	}
	return func(s *image.RGBA, at image.Point) {
		for y := range s.Rect.Dy() {
			in := m.Pix[m.PixOffset(at.X, at.Y+y):][:s.Rect.Dx()]
			out := s.Pix[y*s.Stride:]
			for x, i := range in {
				copy(out[4*x:4*x+4], colors[i][:])
			}
		}
	}
}

// paintNYCbCrA is for lossy WebP pictures with transparency.
func paintNYCbCrA(m *image.NYCbCrA) func(*image.RGBA, image.Point) {
	return func(s *image.RGBA, at image.Point) {
		draw.Draw(s, s.Rect, &m.YCbCr, at, draw.Src)
		for y := range s.Rect.Dy() {
			alpha := m.A[m.AOffset(at.X, at.Y+y):][:s.Rect.Dx()]
			out := s.Pix[y*s.Stride:]
			for x, a := range alpha {
				if a != 0xff {
					for c := range 3 {
						out[4*x+c] = over(out[4*x+c], a)
					}
				}
			}
		}
	}
}

// over lays a color value of the given opacity on the background.
func over(v, alpha byte) byte {
	return byte((int(v)*int(alpha) + grey*(255-int(alpha)) + 127) / 255)
}
