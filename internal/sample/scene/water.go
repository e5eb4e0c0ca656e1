package scene

import "vitrine/internal/sample/draw"

// paintOcean rolls rows of waves towards the viewer, each with its own crest of foam.
func paintOcean(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	l := lightOf(s)
	W, H, u := float32(c.W), float32(c.H), c.Unit()
	horizon := H * r.Range(0.36, 0.5)
	lamp := paintSky(c, l, horizon, r)
	clouds(c, l, horizon, r.Range(0.3, 0.9), r)
	sea := append(draw.Ramp{}, matched(s.Palette.Ramp, 0.05).Mix(l.shade, 0.4), matched(s.Palette.Ramp, 0.16), l.haze)
	if s.Has("ship") {
		ship(c, W*r.Range(0.25, 0.75), horizon, u*r.Range(0.07, 0.12), l.shade)
	}
	texture := ripples(c, horizon, r)
	const rows = 13
	for i := range rows {
		wave(c, l, sea, horizon, float32(i)/(rows-1), lamp, texture, r)
	}
	if s.Has("lighthouse") {
		lighthouse(c, l, W*r.Range(0.12, 0.25), horizon, r)
	}
	if s.Has("gulls") {
		birds(c, W*r.Range(0.3, 0.8), horizon*0.45, l.shade, r)
	}
	return draw.Look{Bloom: 0.4, Vignette: 0.35, Grain: 1.3}
}

func wave(c *draw.Canvas, l light, sea draw.Ramp, horizon, t float32, lamp draw.Point, texture []float32, r *draw.Rand) {
	W, H, u := float32(c.W), float32(c.H), c.Unit()
	place := func(t float32) float32 { return horizon + (H-horizon)*draw.Pow(t, 1.7)*0.97 }
	base := place(t)
	height, length := u*(0.004+0.075*t*t), u*(0.1+0.6*t)
	phase, seed := r.Angle(), r.Uint64()
	tops := make([]float32, c.W)
	for x := range tops {
		f := float32(x) / length
		swell := draw.Sin(f*draw.Pi*1.1 + phase)
		crest := 1 - draw.Abs(draw.Sin(f*draw.Pi+phase*1.7+0.8*draw.Noise(f*1.3, 3, seed)))
		tops[x] = base - height*(0.5*swell+1.1*crest*crest+0.7*draw.Noise(f*2.3, 1, seed))
	}
	deep, crown := sea.At(0.42-0.4*t), sea.At(0.9-0.55*t)
	white := l.lamp.Mix(draw.Grey(1), 0.4)
	until := c.H
	if t < 1 {
		until = int(place(min(t+2.2/13, 1)) + height)
	}
	fallScale, foamScale := 1/(height*2.4+4), 1/(height*0.22+1)
	nearScale := 1 / (W * (0.1 + 0.2*t))
	c.Below(tops, until, func(x, y int, depth float32) draw.Colour {
		n := texture[y*c.W+x]
		fall := draw.Clamp(depth*fallScale, 0, 1)
		col := crown.Mix(deep, fall*(2-fall)).Mul(0.7 + 0.6*n)
		foam := draw.Smooth(0.6, 0.95, n+0.62*draw.Clamp(1-depth*foamScale, 0, 1)) * (0.15 + 0.75*t)
		col = col.Mix(white, foam)
		if near := 1 - draw.Abs(float32(x)-lamp.X)*nearScale; near > 0 {
			col = col.Plus(l.lamp.Mul(draw.Smooth(0.58, 0.75, n) * near * (0.8 - 0.6*t)))
		}
		return col
	})
}

// ripples is the texture of the whole sea in perspective: noise squeezed
// towards the horizon.
func ripples(c *draw.Canvas, horizon float32, r *draw.Rand) []float32 {
	u := c.Unit()
	flat := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.1, CellY: u * 0.035, Octaves: 4, Gain: 0.6, Seed: r.Uint64()})
	out := make([]float32, len(flat))
	mid := c.W / 2
	for y := max(int(horizon)-c.H/8, 0); y < c.H; y++ {
		d := max((float32(y)-horizon)/(float32(c.H)-horizon), 0)
		from := int(float32(c.H-1) * draw.Sqrt(d))
		zoom := 2.4 - 1.7*d
		for x := range c.W {
			sx := mid + int(float32(x-mid)*zoom)
			sx = (sx%c.W + c.W) % c.W
			out[y*c.W+x] = flat[from*c.W+sx]
		}
	}
	return out
}

