package scene

import "vitrine/internal/sample/draw"

// juliaPoints are constants whose Julia sets are rich: spirals, dendrites, rabbits.
var juliaPoints = [][2]float32{
	{-0.8, 0.156}, {-0.7269, 0.1889}, {0.285, 0.01}, {-0.4, 0.6}, {-0.835, -0.2321},
	{-0.70176, -0.3842}, {0.355, 0.355}, {-0.54, 0.54}, {0.37, 0.1}, {-0.162, 1.04},
}

// mandelbrotPlaces are centre and half width of views on the boundary.
var mandelbrotPlaces = [][3]float32{
	{-0.7435, 0.1314, 0.012}, {-0.748, 0.1, 0.03}, {0.2925, 0.015, 0.02}, {-1.25066, 0.02012, 0.006},
	{-0.16, 1.0405, 0.035}, {-0.5622, 0.6428, 0.03}, {0.3245, 0.0485, 0.02}, {-0.6, 0, 1.5}, {-1.7685, 0.0017, 0.02},
}

type plane struct {
	cx, cy, half, angle float32
	jx, jy              float32
	julia               bool
}

// paintFractal colours escape times smoothly along the palette and lights the
// result from the side, so that bands read as relief.
func paintFractal(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	best, detail := plane{}, float32(-1)
	for range 24 {
		p := fractalView(s.Subject.Key == "julia", r)
		if d := p.detail(); d > detail {
			best, detail = p, d
		}
	}
	paintEscape(c, s, escapeField(c, best), r)
	return draw.Look{Bloom: 0.35, Vignette: 0.35, Grain: 0.8}
}

func fractalView(julia bool, r *draw.Rand) plane {
	p := plane{julia: julia, angle: r.Angle()}
	if julia {
		j := draw.Pick(r, juliaPoints)
		p.jx, p.jy = j[0]+r.Normal()*0.003, j[1]+r.Normal()*0.003
		p.cx, p.cy, p.half = r.Normal()*0.35, r.Normal()*0.35, r.Range(0.25, 1.1)
		return p
	}
	m := draw.Pick(r, mandelbrotPlaces)
	p.cx, p.cy, p.half = m[0]+r.Normal()*0.25*m[2], m[1]+r.Normal()*0.25*m[2], m[2]*r.Range(0.35, 1)
	return p
}

// detail measures on a coarse grid how much happens in a view: many places of
// high and differing escape time, few inside the set.
func (p plane) detail() float32 {
	small := &draw.Canvas{W: 20, H: 16}
	score := float32(0)
	field := escapeField(small, p)
	for i, v := range field {
		if v < 0 {
			score -= 0.6
			continue
		}
		if i > 0 && field[i-1] >= 0 {
			score += draw.Smooth(0.2, 2, draw.Abs(v-field[i-1]))
		}
	}
	return score
}

func escapeField(c *draw.Canvas, p plane) []float32 {
	const limit = 84
	out := make([]float32, c.W*c.H)
	cos, sin := draw.Cos(p.angle), draw.Sin(p.angle)
	scale := p.half * 2 / c.Unit()
	for y := range c.H {
		v := (float32(y) - float32(c.H)/2) * scale
		for x := range c.W {
			u := (float32(x) - float32(c.W)/2) * scale
			zx, zy := p.cx+u*cos-v*sin, p.cy+u*sin+v*cos
			kx, ky := zx, zy
			if p.julia {
				kx, ky = p.jx, p.jy
			}
			out[y*c.W+x] = escape(zx, zy, kx, ky, limit)
		}
	}
	return out
}

// escape returns the smooth escape time, or -1 inside the set.
func escape(zx, zy, kx, ky float32, limit int) float32 {
	for i := range limit {
		x2, y2 := zx*zx, zy*zy
		if x2+y2 > 64 {
			return float32(i) + 1 - smoothEscape(x2+y2)
		}
		zx, zy = x2-y2+kx, 2*zx*zy+ky
	}
	return -1
}

// smoothEscape is the fraction of an iteration by which a point overshot the
// escape radius 8; m is its squared distance from the origin.
func smoothEscape(m float32) float32 { return draw.FastLog2(draw.FastLog2(m) / 6) }

func paintEscape(c *draw.Canvas, s *Spec, field []float32, r *draw.Rand) {
	table := append(append(draw.Ramp{}, s.Palette.Ramp...), s.Palette.Ramp[3], s.Palette.Accent, s.Palette.Ramp[1], s.Palette.Deep()).Table(512)
	phase, stretch := r.Float(), r.Range(0.16, 0.34)
	inside := s.Palette.Deep().Mul(0.35)
	c.Shade(func(x, y int) draw.Colour {
		v := field[y*c.W+x]
		if v < 0 {
			return inside
		}
		w := draw.Sqrt(max(v, 0))*stretch + phase
		w -= draw.Floor(w)
		col := table[int(w*511)]
		if x > 0 && y > 0 && field[y*c.W+x-1] >= 0 && field[(y-1)*c.W+x] >= 0 {
			relief := draw.Clamp((v-field[y*c.W+x-1])+(v-field[(y-1)*c.W+x]), -1.2, 1.2)
			col = col.Mul(1 + relief*0.28)
		}
		return col.Mul(0.75 + 0.5*draw.Clamp(v/30, 0, 1))
	})
}
