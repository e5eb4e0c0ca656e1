package palette_test

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"testing"

	"vitrine/media/palette"
)

func filled(c color.Color, r image.Rectangle, on *image.NRGBA) {
	draw.Draw(on, r, image.NewUniform(c), image.Point{}, draw.Src)
}

// TestDominant_IsTheColorOfMostPixelsAlsoAfterJPEG paints pictures of two colors, of which one
// covers more.
func TestDominant_IsTheColorOfMostPixelsAlsoAfterJPEG(t *testing.T) {
	for want, rgb := range map[string]color.NRGBA{
		"red": {200, 20, 30, 255}, "blue": {20, 60, 200, 255}, "green": {30, 150, 40, 255}, "yellow": {250, 225, 40, 255}, "black": {5, 5, 8, 255}, "white": {250, 250, 248, 255},
		"gray": {130, 130, 130, 255}, "orange": {245, 140, 30, 255}, "purple": {120, 40, 170, 255}, "pink": {245, 150, 190, 255}, "brown": {110, 65, 30, 255}, "teal": {20, 140, 140, 255},
	} {
		img := image.NewNRGBA(image.Rect(0, 0, 400, 300))
		filled(rgb, img.Bounds(), img)
		filled(color.NRGBA{255 - rgb.R, 255 - rgb.G, 255 - rgb.B, 255}, image.Rect(0, 0, 180, 300), img)
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 80}); err != nil {
			t.Fatal(err)
		}
		decoded, err := jpeg.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		for _, picture := range []image.Image{img, decoded} {
			c, ok := palette.Dominant(picture)
			if !ok || c.Name() != want {
				t.Errorf("a picture that is mostly %v is %s (%s), want %s", rgb, c, c.Name(), want)
			}
			if palette.NameOf(c.String()) != want {
				t.Errorf("%s is read as %q", c, palette.NameOf(c.String()))
			}
		}
	}
}

func TestDominant_WhatIsTransparentDoesNotCount(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 50, 50))
	if c, ok := palette.Dominant(img); ok {
		t.Errorf("a picture of nothing has the color %s", c)
	}
	filled(color.NRGBA{200, 20, 30, 255}, image.Rect(0, 0, 10, 10), img)
	if c, ok := palette.Dominant(img); !ok || c.Name() != "red" {
		t.Errorf("a red spot on nothing is %s", c.Name())
	}
}

func TestParse_TakesWhatStringWritesAndNothingElse(t *testing.T) {
	for _, s := range []string{"", "#12345", "#1234567", "123456", "#12345g", "#ABCDEF", "#+12345"} {
		if c, ok := palette.Parse(s); ok {
			t.Errorf("%q is read as %s", s, c)
		}
	}
	if c, ok := palette.Parse("#0a1b2c"); !ok || c != (palette.Color{10, 27, 44}) {
		t.Errorf("#0a1b2c is read as %v", c)
	}
}