func ship(c *draw.Canvas, x, y, size float32, col draw.Colour) {
	c.Poly([]draw.Point{{X: x - size, Y: y - size*0.18}, {X: x + size, Y: y - size*0.22}, {X: x + size*0.75, Y: y + size*0.1}, {X: x - size*0.75, Y: y + size*0.1}}, col, 0.95)
	for i, k := range []float32{-0.45, 0.05, 0.5} {
		h := size * []float32{1.1, 1.5, 1.15}[i]
		c.Line(x+k*size, y-size*0.15, x+k*size, y-h-size*0.1, max(size*0.03, 0.8), col, 1)
		c.Poly([]draw.Point{{X: x + k*size - size*0.22, Y: y - size*0.35}, {X: x + k*size + size*0.25, Y: y - size*0.35}, {X: x + k*size + size*0.17, Y: y - h}, {X: x + k*size - size*0.14, Y: y - h}}, col.Mix(draw.Hex(0xf2e6cf), 0.55), 0.95)
	}
}

func lighthouse(c *draw.Canvas, l light, x, horizon float32, r *draw.Rand) {
	u := c.Unit()
	top, w := horizon-u*0.3, u*0.028
	rock := draw.Blob(x, horizon+u*0.05, u*0.2, u*0.085, 0.5, 40, r.Uint64())
	c.Poly(rock, l.shade.Mix(l.haze, 0.12), 1)
	for i := range 5 {
		t0, t1 := float32(i)/5, float32(i+1)/5
		col := draw.Hex(0xf3ede2)
		if i%2 == 0 {
			col = draw.Hex(0xb8323a)
		}
		k0, k1 := 0.62+0.38*t0, 0.62+0.38*t1
		y0, y1 := draw.Lerp(top, horizon, t0), draw.Lerp(top, horizon, t1)
		c.PolyShade([]draw.Point{{X: x - w*k0, Y: y0}, {X: x + w*k0, Y: y0}, {X: x + w*k1, Y: y1 + 0.5}, {X: x - w*k1, Y: y1 + 0.5}}, 1, func(px, _ int) draw.Colour {
			return col.Mix(l.shade, draw.Clamp((float32(px)-x)/w*0.45+0.3, 0, 0.8))
		})
	}
	box(c, x-w*0.4, top-w*0.9, w*0.8, w*0.9, draw.Hex(0xffeeb0))
	c.Poly([]draw.Point{{X: x - w*0.62, Y: top - w*0.85}, {X: x + w*0.62, Y: top - w*0.85}, {X: x, Y: top - w*1.7}}, draw.Hex(0x8a2530).Mix(l.shade, 0.3), 1)
	c.Glow(x, top-w*0.45, u*0.16, draw.Hex(0xffe6a0), 0.9)
	c.Poly([]draw.Point{{X: x, Y: top - w*0.6}, {X: float32(c.W), Y: top - u*0.12}, {X: float32(c.W), Y: top + u*0.06}}, draw.Hex(0xfff2c8), 0.16)
}

// paintKoi looks down into a pond: koi, lily pads, and rings on the water.
func paintKoi(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	u, p := c.Unit(), s.Palette
	W, H := float32(c.W), float32(c.H)
	depth := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.5, CellY: u * 0.5, Octaves: 4, Gain: 0.5, Seed: r.Uint64()})
	water := ramp(0x03161b, 0x0a3a3f, 0x166a68, 0x3fa08f)
	for i := range water {
		water[i] = tinted(water[i], p, 0.3)
	}
	c.Shade(func(x, y int) draw.Colour { return water.At(depth[y*c.W+x]*1.1 - 0.1) })
	for range r.Between(4, 7) {
		koi(c, p, r.Float()*W, r.Float()*H, u*r.Range(0.12, 0.2), r)
	}
	veins(c, water[3].Mix(p.Light(), 0.5), 0.32, r.Uint64())
	if s.Has("lilies") {
		for range r.Between(4, 9) {
			lily(c, r.Float()*W, r.Float()*H, u*r.Range(0.05, 0.11), p, r)
		}
	}
	rings := r.Between(2, 5)
	if s.Has("rain") {
		rings = 22
	}
	for range rings {
		x, y, size := r.Float()*W, r.Float()*H, u*r.Range(0.04, 0.15)
		for k := float32(1); k > 0.2; k -= 0.27 {
			c.Ring(x, y, size*k, max(u*0.004, 1), p.Light(), 0.34*k)
			c.Ring(x+u*0.003, y+u*0.004, size*k, max(u*0.004, 1), water[0], 0.3*k)
		}
	}
	return draw.Look{Bloom: 0.3, Vignette: 0.4, Grain: 1.1}
}

