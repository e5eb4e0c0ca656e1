package deck_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/media/deck"
)

// drawn returns a picture of hills under a sky, of a shape and a hue of its own.
func drawn(t testing.TB, w, h int, hue float64) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			u, v := float64(x)/float64(w), float64(y)/float64(h)
			ridge := 0.62 + 0.12*math.Sin(6*u+hue) + 0.05*math.Sin(17*u+2*hue)
			near := 0.8 + 0.08*math.Sin(4*u+3*hue)
			sun := math.Hypot((u-0.7)*float64(w)/float64(h), v-0.3)
			light := 0.35 + 0.6*(1-v)
			if sun < 0.12 {
				light = 1
			}
			if v > ridge {
				light = 0.3
			}
			if v > near {
				light = 0.12
			}
			c := func(shift float64) uint8 {
				return uint8(255 * math.Min(1, light*(0.6+0.4*math.Sin(hue+shift+v*2))))
			}
			m.SetRGBA(x, y, color.RGBA{c(0), c(2), c(4), 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 85}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// picture returns a picture of a deck.
func picture(t testing.TB, n, w, h int, caption ...string) *deck.Picture {
	title := ""
	if len(caption) > 0 {
		title = caption[0]
	}
	return &deck.Picture{Title: title, Caption: caption, Alt: title, Width: w, Height: h, Position: n, JPEG: func(_ context.Context, edge int) ([]byte, error) {
		scale := math.Min(1, float64(min(edge, 640))/float64(max(w, h)))
		return drawn(t, int(float64(w)*scale), int(float64(h)*scale), float64(n)), nil
	}}
}

var created = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

// sampleCards are text cards of every look.
func sampleCards() (list []library.TextCard) {
	for _, background := range []string{"dark", "gradient", "light"} {
		for _, layout := range []string{"centered", "left-aligned"} {
			for _, size := range []string{"xl", "lg", "md"} {
				c := library.TextCard{Heading: "Streets at night", HeadingSize: size, Background: background, Layout: layout, AccentText: "Chapter one",
					Body: "Rain, glass and neon: twelve pictures for the spring campaign. See https://example.com/brief for the brief."}
				switch size {
				case "lg":
					c.AccentColor, c.Bullets = "#e8b04a", []string{"Wide establishing shots", "Details with a shallow focus, so that the product has room to breathe in the layout and copy can stand beside it", "Portraits"}
				case "md":
					c.AccentColor, c.Heading, c.Body = "#1ec98e", "Ночь в городе · Νύχτα στην πόλη · 夜の街 · 밤의 거리", "Кириллица, ελληνικά, 日本語のテキスト、中文字体，한국어, emoji 🎉 and → ∑ ☂. Ảo giác đêm. Łódź."
				}
				list = append(list, c)
			}
		}
	}
	return list
}

// sampleDeck returns a deck of some cards and pictures of several shapes.
func sampleDeck(t testing.TB, layout deck.Layout) deck.Deck {
	d := deck.Deck{Title: "Aurora — spring campaign", Subtitle: "First selection for review. Twelve key visuals in four moods, with the variations that we would take further.", Layout: layout, Created: created, Mark: true,
		Cover: picture(t, 3, 1600, 900, "Cover")}
	for _, c := range sampleCards() {
		d.Slides = append(d.Slides, deck.Slide{Card: &c})
	}
	shapes := [][2]int{{1600, 900}, {1024, 1024}, {832, 1216}, {1216, 832}, {1344, 768}, {2048, 600}, {1024, 1024}}
	for i, s := range shapes {
		d.Slides = append(d.Slides, deck.Slide{Picture: picture(t, i, s[0], s[1], "Neon fox in the rain, variation "+string(rune('A'+i)), "Studio Nord · © 2026 Studio Nord", "AI-generated · ComfyUI")})
	}
	d.Slides[len(d.Slides)-1].Picture.Film = true
	return d
}
