package phash_test

import (
	"bytes"
	"image"
	"image/color"
	stddraw "image/draw"
	"image/jpeg"
	"testing"

	"golang.org/x/image/draw"

	sample "vitrine/internal/sample/draw"
	"vitrine/internal/sample/scene"
	"vitrine/media/phash"
)

const threshold = phash.Alike

func paint(s *scene.Spec, w, h int) image.Image {
	p := s.Draw(w, h)
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		copy(out.Pix[4*i:], p.Pix[3*i:3*i+3])
		out.Pix[4*i+3] = 255
	}
	return out
}

func resized(img image.Image, w, h int) image.Image {
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(out, out.Bounds(), img, img.Bounds(), stddraw.Src, nil)
	return out
}

func jpegOf(t *testing.T, img image.Image, quality int) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	out, err := jpeg.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// cropped cuts a share off the right and the lower side, or half of it off each side.
func cropped(img image.Image, share float64, around bool) image.Image {
	b := img.Bounds()
	dx, dy := int(float64(b.Dx())*share), int(float64(b.Dy())*share)
	at := b.Min
	if around {
		at = at.Add(image.Pt(dx/2, dy/2))
	}
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx()-dx, b.Dy()-dy))
	stddraw.Draw(out, out.Bounds(), img, at, stddraw.Src)
	return out
}

// TestPHash_CopiesAreAlikeAndOtherSeedsAreNot draws pictures of every kind of scene, copies
// them as people and programs do, and draws the same idea with other seeds.
func TestPHash_CopiesAreAlikeAndOtherSeedsAreNot(t *testing.T) {
	type tally struct{ alike, all int }
	copies, others := map[string]*tally{}, tally{}
	count := func(c *tally, a, b image.Image) {
		x, ok := phash.Of(a)
		y, ok2 := phash.Of(b)
		if c.all++; ok && ok2 && x.Distance(y) <= threshold {
			c.alike++
		}
	}
	for i, kind := range scene.Kinds() {
		for n := range 3 {
			spec := scene.New(kind, sample.NewRand(uint64(1000*i+n)))
			img := paint(spec, 384, 320)
			for name, c := range map[string]image.Image{
				"half the size": resized(img, 192, 160), "another size": resized(img, 300, 250), "twice the size": resized(img, 768, 640), "JPEG 60": jpegOf(t, img, 60), "small JPEG 60": jpegOf(t, resized(img, 192, 160), 60),
				"2 % cropped": cropped(img, 0.02, false), "2 % cropped around": cropped(img, 0.02, true),
			} {
				if copies[name] == nil {
					copies[name] = &tally{}
				}
				count(copies[name], img, c)
			}
			for seed := range 4 {
				count(&others, img, paint(spec.Variation(uint64(seed+77)), 192, 160))
			}
		}
	}
	alike, all := 0, 0
	for name, c := range copies {
		t.Logf("%-20s %d of %d are alike", name, c.alike, c.all)
		alike, all = alike+c.alike, all+c.all
	}
	recall := float64(alike) / float64(all)
	t.Logf("recall %.4f; another seed: %d of %d are alike", recall, others.alike, others.all)
	if recall < 0.98 || all < 200 {
		t.Errorf("recall %.4f over %d copies", recall, all)
	}
	if share := float64(others.alike) / float64(others.all); share > 0.005 {
		t.Errorf("%.4f of the pairs with another seed are alike", share)
	}
}

func TestPHash_APictureWithoutContrastHasNone(t *testing.T) {
	for name, c := range map[string]color.Color{"black": color.Black, "white": color.White, "transparent": color.Transparent} {
		img := image.NewNRGBA(image.Rect(0, 0, 64, 64))
		stddraw.Draw(img, img.Bounds(), image.NewUniform(c), image.Point{}, stddraw.Src)
		if h, ok := phash.Of(img); ok {
			t.Errorf("a %s picture has the hash %x", name, h)
		}
	}
	if _, ok := phash.Of(image.NewGray(image.Rect(5, 5, 6, 6))); ok {
		t.Error("a pixel has a hash")
	}
}
