package pdf_test

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"math/rand/v2"
	"testing"

	"vitrine/internal/randtest"
	"vitrine/media/pdf"
)

func TestPicture_BrokenFilesAreErrorsAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 40, 30)), nil); err != nil {
		t.Fatal(err)
	}
	good := b.Bytes()
	w := pdf.New(io.Discard, pdf.Info{Title: "Pictures"})
	one, err := w.Picture(good)
	if err != nil || one.Width != 40 || one.Height != 30 || !pdf.Showable(good) {
		t.Fatalf("%+v %v", one, err)
	}
	if again, err := w.Picture(bytes.Clone(good)); err != nil || again != one {
		t.Errorf("the same file is another picture: %v", err)
	}
	randtest.Run(t, func(t *testing.T, r *rand.Rand) {
		for range randtest.Cases(t, 2000) {
			bad := bytes.Clone(good[:r.IntN(len(good)+1)])
			for range r.IntN(6) {
				if len(bad) > 0 {
					bad[r.IntN(len(bad))] = byte(r.IntN(256))
				}
			}
			if p, err := w.Picture(bad); err != nil && !errors.Is(err, pdf.ErrPicture) || err == nil && (p.Width <= 0 || p.Height <= 0) {
				t.Fatalf("%+v %v", p, err)
			}
		}
	})
}

func TestParseFont_BrokenFilesAreErrors(t *testing.T) {
	t.Parallel()
	for _, data := range [][]byte{nil, []byte("OTTO"), make([]byte, 200), []byte("\x00\x01\x00\x00\xff\xff")} {
		if _, err := pdf.ParseFont("broken", data); !errors.Is(err, pdf.ErrFont) {
			t.Errorf("%q: %v", data, err)
		}
	}
}
