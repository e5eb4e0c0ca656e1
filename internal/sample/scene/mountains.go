package scene

import "vitrine/internal/sample/draw"

// paintMountains layers ridges from the hazy distance to the dark foreground,
// with snow on the peaks and, if there is a lake, the whole view mirrored.
func paintMountains(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	l := lightOf(s)
	H := float32(c.H)
	lake := s.Has("lake")
	horizon := H * r.Range(0.6, 0.68)
	if !lake {
		horizon = H * r.Range(0.7, 0.8)
	}
	lamp := paintSky(c, l, horizon, r)
	clouds(c, l, horizon, r.Range(0.1, 0.7), r)
	layers := r.Between(4, 6)
	rock := faces(c, lamp, r)
	for i := range layers {
		t := float32(i+1) / float32(layers)
		paintRidge(c, s, l, horizon, t, lamp, rock, r)
		if i%2 == 0 && (s.Has("mist") || s.Subject.Key == "misty") {
			mist(c, horizon*(0.72+0.28*t), H*0.09, l.haze.Mix(l.lamp, 0.3), 0.55, r)
		}
	}
	if s.Has("birds") {
		birds(c, r.Range(0.25, 0.75)*float32(c.W), horizon*0.35, l.shade, r)
	}
	if lake {
		mirror(c, l, horizon, lamp, r)
	} else {
		meadow(c, s, l, horizon, r)
	}
	if s.Has("pines") {
		pineRow(c, H*1.02, H*0.2, l.shade, r)
	}
	return draw.Look{Bloom: 0.35, Vignette: 0.3, Grain: 1.2}
}

// faces returns the light on broken rock per pixel, 0 to 1: ridged noise seen
// as relief and lit from the side of the lamp.
func faces(c *draw.Canvas, lamp draw.Point, r *draw.Rand) []float32 {
	u := c.Unit()
	wide := c.W + c.H/2
	height := draw.Field(wide, c.H, draw.NoiseSpec{CellX: u * 0.26, CellY: u * 0.26, Octaves: 5, Gain: 0.5, Seed: r.Uint64()})
	for i, h := range height {
		height[i] = draw.Abs(2*h - 1)
	}
	out := make([]float32, c.W*c.H)
	step := max(int(u/90), 1)
	side := float32(1)
	if lamp.X < float32(c.W)/2 {
		side = -1
	}
	gain := 0.09 * u / float32(step)
	for y := range c.H {
		// Rows are shifted against each other: the lattice of the noise then
		// runs askew and does not show as columns.
		row := height[y*wide+y/2:][:c.W]
		below := height[min(y+step, c.H-1)*wide+min(y+step, c.H-1)/2:][:c.W]
		for x, h := range row {
			to := min(x+step, c.W-1)
			out[y*c.W+x] = draw.Clamp(0.5+((row[to]-h)*side+(below[x]-h)*0.55)*gain, 0, 1)
		}
	}
	return out
}

// paintRidge paints one range; t runs from 0 (far) to 1 (near).
func paintRidge(c *draw.Canvas, s *Spec, l light, horizon, t float32, lamp draw.Point, rock []float32, r *draw.Rand) {
	sharp, peak := draw.Lerp(0.95, 0.5, t), draw.Lerp(0.66, 0.17, t)*horizon
	if s.Subject.Key == "hills" {
		sharp, peak = 0.05, peak*0.55
	}
	tops := draw.Ridge(c.W, c.Unit()*draw.Lerp(0.62, 0.42, t), 8, sharp, r.Uint64())
	for x := range tops {
		tops[x] = horizon + 2 - peak*draw.Pow(tops[x], 1.6)*2
	}
	base := l.haze.Mix(l.shade, draw.Pow(t, 0.8)*0.92)
	sunny := base.Mix(l.lamp, 0.5*(1-0.75*t))
	snowy := l.lamp.Mix(l.haze, 0.1).Mul(draw.Lerp(1, 0.75, t))
	snow := s.Subject.Key == "snowy" && t < 0.85
	shift := r.Intn(c.W)
	bumpy := draw.Lerp(0.5, 1.25, sharpness(s))
	scale := 1 / (peak + 1)
	c.Below(tops, int(horizon)+4, func(x, y int, depth float32) draw.Colour {
		at := x + shift
		if at >= c.W {
			at -= c.W
		}
		lit := 0.5 + (rock[y*c.W+at]-0.5)*bumpy
		fall := draw.Clamp(depth*scale, 0, 1)
		col := base.Mix(sunny, draw.Clamp(lit*(1-0.55*fall), 0, 1))
		if snow {
			line := draw.Smooth(0.75, 0.2, fall+(0.5-lit)*0.45)
			col = col.Mix(base.Mix(snowy, draw.Clamp(0.25+0.75*lit, 0, 1)), line)
		}
		return col.Mix(l.haze, fall*fall*draw.Lerp(0.85, 0.1, t))
	})
}

