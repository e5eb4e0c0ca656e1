package preview

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/media/memory"
)

func picture(w, h int, noise bool) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	rnd := rand.New(rand.NewPCG(1, 2))
	for y := range h {
		for x := range w {
			c := color.NRGBA{uint8(x), uint8(y), 90, 255}
			if noise {
				c = color.NRGBA{uint8(rnd.Uint32()), uint8(rnd.Uint32()), uint8(rnd.Uint32()), 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func size(t *testing.T, b []byte) (int, int) {
	t.Helper()
	c, err := jpeg.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return c.Width, c.Height
}

// testBudget is for tests that decode one picture after the other.
var testBudget = memory.New(memory.Config{})

func made(t *testing.T, data []byte, edge int) ([]byte, error) {
	t.Helper()
	return Make(t.Context(), testBudget, bytes.NewReader(data), int64(len(data)), edge)
}

func TestPreview_FitTheEdgeAndNeverEnlarge(t *testing.T) {
	for _, c := range []struct{ w, h, edge, wantW, wantH int }{
		{1024, 1024, 512, 512, 512}, {1000, 500, 512, 512, 256}, {500, 1000, 256, 128, 256},
		{100, 60, 512, 100, 60}, {3000, 1, 256, 256, 1}, {1, 1, 256, 1, 1}, {513, 511, 512, 512, 510},
	} {
		src := picture(c.w, c.h, false)
		b, err := made(t, src, c.edge)
		if err != nil {
			t.Fatal(err)
		}
		if w, h := size(t, b); w != c.wantW || h != c.wantH {
			t.Errorf("%dx%d at %d became %dx%d, want %dx%d", c.w, c.h, c.edge, w, h, c.wantW, c.wantH)
		}
	}
}

func TestPreview_ColoursSurviveTheShrinking(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 1200, 900))
	for i := range img.Pix {
		img.Pix[i] = []byte{200, 40, 90, 255}[i%4]
	}
	var src bytes.Buffer
	if err := png.Encode(&src, img); err != nil {
		t.Fatal(err)
	}
	b, err := made(t, src.Bytes(), 256)
	if err != nil {
		t.Fatal(err)
	}
	got, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	r, g, bl, _ := got.At(100, 100).RGBA()
	for i, d := range []int{int(r>>8) - 200, int(g>>8) - 40, int(bl>>8) - 90} {
		if d < -4 || d > 4 {
			t.Errorf("channel %d is off by %d", i, d)
		}
	}
}

func TestPreview_AFileThatIsNoPictureIsUnsupported(t *testing.T) {
	for _, s := range []string{"hello", "", strings.Repeat("\x00", 100), "GIF"} {
		if _, err := made(t, []byte(s), 256); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%q gave %v", s, err)
		}
	}
}

// A header of a few bytes may promise a picture that takes a gigabyte.
func TestPreview_APictureBombIsRefusedBeforeItIsDecoded(t *testing.T) {
	vp8l := []byte{0x2f, 0, 0, 0, 0}
	binary.LittleEndian.PutUint32(vp8l[1:], 16383|16383<<14)
	lossless := riff("WEBP", chunk("VP8L", vp8l))
	lying := riff("WEBP", append(chunk("VP8X", []byte{0, 0, 0, 0, 9, 0, 0, 9, 0, 0}), chunk("VP8L", vp8l)...))
	animated := riff("WEBP", append(chunk("VP8X", []byte{2, 0, 0, 0, 9, 0, 0, 9, 0, 0}), chunk("ANMF", append(make([]byte, 16), chunk("VP8L", vp8l)...))...))
	bigPNG := picture(1, 1, false)
	binary.BigEndian.PutUint32(bigPNG[16:], 1<<20)
	for name, b := range map[string][]byte{"lossless": lossless, "lying canvas": lying, "animated": animated} {
		var large *TooLargeError
		if _, err := made(t, b, 256); !errors.As(err, &large) {
			t.Errorf("%s gave %v", name, err)
		}
	}
	if _, err := made(t, bigPNG, 256); err == nil {
		t.Error("a PNG with a lying header was decoded")
	}
}

func chunk(kind string, payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(payload)))
	b = append(b, payload...)
	if len(payload)&1 == 1 {
		b = append(b, 0)
	}
	return b
}

func riff(form string, chunks []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(chunks)))
	return append(append(b, form...), chunks...)
}

func TestPreview_EveryPictureOfTheCorpusHasAPreview(t *testing.T) {
	n := 0
	err := filepath.Walk(testenv.Corpus(t), func(p string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || strings.HasSuffix(p, ".json") {
			return err
		}
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		defer f.Close()
		n++
		if _, err := Make(t.Context(), testBudget, f, info.Size(), 256); err != nil {
			t.Errorf("%s: %v", filepath.Base(p), err)
		}
		return nil
	})
	if err != nil || n < 100 {
		t.Errorf("%d files, %v", n, err)
	}
}

func FuzzMake(f *testing.F) {
	f.Add(picture(9, 7, true))
	f.Add(riff("WEBP", chunk("VP8L", []byte{0x2f, 1, 2, 3, 4})))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			t.Skip("large inputs only slow the search down")
		}
		_, _ = made(t, b, 64)
	})
}
