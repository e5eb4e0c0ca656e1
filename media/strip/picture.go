package strip

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"vitrine/internal/panics"
	"vitrine/media/extract/container"
	"vitrine/media/memory"
)

// decoder is how a kind of picture is decoded, and what that allocates at most for each pixel.
type decoder struct {
	decode func(io.Reader) (image.Image, error)
	bytes  int64
}

var decoders = map[string]decoder{
	"image/png":  {png.Decode, 8},
	"image/apng": {png.Decode, 8},
	"image/jpeg": {jpeg.Decode, 15},
	"image/webp": {webp.Decode, 9},
	"image/gif":  {gif.Decode, 1},
	"image/bmp":  {bmp.Decode, 4},
	"image/tiff": {tiff.Decode, 48},
}

// change is why and how a picture is drawn anew.
type change struct {
	needed      bool
	stealth     string // the kind of text that is hidden in its pixels
	orientation int    // as EXIF counts, 1 to 8
	w, h        int    // of the result
	format      Format
	notes       []string
}

func (c *change) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// changeOf returns what is to become of a picture.
func changeOf(in input, f container.File, p *plan, o Options) (change, error) {
	c := change{orientation: 1, format: o.Format, w: f.Width, h: f.Height}
	_, decodable := decoders[f.MIME]
	if !strings.HasPrefix(f.MIME, "image/") || f.Frames > 1 || !decodable {
		return c, c.unchangeable(f, o)
	}
	own := map[string]Format{"image/png": PNG, "image/apng": PNG, "image/jpeg": JPEG, "image/webp": WebP}[f.MIME]
	hidden, err := stealthIn(in, f, o)
	if err != nil {
		return c, err
	}
	if p != nil && !o.Keep.exif() {
		c.orientation = orientationOf(in, p.exif)
	}
	c.stealth = hidden
	if hidden != "" && o.Keep.Generation {
		c.stealth = ""
	}
	shrinks := o.MaxEdge > 0 && max(f.Width, f.Height) > o.MaxEdge
	c.needed = c.stealth != "" || c.orientation != 1 || shrinks || o.Watermark != nil || p == nil || p.slack || c.format != Preserve && c.format != own
	if !c.needed {
		return c, nil
	}
	if shrinks {
		long := max(f.Width, f.Height)
		c.w, c.h = max(1, f.Width*o.MaxEdge/long), max(1, f.Height*o.MaxEdge/long)
	}
	if c.format == Preserve {
		c.format = own
		if own == "" || own == WebP && (c.stealth != "" || o.EncodeWebP == nil) {
			c.format = PNG
			c.note("Written as PNG: this kind of picture can be read here but not written.")
		}
	}
	if c.format == WebP && o.EncodeWebP == nil {
		if o.Exact {
			return c, &Error{CodeNoEncoder, "No encoder of lossy WebP is there: the service needs ffmpeg with libwebp. Choose png, jpeg or preserve."}
		}
		c.format = JPEG
		c.note("Written as JPEG, because the service has no encoder of lossy WebP.")
	}
	if p != nil && p.slack {
		c.note("Bytes that stood among those of the pixels were removed.")
	}
	if c.stealth != "" {
		c.note("Text that was hidden in the pixels was removed.")
	}
	return c, nil
}

// unchangeable notes what cannot be done to a file that is no picture, or is an animation.
func (c *change) unchangeable(f container.File, o Options) error {
	wants := o.Format != Preserve || o.MaxEdge > 0 && max(f.Width, f.Height) > o.MaxEdge || o.Watermark != nil
	if !wants || !strings.HasPrefix(f.MIME, "image/") {
		return nil
	}
	if f.Frames > 1 {
		c.note("An animation: kept in its own format and size.")
		return nil
	}
	if o.Exact && o.Format != Preserve {
		return &Error{CodeUnsupported, fmt.Sprintf("Pictures of the type %s cannot be decoded here, so they cannot be written as %s. Choose preserve.", f.MIME, o.Format)}
	}
	c.note("Kept in its own format and size: this kind of picture cannot be decoded here.")
	return nil
}