// sharpness is 1 where bare rock shows and 0 on soft hills.
func sharpness(s *Spec) float32 {
	if s.Subject.Key == "hills" {
		return 0
	}
	return 1
}

// mirror turns everything below the horizon into still water.
func mirror(c *draw.Canvas, l light, horizon float32, lamp draw.Point, r *draw.Rand) {
	h := int(horizon)
	u := c.Unit()
	waves := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.16, CellY: u * 0.014, Octaves: 3, Gain: 0.6, Seed: r.Uint64()})
	deep := l.shade.Mix(l.sky[0], 0.5)
	for y := h; y < c.H; y++ {
		d := float32(y-h) / float32(c.H-h)
		for x := range c.W {
			w := waves[y*c.W+x] - 0.5
			sy := int(float32(h) - float32(y-h)*0.95 + w*u*0.07*d)
			sx := x + int(w*u*0.05*d)
			col := c.At(min(max(sx, 0), c.W-1), min(max(sy, 0), h-1))
			c.Set(x, y, col.Mix(deep, 0.18+0.4*d).Plus(l.lamp.Mul(max(w-0.16, 0)*0.5)))
		}
	}
	glitter(c, l, horizon, lamp.X, r)
	c.Line(0, float32(h), float32(c.W), float32(h), 1.5, l.haze, 0.5)
}

// glitter lays the lamp's path on the water.
func glitter(c *draw.Canvas, l light, horizon, x float32, r *draw.Rand) {
	u := c.Unit()
	span := float32(c.H) - horizon
	for range 260 {
		t := draw.Pow(r.Float(), 1.3)
		y := horizon + 2 + t*span
		cx := x + r.Normal()*u*(0.012+0.06*t)
		half := u * (0.004 + 0.02*t) * r.Range(0.5, 1.6)
		c.GlowLine(cx-half, y, cx+half, y, max(u*0.004*(0.5+t), 1), l.lamp, 0.28*(1-0.5*t))
	}
}

func meadow(c *draw.Canvas, s *Spec, l light, horizon float32, r *draw.Rand) {
	tops := draw.Ridge(c.W, float32(c.W)*0.6, 4, 0, r.Uint64())
	for x := range tops {
		tops[x] = horizon - tops[x]*float32(c.H)*0.06 + 3
	}
	grass := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: c.Unit() * 0.2, CellY: c.Unit() * 0.05, Octaves: 5, Gain: 0.65, Seed: r.Uint64()})
	near := l.shade.Mix(matched(s.Palette.Ramp, 0.22), 0.45)
	far := l.haze.Mix(near, 0.6)
	c.Below(tops, c.H, func(x, y int, depth float32) draw.Colour {
		d := draw.Clamp(depth/(float32(c.H)-horizon), 0, 1)
		return far.Mix(near, d).Mul(0.7 + 0.6*grass[y*c.W+x])
	})
	if s.Has("flowers") {
		u := c.Unit()
		for range 420 {
			t := draw.Pow(r.Float(), 0.7)
			y := horizon + t*(float32(c.H)-horizon)
			col := draw.Pick(r, []draw.Colour{s.Palette.Accent, s.Palette.Ramp[3], s.Palette.Light()})
			c.Disc(r.Float()*float32(c.W), y, u*(0.0015+0.006*t*r.Float())+0.4, col.Mix(l.haze, 0.3*(1-t)), 0.85)
		}
	}
}

// pineRow plants a dark line of conifers along the lower edge.
func pineRow(c *draw.Canvas, ground, height float32, col draw.Colour, r *draw.Rand) {
	W := float32(c.W)
	edge := draw.Ridge(c.W, W*0.35, 3, 0, r.Uint64())
	for x := -height * 0.2; x < W+height*0.2; x += height * r.Range(0.08, 0.2) {
		side := draw.Abs(x/W-0.5) * 2
		k := edge[int(draw.Clamp(x, 0, W-1))] * (0.45 + 0.8*side*side) * r.Range(0.6, 1.1)
		pine(c, x, ground, height*k*1.5, col.Mul(r.Range(0.75, 1.15)), r)
	}
}

func pine(c *draw.Canvas, x, ground, h float32, col draw.Colour, r *draw.Rand) {
	tiers := 7
	pts := make([]draw.Point, 0, tiers*4+2)
	right := make([]draw.Point, 0, tiers*2)
	pts = append(pts, draw.Point{X: x, Y: ground - h})
	for i := range tiers {
		t := float32(i+1) / float32(tiers)
		w := h * 0.21 * t * r.Range(0.8, 1.15)
		y := ground - h + h*t
		pts = append(pts, draw.Point{X: x - w, Y: y}, draw.Point{X: x - w*0.5, Y: y - h*0.015})
		right = append(right, draw.Point{X: x + w, Y: y}, draw.Point{X: x + w*0.5, Y: y - h*0.015})
	}
	for i := len(right) - 1; i > 0; i -= 2 {
		pts = append(pts, right[i], right[i-1])
	}
	c.Poly(pts, col, 1)
}
