package draw

import (
	"image"

	"golang.org/x/image/vector"
)

// Disc covers a filled circle with opacity a.
func (c *Canvas) Disc(x, y, r float32, col Colour, a float32) {
	x0, y0, x1, y1 := c.box(x, y, r)
	for j := y0; j < y1; j++ {
		dy := float32(j) + 0.5 - y
		for i := x0; i < x1; i++ {
			dx := float32(i) + 0.5 - x
			d2 := dx*dx + dy*dy
			if d2 >= (r+0.5)*(r+0.5) {
				continue
			}
			cover := a
			if inner := r - 0.5; inner < 0 || d2 > inner*inner {
				cover = a * Clamp(r+0.5-Sqrt(d2), 0, 1)
			}
			c.Blend(i, j, col, cover)
		}
	}
}

// Ball paints a shaded sphere lit from (lx,ly), a direction on the picture plane.
func (c *Canvas) Ball(x, y, r, lx, ly float32, dark, light Colour) {
	x0, y0, x1, y1 := c.box(x, y, r)
	for j := y0; j < y1; j++ {
		for i := x0; i < x1; i++ {
			dx, dy := (float32(i)+0.5-x)/r, (float32(j)+0.5-y)/r
			d2 := dx*dx + dy*dy
			cover := Clamp((1-Sqrt(d2))*r+0.5, 0, 1)
			if cover == 0 {
				continue
			}
			z := Sqrt(max(1-d2, 0))
			lit := Clamp(dx*lx+dy*ly+z*0.55, 0, 1)
			c.Blend(i, j, dark.Mix(light, lit), cover)
		}
	}
}

// Ring covers a circle line of the given width.
func (c *Canvas) Ring(x, y, r, width float32, col Colour, a float32) {
	x0, y0, x1, y1 := c.box(x, y, r+width)
	half := width/2 + 0.5
	outer, inner := (r+half)*(r+half), max(r-half, 0)*max(r-half, 0)
	for j := y0; j < y1; j++ {
		dy := float32(j) + 0.5 - y
		for i := x0; i < x1; i++ {
			dx := float32(i) + 0.5 - x
			d2 := dx*dx + dy*dy
			if d2 > outer || d2 < inner {
				continue
			}
			if cover := Clamp(half-Abs(Sqrt(d2)-r), 0, min(width, 1)); cover > 0 {
				c.Blend(i, j, col, cover*a)
			}
		}
	}
}

// Glow adds a soft round light that fades to nothing at radius r.
func (c *Canvas) Glow(x, y, r float32, col Colour, strength float32) {
	x0, y0, x1, y1 := c.box(x, y, r)
	inv := 1 / (r * r)
	for j := y0; j < y1; j++ {
		dy := float32(j) + 0.5 - y
		for i := x0; i < x1; i++ {
			dx := float32(i) + 0.5 - x
			if t := 1 - (dx*dx+dy*dy)*inv; t > 0 {
				c.Add(i, j, col, t*t*t*strength)
			}
		}
	}
}

// Shadow darkens softly around a point; strength 1 is black in the middle.
func (c *Canvas) Shadow(x, y, rx, ry float32, col Colour, strength float32) {
	x0, y0, x1, y1 := c.clip(x-rx, y-ry, x+rx+1, y+ry+1)
	for j := y0; j < y1; j++ {
		dy := (float32(j) + 0.5 - y) / ry
		for i := x0; i < x1; i++ {
			dx := (float32(i) + 0.5 - x) / rx
			if t := 1 - dx*dx - dy*dy; t > 0 {
				c.Blend(i, j, col, t*t*strength)
			}
		}
	}
}

// Line covers a straight stroke with round ends.
func (c *Canvas) Line(ax, ay, bx, by, width float32, col Colour, a float32) {
	c.segment(ax, ay, bx, by, width/2+0.5, func(i, j int, d float32) {
		c.Blend(i, j, col, Clamp(width/2+0.5-d, 0, min(width, 1))*a)
	})
}

// GlowLine adds a straight light that fades over the radius r.
func (c *Canvas) GlowLine(ax, ay, bx, by, r float32, col Colour, strength float32) {
	c.segment(ax, ay, bx, by, r, func(i, j int, d float32) {
		t := 1 - d/r
		c.Add(i, j, col, t*t*t*strength)
	})
}

