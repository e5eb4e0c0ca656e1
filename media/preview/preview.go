// Package preview makes small JPEG pictures of media files, and keeps them.
//
// In go the bytes of a file and the longest edge wanted; out comes a JPEG without any
// metadata. It never enlarges. What decoding a picture takes is read out of its
// header, never less than what the decoder will allocate, and waits for that much of
// the process's memory.Budget; who needs more than it holds is refused.
package preview

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"

	"vitrine/internal/panics"
	"vitrine/media/memory"
)

// Edges are the lengths, in pixels, of the longest edge that previews come in.
var Edges = []int{256, 512, 1024, 2048}

// DefaultEdge is the thumbnail that every asset gets when it arrives.
const DefaultEdge = 512

// MaxPixels is the largest picture that is decoded, whatever memory it takes: 64
// times 1,048,576.
const MaxPixels = 64 << 20

// MaxInline is the largest preview that travels inside a reply, in bytes.
const MaxInline = 200 << 10

// Reasons why there is no preview. A *TooLargeError is one more, memory.ErrBusy
// another; any other error of Make is a decoder's, and means that the file is damaged,
// or the disk's.
var (
	ErrUnsupported = errors.New("no preview can be made of this kind of file")
	ErrDamaged     = errors.New("the picture cannot be decoded") // in what Error returns
)

// TooLargeError reports a picture that is too large to be decoded.
type TooLargeError struct {
	Kind          string // "progressive JPEG"
	Width, Height int
	Need, Limit   int64 // bytes; 0 when the number of pixels alone is too large
}

func (e *TooLargeError) Error() string {
	if e.Need == 0 {
		return fmt.Sprintf("The picture (%s) has %d×%d pixels; previews are made of pictures up to %d megapixels", e.Kind, e.Width, e.Height, MaxPixels>>20)
	}
	return fmt.Sprintf("The picture (%s, %d×%d pixels) takes %d MB to be decoded, and %d MB are allowed", e.Kind, e.Width, e.Height, e.Need/1e6, e.Limit/1e6)
}

// grey is the background of transparent pixels: both dark and light drawings can be
// seen on it.
const grey = 0x80

var background = image.NewUniform(color.RGBA{grey, grey, grey, 0xff})

// quality is that of JPEGs, of 100.
const quality = 82

// Make decodes a picture within a budget and returns a JPEG whose longest edge is at
// most edge.
func Make(ctx context.Context, budget *memory.Budget, r io.ReaderAt, size int64, edge int) (preview []byte, err error) {
	f := file{ctx, r, size}
	s, err := open(f)
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if s.width <= 0 || s.height <= 0 {
		return nil, errShort
	}
	if pixels(s.width, s.height) > MaxPixels {
		return nil, &TooLargeError{Kind: s.kind, Width: s.width, Height: s.height}
	}
	need := s.cost + reducerCost(s.width, s.height, edge)
	err = budget.Use(ctx, need, func() (err error) {
		preview, err = s.preview(f, edge)
		return err
	})
	var large *memory.TooLargeError
	if errors.As(err, &large) {
		return nil, &TooLargeError{Kind: s.kind, Width: s.width, Height: s.height, Need: large.Need, Limit: large.Limit}
	}
	return preview, err
}

// preview decodes. Decoders of others must not take the process down with them.
func (s source) preview(f file, edge int) (preview []byte, err error) {
	err = panics.Try(func() error {
		img, err := s.read(f, edge)
		if err != nil {
			return errors.Join(f.ctx.Err(), err)
		}
		preview, err = encode(img, quality)
		return err
	})
	return preview, err
}

func encode(img image.Image, quality int) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality})
	return b.Bytes(), err
}