// stealthIn returns the first word of a text that is hidden in a picture's pixels.
func stealthIn(in input, f container.File, o Options) (string, error) {
	before := len(f.Chunks)
	f.Chunks = slices.Clone(f.Chunks)
	err := container.ReadStealth(in.r, in.size, &f, func(need int64, decode func() error) error { return o.use(in.ctx, need, decode) })
	var large *memory.TooLargeError
	if err != nil && !errors.As(err, &large) || len(f.Chunks) == before {
		return "", err
	}
	return f.Chunks[before].Key, nil
}

// use runs a decoder within the memory that there is.
func (o Options) use(ctx context.Context, need int64, decode func() error) error {
	if o.Memory == nil {
		return decode()
	}
	return o.Memory.Use(ctx, need, decode)
}

// orientationOf returns how a picture lies by its EXIF block, 1 where that does not say.
func orientationOf(in input, at part) int {
	b, err := in.bytes(at.off, min(at.n, 64<<10))
	if err != nil {
		return 1
	}
	b = bytes.TrimPrefix(b, []byte("Exif\x00\x00"))
	if len(b) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	if b[0] == 'M' {
		order = binary.BigEndian
	}
	dir := int64(order.Uint32(b[4:]))
	if dir < 8 || dir+2 > int64(len(b)) {
		return 1
	}
	for i := range int64(order.Uint16(b[dir:])) {
		x := dir + 2 + 12*i
		if x+12 > int64(len(b)) {
			break
		}
		if order.Uint16(b[x:]) == 0x0112 {
			if v := int(order.Uint16(b[x+8:])); v >= 1 && v <= 8 {
				return v
			}
		}
	}
	return 1
}

// maxPixels is the largest picture that is decoded.
const maxPixels = 100 << 20

// redraw decodes a picture and writes it as c asks, with the color profile and the disclosure.
func redraw(out io.Writer, in input, f container.File, p *plan, c change, o Options) (Result, error) {
	d := decoders[f.MIME]
	pixels := int64(f.Width) * int64(f.Height)
	if pixels <= 0 || pixels > maxPixels {
		return Result{}, &Error{CodeTooLarge, fmt.Sprintf("The picture has %d×%d pixels, which is too large to be decoded.", f.Width, f.Height)}
	}
	need := pixels*(d.bytes+8) + int64(c.w)*int64(c.h)*8 + 8<<20
	if f.MIME == "image/webp" {
		need += memory.LosslessWebP(pixels, in.size)
	}
	var res Result
	err := o.use(in.ctx, need, func() error {
		return panics.Try(func() (err error) {
			res, err = encode(out, in, f, p, d, c, o)
			return err
		})
	})
	var large *memory.TooLargeError
	if errors.As(err, &large) {
		return res, &Error{CodeTooLarge, fmt.Sprintf("The picture has %d×%d pixels and takes %d MB to be decoded; %d MB are allowed.", f.Width, f.Height, large.Need/1e6, large.Limit/1e6)}
	}
	return res, err
}

func encode(out io.Writer, in input, f container.File, p *plan, d decoder, c change, o Options) (Result, error) {
	var r io.Reader = in.section(0, in.size)
	if f.MIME == "image/jpeg" {
		r = p.reader(in) // decoders refuse files for segments that go
	}
	img, err := d.decode(r)
	if err != nil {
		return Result{}, damaged("the picture cannot be decoded")
	}
	m := flat(img)
	if int64(m.Rect.Dx())*int64(m.Rect.Dy()) > maxPixels {
		return Result{}, damaged("the picture has another size than its header says")
	}
	if c.w < m.Rect.Dx() || c.h < m.Rect.Dy() {
		m = shrink(m, c.w, c.h)
	}
	clearHidden(m, c.stealth)
	m = upright(m, c.orientation)
	if o.Watermark != nil {
		o.Watermark.paint(m)
	}
	file, mime, err := c.file(in.ctx, m, o)
	if err != nil {
		return Result{}, err
	}
	done := input{in.ctx, bytes.NewReader(file), int64(len(file))}
	var icc []byte
	if p != nil {
		icc = p.icc
	}
	if len(icc) > 20 && string(icc[16:20]) != "RGB " {
		icc = nil
		c.note("The color profile was left out: it is not for RGB.")
	}
	next, err := kinds[mime].plan(done, Options{Disclosure: o.Disclosure}.edit(icc))
	if err != nil {
		return Result{}, err
	}
	n, err := next.writeTo(out, done)
	res := Result{MIMEType: mime, Extension: kinds[mime].ext, Size: n, Embedded: next.embedded, Notes: c.notes}
	if p != nil {
		res.Removed = p.names()
	}
	return res, err
}

