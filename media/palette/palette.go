// Package palette finds the dominant color of a picture and names it.
//
// In goes a picture; out comes the color that most of its pixels have, as the mean of those. The
// name of a color is that of the nearest of twelve, as people see them: distances are
// taken in Oklab.
package palette

import (
	"fmt"
	"image"
	"math"
)

// Color is a color in sRGB: red, green, blue.
type Color [3]uint8

// String returns the color as #rrggbb.
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// Parse reads what String wrote. It is false for anything else.
func Parse(s string) (c Color, ok bool) {
	if len(s) != 7 {
		return c, false
	}
	n, err := fmt.Sscanf(s, "#%02x%02x%02x", &c[0], &c[1], &c[2])
	return c, n == 3 && err == nil && c.String() == s
}

const (
	// bucketBits is how many bits of each channel pixels are counted by: two colors that share
	// a bucket look much alike.
	bucketBits = 3
	// samples bounds how many pixels of each direction are looked at.
	samples = 160
)

// Dominant returns the color that most pixels of a picture have. Pixels that are mostly
// transparent do not count; it is false for a picture of nothing else.
func Dominant(img image.Image) (Color, bool) {
	var counts [1 << (3 * bucketBits)]struct{ n, r, g, b int }
	b := img.Bounds()
	stepX, stepY := max(1, b.Dx()/samples), max(1, b.Dy()/samples)
	best := 0
	for y := b.Min.Y; y < b.Max.Y; y += stepY {
		for x := b.Min.X; x < b.Max.X; x += stepX {
			r, g, bl, a := img.At(x, y).RGBA()
			if a < 0x8000 {
				continue
			}
			red, green, blue := int(r*0xff/a), int(g*0xff/a), int(bl*0xff/a) // without the factor of transparency
			i := red>>(8-bucketBits)<<(2*bucketBits) | green>>(8-bucketBits)<<bucketBits | blue>>(8-bucketBits)
			c := &counts[i]
			c.n, c.r, c.g, c.b = c.n+1, c.r+red, c.g+green, c.b+blue
			if c.n > counts[best].n {
				best = i
			}
		}
	}
	c := counts[best]
	if c.n == 0 {
		return Color{}, false
	}
	return Color{uint8(c.r / c.n), uint8(c.g / c.n), uint8(c.b / c.n)}, true //nolint:gosec // means of bytes
}

// named are the colors that have names.
var named = []struct {
	name   string
	colors []Color
}{
	{"black", []Color{{0, 0, 0}, {28, 28, 28}}},
	{"gray", []Color{{70, 70, 70}, {128, 128, 128}, {185, 185, 185}}},
	{"white", []Color{{255, 255, 255}, {235, 235, 235}}},
	{"red", []Color{{220, 20, 30}, {130, 10, 15}}},
	{"orange", []Color{{245, 130, 20}, {225, 100, 20}}},
	{"brown", []Color{{120, 70, 30}, {70, 42, 25}, {165, 120, 80}}},
	{"yellow", []Color{{250, 220, 30}, {225, 190, 60}}},
	{"green", []Color{{40, 160, 50}, {15, 75, 25}, {140, 200, 110}, {110, 120, 50}}},
	{"teal", []Color{{20, 150, 150}, {90, 210, 210}, {15, 75, 80}}},
	{"blue", []Color{{30, 80, 220}, {15, 25, 95}, {110, 165, 235}, {50, 75, 115}}},
	{"purple", []Color{{120, 40, 180}, {60, 20, 90}, {165, 125, 210}}},
	{"pink", []Color{{240, 120, 180}, {250, 185, 205}, {215, 40, 130}}},
}

// Names lists the names of colors, from black to pink.
var Names = func() []string {
	list := make([]string, len(named))
	for i, n := range named {
		list[i] = n.name
	}
	return list
}()

// Name returns the name of a color: one of Names.
func (c Color) Name() string {
	at, nearest, best := c.oklab(), "", math.Inf(1)
	for _, n := range named {
		for _, ref := range n.colors {
			o := ref.oklab()
			if d := math.Hypot(math.Hypot(at[0]-o[0], at[1]-o[1]), at[2]-o[2]); d < best {
				nearest, best = n.name, d
			}
		}
	}
	return nearest
}

// NameOf returns the name of a color as String writes it; empty for anything else.
func NameOf(s string) string {
	if c, ok := Parse(s); ok {
		return c.Name()
	}
	return ""
}

// oklab returns lightness and the two axes of color as Oklab (Ottosson, 2020) defines them.
func (c Color) oklab() [3]float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	r, g, b := linear(c[0]), linear(c[1]), linear(c[2])
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return [3]float64{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}
