package draw

import "math"

// Colour is a display-referred colour, 1 being full white. Values above 1 are
// allowed while painting (lights add up); Canvas.Finish rolls them off softly.
type Colour struct{ R, G, B float32 }

// Hex reads 0xRRGGBB.
func Hex(rgb uint32) Colour {
	return Colour{float32(rgb>>16&255) / 255, float32(rgb>>8&255) / 255, float32(rgb&255) / 255}
}

// Grey returns a neutral colour of the given brightness.
func Grey(v float32) Colour { return Colour{v, v, v} }

// Mix goes from c (t=0) to d (t=1).
func (c Colour) Mix(d Colour, t float32) Colour {
	return Colour{c.R + (d.R-c.R)*t, c.G + (d.G-c.G)*t, c.B + (d.B-c.B)*t}
}

// Mul scales the brightness.
func (c Colour) Mul(k float32) Colour { return Colour{c.R * k, c.G * k, c.B * k} }

// Plus adds light.
func (c Colour) Plus(d Colour) Colour { return Colour{c.R + d.R, c.G + d.G, c.B + d.B} }

// Luma returns the perceived brightness (Rec. 709 weights).
func (c Colour) Luma() float32 { return 0.2126*c.R + 0.7152*c.G + 0.0722*c.B }

// Vivid pushes the colour away from its grey by the factor k (1 = unchanged).
func (c Colour) Vivid(k float32) Colour {
	g := Grey(c.Luma())
	out := g.Mix(c, k)
	return Colour{max(out.R, 0), max(out.G, 0), max(out.B, 0)}
}

// Ramp is a gradient of evenly spaced colours.
type Ramp []Colour

// At returns the colour at t in [0,1]; t outside is clamped.
func (p Ramp) At(t float32) Colour {
	f := Clamp(t, 0, 1) * float32(len(p)-1)
	i := min(int(f), len(p)-2)
	return p[i].Mix(p[i+1], f-float32(i))
}

// Table samples the ramp at n evenly spaced places, for per-pixel lookups.
func (p Ramp) Table(n int) []Colour {
	out := make([]Colour, n)
	for i := range out {
		out[i] = p.At(float32(i) / float32(n-1))
	}
	return out
}

// HSV returns the colour of a hue in turns, saturation and value in [0,1].
func HSV(h, s, v float32) Colour {
	h -= float32(math.Floor(float64(h)))
	f := func(n float32) float32 {
		k := n + h*6
		if k >= 6 {
			k -= 6
		}
		return v - v*s*Clamp(min(k, 4-k), 0, 1)
	}
	return Colour{f(5), f(3), f(1)}
}

// Clamp limits v to [lo,hi].
//
// It branches instead of using min and max, which on floats also order NaN and
// signed zero and cost three times as much in the inner loops.
func Clamp(v, lo, hi float32) float32 {
	if v < lo {
		return lo
	}
	if v > hi {
		return hi
	}
	return v
}

// Smooth is the smoothstep from 0 at a to 1 at b; a may be above b.
func Smooth(a, b, x float32) float32 {
	t := Clamp((x-a)/(b-a), 0, 1)
	return t * t * (3 - 2*t)
}

// Lerp goes from a (t=0) to b (t=1).
func Lerp(a, b, t float32) float32 { return a + (b-a)*t }

// The float32 faces of the mathematics the scenes use everywhere.

func Sin(x float32) float32      { return float32(math.Sin(float64(x))) }
func Cos(x float32) float32      { return float32(math.Cos(float64(x))) }
func Sqrt(x float32) float32     { return float32(math.Sqrt(float64(x))) }
func Exp(x float32) float32      { return float32(math.Exp(float64(x))) }
func Pow(x, y float32) float32   { return float32(math.Pow(float64(x), float64(y))) }
func Atan2(y, x float32) float32 { return float32(math.Atan2(float64(y), float64(x))) }
func Hypot(x, y float32) float32 { return Sqrt(x*x + y*y) }
func Floor(x float32) float32    { return float32(math.Floor(float64(x))) }
func Abs(x float32) float32      { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// Pi as float32, so that angles need no conversions.
const Pi = float32(math.Pi)

// FastLog2 is the binary logarithm of a positive number to within 0.01:
// the exponent of the float plus a parabola through its mantissa.
func FastLog2(x float32) float32 {
	bits := math.Float32bits(x)
	m := math.Float32frombits(bits&0x7fffff | 0x3f800000)
	return float32(int32(bits>>23)-127) + (m-1)*(1.6797-0.33985*m)
}