// file encodes a picture.
func (c *change) file(ctx context.Context, m *image.NRGBA, o Options) ([]byte, string, error) {
	quality := o.Quality
	if quality == 0 {
		quality = 90
	}
	var b bytes.Buffer
	switch c.format {
	case JPEG:
		onWhite(m)
		err := jpeg.Encode(&b, &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}, &jpeg.Options{Quality: quality})
		return b.Bytes(), "image/jpeg", err
	case WebP:
		if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m); err != nil {
			return nil, "", err
		}
		file, err := o.EncodeWebP(ctx, &b, quality)
		if err != nil {
			return nil, "", fmt.Errorf("encoding WebP: %w", err)
		}
		return file, "image/webp", nil
	}
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m)
	return b.Bytes(), "image/png", err
}

// flat returns a picture's pixels in one form.
func flat(img image.Image) *image.NRGBA {
	if m, ok := img.(*image.NRGBA); ok && m.Rect.Min == (image.Point{}) {
		return m
	}
	b := img.Bounds()
	at := image.Rect(0, 0, b.Dx(), b.Dy())
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		m := image.NewRGBA(at)
		draw.Draw(m, at, img, b.Min, draw.Src)
		return &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: at}
	}
	m := image.NewNRGBA(at)
	draw.Draw(m, at, img, b.Min, draw.Src)
	return m
}

// clearHidden removes text from the lowest bits of pixels. Transparency that is not seen is
// where it is hidden by most, so a picture that is opaque but for a last bit becomes opaque.
func clearHidden(m *image.NRGBA, stealth string) {
	opaque := true
	for i := 3; i < len(m.Pix); i += 4 {
		if m.Pix[i] < 254 {
			opaque = false
			break
		}
	}
	for i := 0; i+3 < len(m.Pix); i += 4 {
		if opaque {
			m.Pix[i+3] = 255
		} else if stealth != "" {
			m.Pix[i+3] |= 1
		}
		if strings.HasPrefix(stealth, "stealth_rgb") {
			m.Pix[i], m.Pix[i+1], m.Pix[i+2] = m.Pix[i]|1, m.Pix[i+1]|1, m.Pix[i+2]|1
		}
	}
}

// onWhite lays a picture on white.
func onWhite(m *image.NRGBA) {
	if m.Opaque() {
		return
	}
	for i := 0; i+3 < len(m.Pix); i += 4 {
		a := int(m.Pix[i+3])
		for k := range 3 {
			m.Pix[i+k] = uint8((int(m.Pix[i+k])*a + 255*(255-a) + 127) / 255)
		}
		m.Pix[i+3] = 255
	}
}

// upright turns a picture as its orientation asks.
func upright(m *image.NRGBA, orientation int) *image.NRGBA {
	if orientation <= 1 || orientation > 8 {
		return m
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	ow, oh := w, h
	if orientation >= 5 {
		ow, oh = h, w
	}
	out := image.NewNRGBA(image.Rect(0, 0, ow, oh))
	for y := range h {
		for x := range w {
			var to image.Point
			switch orientation {
			case 2:
				to = image.Pt(w-1-x, y)
			case 3:
				to = image.Pt(w-1-x, h-1-y)
			case 4:
				to = image.Pt(x, h-1-y)
			case 5:
				to = image.Pt(y, x)
			case 6:
				to = image.Pt(h-1-y, x)
			case 7:
				to = image.Pt(h-1-y, w-1-x)
			case 8:
				to = image.Pt(y, w-1-x)
			}
			copy(out.Pix[to.Y*out.Stride+4*to.X:][:4], m.Pix[y*m.Stride+4*x:][:4])
		}
	}
	return out
}
