package deck

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"vitrine/media/pdf"
)

// The size of slides in points, 16 to 9 as presentations have it.
const (
	pageWidth  = 960
	pageHeight = 540
	margin     = 48
	footLine   = pageHeight - 26
)

// The colors of slides.
var (
	dark         = rgb(0x0f1013)
	light        = rgb(0xf7f6f3)
	paper        = rgb(0xffffff)
	onDark       = rgb(0xf6f5f2)
	onLight      = rgb(0x16171a)
	mutedOnDark  = rgb(0xa4a6ad)
	mutedOnLight = rgb(0x62646b)
	ownAccent    = rgb(0x5b7cfa)
	black        = pdf.Color{}
)

func rgb(v uint32) pdf.Color {
	return pdf.Color{float64(v>>16&0xff) / 255, float64(v>>8&0xff) / 255, float64(v&0xff) / 255}
}

// colorOf returns the color of a text such as #1e90ff, or another where it is none.
func colorOf(s string, otherwise pdf.Color) pdf.Color {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 32)
	if err != nil || len(s) != 7 {
		return otherwise
	}
	return rgb(uint32(v))
}

// hexOf returns a color as style sheets have it.
func hexOf(c pdf.Color) string {
	return fmt.Sprintf("#%02x%02x%02x", int(math.Round(c[0]*255)), int(math.Round(c[1]*255)), int(math.Round(c[2]*255)))
}

func mix(a, b pdf.Color, share float64) (c pdf.Color) {
	for i := range c {
		c[i] = a[i]*(1-share) + b[i]*share
	}
	return c
}

// luminance returns how light a color is, as WCAG defines it.
func luminance(c pdf.Color) float64 {
	weights, sum := [3]float64{0.2126, 0.7152, 0.0722}, 0.0
	for i, v := range c {
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weights[i] * v
	}
	return sum
}

// contrast returns the contrast of two colors, from 1 to 21.
func contrast(a, b pdf.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// legible returns a color, moved towards ink until text of it can be read on a background.
func legible(c, background, ink pdf.Color) pdf.Color {
	for share := 0.0; share < 1; share += 0.05 {
		if m := mix(c, ink, share); contrast(m, background) >= 4.5 {
			return m
		}
	}
	return ink
}