// veins lays the bright net that waves throw on the ground of a pool.
func veins(c *draw.Canvas, col draw.Colour, strength float32, seed uint64) {
	u := c.Unit()
	a := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.12, CellY: u * 0.12, Octaves: 2, Gain: 0.5, Seed: seed})
	b := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.1, CellY: u * 0.1, Octaves: 2, Gain: 0.5, Seed: seed + 1})
	for i := range a {
		d := draw.Abs(a[i] - b[i])
		if d < 0.06 {
			k := 1 - d/0.06
			p := c.Pix[3*i : 3*i+3]
			k *= k * strength
			p[0] += col.R * k
			p[1] += col.G * k
			p[2] += col.B * k
		}
	}
}

func koi(c *draw.Canvas, p *Palette, x, y, size float32, r *draw.Rand) {
	angle, bend := r.Angle(), r.Range(-0.8, 0.8)
	white, warm := draw.Hex(0xf6efe6), p.Ramp[2].Mix(p.Ramp[3], r.Float())
	body := white
	if r.Chance(0.5) {
		body, warm = warm, white
	}
	const n = 22
	spine := make([]draw.Point, n)
	for i := range spine {
		t := float32(i) / (n - 1)
		a := angle + bend*t*t
		spine[i] = draw.Point{X: x - draw.Cos(a)*t*size*2, Y: y - draw.Sin(a)*t*size*2}
	}
	width := func(t float32) float32 {
		return size * 0.42 * draw.Pow(draw.Sin(draw.Pi*draw.Clamp(t*0.9+0.07, 0, 1)), 0.75)
	}
	off := size * 0.22
	for i, q := range spine {
		c.Shadow(q.X+off, q.Y+off, width(float32(i)/n)*1.5, width(float32(i)/n)*1.5, draw.Hex(0x02100f), 0.16)
	}
	end := spine[n-1]
	for _, k := range []float32{-0.45, 0.45} {
		c.Poly(draw.Petal(end.X, end.Y, angle+bend+draw.Pi+k, size*0.75, size*0.34, 0.6), body.Mix(warm, 0.3), 0.75)
	}
	for _, k := range []float32{-1, 1} {
		c.Poly(draw.Petal(spine[6].X, spine[6].Y, angle+draw.Pi+k*1.0, size*0.6, size*0.3, 0.6), body, 0.6)
	}
	outline := make([]draw.Point, 0, 2*n)
	for i := range 2 * n {
		j, side := i, float32(1)
		if i >= n {
			j, side = 2*n-1-i, -1
		}
		t := float32(j) / (n - 1)
		a := angle + bend*t*t
		outline = append(outline, draw.Point{X: spine[j].X - draw.Sin(a)*side*width(t)/2, Y: spine[j].Y + draw.Cos(a)*side*width(t)/2})
	}
	seed := r.Uint64()
	c.PolyShade(outline, 1, func(px, py int) draw.Colour {
		fx, fy := (float32(px)-x)/size, (float32(py)-y)/size
		patch := draw.Smooth(0.5, 0.56, draw.Fractal(fx*1.9+9, fy*1.9+9, 2, seed))
		return body.Mix(warm, patch).Mul(0.9 + 0.2*draw.Fractal(fx*7+9, fy*7+9, 2, seed+1))
	})
	for _, k := range []float32{-1, 1} {
		a := angle + k*0.6
		c.Disc(x-draw.Cos(angle)*size*0.22+draw.Cos(a)*size*0.1, y-draw.Sin(angle)*size*0.22+draw.Sin(a)*size*0.1+k*0, size*0.03, draw.Hex(0x101010), 1)
	}
}

func lily(c *draw.Canvas, x, y, size float32, p *Palette, r *draw.Rand) {
	c.Shadow(x+size*0.25, y+size*0.25, size*1.25, size*1.25, draw.Hex(0x02100f), 0.7)
	notch, n := r.Angle(), 40
	pts := []draw.Point{{X: x, Y: y}}
	for i := range n {
		a := notch + 0.2 + (2*draw.Pi-0.4)*float32(i)/float32(n-1)
		pts = append(pts, draw.Point{X: x + draw.Cos(a)*size, Y: y + draw.Sin(a)*size})
	}
	green := draw.Hex(0x3f7f3a).Mix(p.Ramp[1], 0.25)
	c.PolyShade(pts, 1, func(px, py int) draw.Colour {
		dx, dy := float32(px)-x, float32(py)-y
		vein := draw.Abs(draw.Sin(draw.Atan2(dy, dx) * 9))
		return green.Mul(0.75 + 0.35*vein + 0.25*draw.Hypot(dx, dy)/size)
	})
	if r.Chance(0.45) {
		flower(c, x, y, size*0.62, 11, p.Light(), p.Accent.Mix(p.Ramp[3], 0.5), draw.Hex(0xffd84d), r)
	}
}