// segment visits the pixels within reach of a segment together with their
// distance. Rows are narrowed to the stroke first: long thin diagonals would
// otherwise cost their whole bounding box.
func (c *Canvas) segment(ax, ay, bx, by, reach float32, visit func(i, j int, d float32)) {
	dx, dy := bx-ax, by-ay
	length2 := max(dx*dx+dy*dy, 1e-6)
	x0, y0, x1, y1 := c.clip(min(ax, bx)-reach, min(ay, by)-reach, max(ax, bx)+reach+1, max(ay, by)+reach+1)
	for j := y0; j < y1; j++ {
		py := float32(j) + 0.5 - ay
		lo, hi := x0, x1
		if Abs(dy) > 1e-3 {
			half := reach * Sqrt(length2) / Abs(dy)
			mid := ax + py*dx/dy
			near, far := min(ax, bx)-reach, max(ax, bx)+reach
			lo = max(lo, int(max(mid-half-1, near)))
			hi = min(hi, int(min(mid+half+2, far+1)))
		}
		for i := lo; i < hi; i++ {
			px := float32(i) + 0.5 - ax
			t := Clamp((px*dx+py*dy)/length2, 0, 1)
			ex, ey := px-t*dx, py-t*dy
			if d2 := ex*ex + ey*ey; d2 < reach*reach {
				visit(i, j, Sqrt(d2))
			}
		}
	}
}

// Point is a place in pixels.
type Point struct{ X, Y float32 }

// Poly covers a closed polygon with one colour.
func (c *Canvas) Poly(points []Point, col Colour, a float32) {
	c.PolyShade(points, a, func(int, int) Colour { return col })
}

// PolyShade covers a closed polygon with the colours of f.
func (c *Canvas) PolyShade(points []Point, a float32, f func(x, y int) Colour) {
	if len(points) < 3 {
		return
	}
	lo, hi := points[0], points[0]
	for _, p := range points[1:] {
		lo = Point{min(lo.X, p.X), min(lo.Y, p.Y)}
		hi = Point{max(hi.X, p.X), max(hi.Y, p.Y)}
	}
	x0, y0, x1, y1 := c.clip(Floor(lo.X), Floor(lo.Y), hi.X+1, hi.Y+1)
	if x0 >= x1 || y0 >= y1 {
		return
	}
	w, h := x1-x0, y1-y0
	mask := c.coverage(points, x0, y0, w, h)
	for j := range h {
		for i, m := range mask[j*w : j*w+w] {
			if m != 0 {
				c.Blend(x0+i, y0+j, f(x0+i, y0+j), float32(m)*a/255)
			}
		}
	}
}

// coverage rasterises the polygon into w*h bytes whose origin is (x0,y0).
func (c *Canvas) coverage(points []Point, x0, y0, w, h int) []uint8 {
	if cap(c.mask) < w*h {
		c.mask = make([]uint8, w*h)
	}
	mask := c.mask[:w*h]
	clear(mask)
	raster := vector.NewRasterizer(w, h)
	for k, p := range points {
		x, y := p.X-float32(x0), p.Y-float32(y0)
		if k == 0 {
			raster.MoveTo(x, y)
		} else {
			raster.LineTo(x, y)
		}
	}
	raster.ClosePath()
	dst := &image.Alpha{Pix: mask, Stride: w, Rect: image.Rect(0, 0, w, h)}
	raster.Draw(dst, dst.Rect, image.Opaque, image.Point{})
	return mask
}

// Petal returns a leaf shape from (x,y) of the given length in direction angle;
// width is the full width, pinch moves the widest place (0 root … 1 tip).
func Petal(x, y, angle, length, width, pinch float32) []Point {
	const n = 14
	out := make([]Point, 0, 2*n)
	cos, sin := Cos(angle), Sin(angle)
	edge := func(t, side float32) Point {
		bulge := Pow(max(Sin(Pi*Pow(t, Lerp(0.6, 1.7, pinch))), 0), 0.8)
		along, across := t*length, side*bulge*width/2
		return Point{x + along*cos - across*sin, y + along*sin + across*cos}
	}
	for i := range n {
		out = append(out, edge(float32(i)/n, -1))
	}
	for i := n; i > 0; i-- {
		out = append(out, edge(float32(i)/n, 1))
	}
	return out
}

// Blob returns a closed, softly irregular outline around (x,y).
func Blob(x, y, rx, ry, wobble float32, n int, seed uint64) []Point {
	out := make([]Point, n)
	for i := range out {
		t := float32(i) / float32(n) * 2 * Pi
		k := 1 + wobble*(2*Noise(Cos(t)*1.6+9, Sin(t)*1.6+9, seed)-1)
		out[i] = Point{x + Cos(t)*rx*k, y + Sin(t)*ry*k}
	}
	return out
}
