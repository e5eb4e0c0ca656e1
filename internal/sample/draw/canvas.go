package draw

import "sync"

// Canvas is a picture being painted: three float32 per pixel, row by row.
type Canvas struct {
	W, H int
	Pix  []float32
	mask []uint8 // scratch coverage of Poly, reused between strokes
}

// spare keeps the pixels of finished canvases: at five megabytes a picture,
// fresh ones would be a tenth of the time of a picture.
var spare sync.Pool

// NewCanvas returns a black canvas of w×h pixels.
func NewCanvas(w, h int) *Canvas {
	n := w * h * 3
	if old, ok := spare.Get().(*[]float32); ok && cap(*old) >= n {
		pix := (*old)[:n]
		clear(pix)
		return &Canvas{W: w, H: h, Pix: pix}
	}
	return &Canvas{W: w, H: h, Pix: make([]float32, n)}
}

// Release hands the pixels back for the next canvas; c must not be used again.
func (c *Canvas) Release() {
	spare.Put(&c.Pix)
	c.Pix = nil
}

// Unit is the shorter side in pixels: scenes measure in it so that a small
// rendering shows the same picture as a large one.
func (c *Canvas) Unit() float32 { return float32(min(c.W, c.H)) }

// At returns the colour of a pixel; the place must be inside.
func (c *Canvas) At(x, y int) Colour {
	i := (y*c.W + x) * 3
	return Colour{c.Pix[i], c.Pix[i+1], c.Pix[i+2]}
}

// Set paints one pixel; the place must be inside.
func (c *Canvas) Set(x, y int, col Colour) {
	i := (y*c.W + x) * 3
	c.Pix[i], c.Pix[i+1], c.Pix[i+2] = col.R, col.G, col.B
}

// Blend covers one pixel with opacity a in [0,1]; the place must be inside.
func (c *Canvas) Blend(x, y int, col Colour, a float32) {
	p := c.Pix[(y*c.W+x)*3:]
	p = p[:3:3]
	p[0] += (col.R - p[0]) * a
	p[1] += (col.G - p[1]) * a
	p[2] += (col.B - p[2]) * a
}

// Add shines light of strength a on one pixel; the place must be inside.
func (c *Canvas) Add(x, y int, col Colour, a float32) {
	p := c.Pix[(y*c.W+x)*3:]
	p = p[:3:3]
	p[0] += col.R * a
	p[1] += col.G * a
	p[2] += col.B * a
}

// Fill paints every pixel with one colour.
func (c *Canvas) Fill(col Colour) {
	for i := 0; i < len(c.Pix); i += 3 {
		c.Pix[i], c.Pix[i+1], c.Pix[i+2] = col.R, col.G, col.B
	}
}

// Shade paints every pixel with f(x,y).
func (c *Canvas) Shade(f func(x, y int) Colour) {
	i := 0
	for y := range c.H {
		for x := range c.W {
			col := f(x, y)
			c.Pix[i], c.Pix[i+1], c.Pix[i+2] = col.R, col.G, col.B
			i += 3
		}
	}
}

// Vertical paints rows y0 (inclusive) to y1 (exclusive) with a ramp from top to bottom.
func (c *Canvas) Vertical(y0, y1 int, ramp Ramp) {
	for y := max(y0, 0); y < min(y1, c.H); y++ {
		col := ramp.At(float32(y-y0) / float32(max(y1-y0-1, 1)))
		row := c.Pix[y*c.W*3 : (y+1)*c.W*3]
		for i := 0; i < len(row); i += 3 {
			row[i], row[i+1], row[i+2] = col.R, col.G, col.B
		}
	}
}

// Below fills each column from the skyline tops[x] down to the row until
// (exclusive). The first pixel of a column is covered in part, which is what
// smooths the line. f also receives the depth below the line in pixels.
func (c *Canvas) Below(tops []float32, until int, f func(x, y int, depth float32) Colour) {
	until = min(until, c.H)
	highest := c.H
	for _, t := range tops {
		highest = min(highest, int(t)-1)
	}
	for y := max(highest, 0); y < until; y++ {
		for x, top := range tops {
			depth := float32(y) - top + 0.5
			if depth >= 1 {
				c.Set(x, y, f(x, y, depth))
			} else if depth > 0 {
				c.Blend(x, y, f(x, y, depth), depth)
			}
		}
	}
}

// box clips the square around (x,y) with half side r to the canvas.
func (c *Canvas) box(x, y, r float32) (x0, y0, x1, y1 int) {
	return c.clip(x-r-1, y-r-1, x+r+2, y+r+2)
}

func (c *Canvas) clip(ax, ay, bx, by float32) (x0, y0, x1, y1 int) {
	w, h := float32(c.W), float32(c.H)
	return int(Clamp(ax, 0, w)), int(Clamp(ay, 0, h)), int(Clamp(bx, 0, w)), int(Clamp(by, 0, h))
}
