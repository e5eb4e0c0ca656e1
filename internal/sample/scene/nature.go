package scene

import "vitrine/internal/sample/draw"

// paintAurora hangs curtains of light over a dark forest and, maybe, a lake.
func paintAurora(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	W, H := float32(c.W), float32(c.H)
	l := hours["night"]
	horizon := H * r.Range(0.72, 0.82)
	if s.Has("lake") {
		horizon = H * 0.62
	}
	c.Vertical(0, c.H, draw.Ramp{p.Deep().Mul(0.35), draw.Hex(0x08142c), draw.Hex(0x15304a).Mix(p.Ramp[1], 0.3), draw.Hex(0x2a5560).Mix(p.Ramp[2], 0.3)})
	stars(c, horizon, 1.4, r)
	for range r.Between(2, 4) {
		curtain(c, p, horizon, r)
	}
	far := draw.Ridge(c.W, W*0.4, 6, 0.6, r.Uint64())
	for x := range far {
		far[x] = horizon - far[x]*H*0.16 + 3
	}
	hill := draw.Hex(0x0a1a28).Mix(p.Ramp[1], 0.2)
	c.Below(far, c.H, func(_, _ int, _ float32) draw.Colour { return hill })
	if s.Has("lake") {
		pineRow(c, horizon+1, H*0.1, draw.Hex(0x040a10), r)
		mirror(c, light{shade: draw.Hex(0x03080f), haze: p.Ramp[3], lamp: p.Ramp[3].Mul(0.6), sky: l.sky}, horizon, draw.Point{X: W / 2}, r)
	} else if s.Has("snow") {
		ground := draw.Ridge(c.W, W*0.7, 3, 0, r.Uint64())
		for x := range ground {
			ground[x] = horizon + H*0.06 - ground[x]*H*0.07
		}
		c.Below(ground, c.H, func(x, y int, d float32) draw.Colour {
			return draw.Hex(0x8fb4c9).Mix(p.Ramp[3], 0.35).Mul(0.62 - 0.4*draw.Clamp(d/(H*0.25), 0, 1))
		})
	}
	if s.Has("cabin") {
		cabin(c, W*r.Range(0.25, 0.7), max(horizon+H*0.06, H*0.84), u*0.11)
	}
	pineRow(c, H*1.03, H*0.27, draw.Hex(0x03070c), r)
	return draw.Look{Bloom: 0.5, Vignette: 0.35, Grain: 1.4}
}

// curtain is one band of aurora: a wandering lower edge with rays that fade upwards.
func curtain(c *draw.Canvas, p *Palette, horizon float32, r *draw.Rand) {
	H := float32(c.H)
	edge := draw.Ridge(c.W, float32(c.W)*0.5, 3, 0, r.Uint64())
	rays := draw.Ridge(c.W, float32(c.W)*0.09, 4, 0, r.Uint64())
	low, height := horizon*r.Range(0.5, 0.95), H*r.Range(0.3, 0.55)
	foot, head := p.Ramp[3].Mix(draw.Hex(0x6dffb0), 0.45), p.Ramp[2].Mix(p.Accent, 0.25)
	strength := r.Range(0.5, 0.95)
	for x := range c.W {
		bottom := low - (edge[x]-0.3)*H*0.5
		reach := height * (0.4 + 1.1*rays[x])
		power := strength * draw.Smooth(0.18, 0.75, rays[x])
		for y := max(int(bottom-reach), 0); y < min(int(bottom+H*0.03), c.H); y++ {
			t := (bottom - float32(y)) / reach
			fade := draw.Smooth(-0.08, 0.06, t) * (1 - t) * (1 - t)
			c.Add(x, y, foot.Mix(head, draw.Clamp(t*1.5, 0, 1)), power*fade)
		}
	}
}

func cabin(c *draw.Canvas, x, y, size float32) {
	wall, roof := draw.Hex(0x1a120d), draw.Hex(0x0c0d12)
	box(c, x-size*0.6, y-size*0.5, size*1.2, size*0.52, wall)
	c.Poly([]draw.Point{{X: x - size*0.78, Y: y - size*0.46}, {X: x + size*0.78, Y: y - size*0.46}, {X: x, Y: y - size*1.05}}, roof, 1)
	lamp := draw.Hex(0xffc65a)
	for _, k := range []float32{-0.38, 0.12} {
		box(c, x+k*size, y-size*0.36, size*0.26, size*0.22, lamp)
		c.Glow(x+k*size+size*0.13, y-size*0.25, size*0.7, lamp, 0.55)
	}
	box(c, x+size*0.3, y-size*1.05, size*0.14, size*0.35, wall)
}

// paintTree grows one tree by recursion on a hill before a wide sky.
func paintTree(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	l := lightOf(s)
	W, H, u := float32(c.W), float32(c.H), c.Unit()
	horizon := H * r.Range(0.74, 0.82)
	paintSky(c, l, horizon, r)
	clouds(c, l, horizon, r.Range(0.1, 0.6), r)
	c.Vertical(int(horizon), c.H, draw.Ramp{l.haze, l.haze.Mix(l.shade, 0.5)})
	for i := range 3 {
		t := float32(i+1) / 3
		hill := draw.Ridge(c.W, W*0.7, 4, 0, r.Uint64())
		for x := range hill {
			hill[x] = horizon + H*0.1*t - hill[x]*H*0.13
		}
		col := l.haze.Mix(l.shade.Mix(matched(s.Palette.Ramp, 0.25), 0.5), 0.35+0.6*t)
		c.Below(hill, c.H, func(_, _ int, d float32) draw.Colour { return col.Mul(1.08 - 0.45*draw.Clamp(d/(H*0.3), 0, 1)) })
	}
	x, y := W*r.Range(0.38, 0.62), horizon+H*0.11
	c.Shadow(x, y, u*0.34, u*0.045, l.shade, 0.75)
	g := &grower{c: c, r: r, bark: l.shade.Mix(draw.Hex(0x2b1a12), 0.4)}
	g.branch(x, y+u*0.01, -draw.Pi/2+r.Normal()*0.05, u*r.Range(0.17, 0.2), u*0.034, 9)
	leafTree(c, s, l, g, x, y, r)
	return draw.Look{Bloom: 0.35, Vignette: 0.32, Grain: 1.2}
}

type grower struct {
	c    *draw.Canvas
	r    *draw.Rand
	bark draw.Colour
	tips []draw.Point
}

func (g *grower) branch(x, y, angle, length, width float32, depth int) {
	bx, by := x+draw.Cos(angle)*length, y+draw.Sin(angle)*length
	g.c.Line(x, y, bx, by, max(width, 0.7), g.bark, 1)
	if depth <= 4 {
		g.tips = append(g.tips, draw.Point{X: bx, Y: by})
	}
	if depth == 0 || length < g.c.Unit()*0.006 {
		return
	}
	n := 2
	if g.r.Chance(0.25) {
		n = 3
	}
	for i := range n {
		spread := (float32(i) - float32(n-1)/2) * g.r.Range(0.5, 0.95)
		lift := (-draw.Pi/2 - angle) * 0.05
		g.branch(bx, by, angle+spread+lift+g.r.Normal()*0.12, length*g.r.Range(0.68, 0.86), width*0.67, depth-1)
	}
}

// leafTree clothes the tips according to the subject: blossom, leaves, snow or nothing.
func leafTree(c *draw.Canvas, s *Spec, l light, g *grower, x, ground float32, r *draw.Rand) {
	p, u := s.Palette, c.Unit()
	if s.Subject.Key == "bare" {
		return
	}
	stride := max(len(g.tips)/1500, 1)
	for i := 0; i < len(g.tips); i += stride {
		t := g.tips[i]
		lit := draw.Clamp(0.55+(x-t.X)/(u*0.9)+(ground-u*0.42-t.Y)/(u*0.9), 0, 1)
		col := p.Ramp.At(0.32 + 0.5*lit + r.Normal()*0.07)
		if s.Subject.Key == "snow" {
			col = draw.Hex(0xeef5fb).Mix(l.haze, 0.5*(1-lit))
		}
		size := u * r.Range(0.005, 0.0125)
		c.Disc(t.X+r.Normal()*u*0.009, t.Y+r.Normal()*u*0.009, size, col.Mul(draw.Lerp(0.75, 1.1, lit)), 0.85)
	}
	if s.Has("petals") {
		for range 110 {
			c.Disc(r.Float()*float32(c.W), r.Float()*float32(c.H), u*r.Range(0.002, 0.005)+0.3, p.Ramp.At(r.Range(0.5, 1)), 0.8)
		}
	}
	if s.Has("fireflies") {
		for range 40 {
			c.Glow(r.Float()*float32(c.W), ground-r.Range(-0.1, 0.35)*u, u*r.Range(0.01, 0.03), draw.Hex(0xfff0a0), 0.9)
		}
	}
}

// paintDunes folds sand into long crests, lit on one side and blue in the shade.
func paintDunes(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	l := lightOf(s)
	W, H, u := float32(c.W), float32(c.H), c.Unit()
	horizon := H * r.Range(0.4, 0.55)
	lamp := paintSky(c, l, horizon, r)
	sand := matched(s.Palette.Ramp, 0.5).Mix(draw.Hex(0xe0a860), 0.4).Mix(l.lamp, 0.1)
	shade := l.shade.Mix(matched(s.Palette.Ramp, 0.12), 0.45)
	if l.night {
		sand = sand.Mul(0.45).Mix(l.haze, 0.35)
	}
	c.Vertical(int(horizon), c.H, draw.Ramp{l.haze, l.haze})
	blown := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.3, CellY: u * 0.12, Octaves: 4, Gain: 0.5, Seed: r.Uint64()})
	layers := r.Between(4, 6)
	for i := range layers {
		t := float32(i) / float32(layers-1)
		dune(c, l, sand, shade, horizon, t, lamp, blown, r)
	}
	if s.Has("caravan") {
		caravan(c, W*r.Range(0.3, 0.6), horizon+(H-horizon)*0.16, u*0.045, shade.Mul(0.6), r)
	}
	if s.Has("cactus") {
		for range r.Between(2, 4) {
			cactus(c, r.Float()*W, H*r.Range(0.78, 0.98), u*r.Range(0.12, 0.26), shade.Mul(0.7))
		}
	}
	return draw.Look{Bloom: 0.35, Vignette: 0.3, Grain: 1.6}
}

// dune paints one sand wave. Its crest is a chain of few sharp peaks; from each
// peak a winding edge runs down to the viewer and parts light from shade.
func dune(c *draw.Canvas, l light, sand, shade draw.Colour, horizon, t float32, lamp draw.Point, blown []float32, r *draw.Rand) {
	W, H, u := float32(c.W), float32(c.H), c.Unit()
	tops := make([]float32, c.W)
	base := horizon + (H-horizon)*0.8*draw.Pow(t, 1.25)
	height, length := u*(0.06+0.24*t), u*(0.5+0.75*t)
	phase, seed := r.Float()*3, r.Uint64()
	side := float32(1)
	if lamp.X > W/2 {
		side = -1
	}
	// saw is 1 on a crest and falls gently to windward, steeply to leeward.
	saw := func(x float32) float32 {
		f := x*side/length + phase
		f -= draw.Floor(f)
		if f < 0.68 {
			return draw.Smooth(0, 1.25, f/0.68) * 1.24
		}
		return draw.Smooth(1, 0.68, f)
	}
	for x := range tops {
		wander := (draw.Noise(float32(x)/length*1.7, 4, seed) - 0.5) * length * 0.5
		tops[x] = base + height*0.35 - height*saw(float32(x)+wander)*(0.65+0.7*draw.Noise(float32(x)/length, 9, seed))
	}
	ripple := u * (0.007 + 0.012*t)
	span := height * 2.6
	until := c.H
	if t < 0.99 {
		until = min(int(base+height*2.2+(H-horizon)*0.3), c.H)
	}
	c.Below(tops, until, func(x, y int, depth float32) draw.Colour {
		n := blown[y*c.W+x] - 0.5
		fall := draw.Clamp(depth/span, 0, 1)
		f := (float32(x)+n*length*0.25+draw.Sin(depth/span*4+phase*3)*length*0.1)*side/length + phase - fall*0.12
		f -= draw.Floor(f)
		lee := draw.Smooth(0.66, 0.7, f) * draw.Smooth(1.02, 0.93, f) * (1 - 0.85*fall)
		waves := draw.Sin((float32(y)*1.6 + float32(x)*0.35*side + n*span) / ripple)
		col := sand.Mul(1.08-0.34*fall+0.16*n+0.035*waves*(0.3+t)).Mix(shade, lee*0.82)
		col = col.Mix(shade, 0.16*fall)
		return col.Mix(l.haze, (1-t)*0.5).Plus(l.lamp.Mul(0.2 * draw.Clamp(1-depth/3, 0, 1) * (1 - lee)))
	})
}

func caravan(c *draw.Canvas, x, y, size float32, col draw.Colour, r *draw.Rand) {
	for i := range r.Between(3, 6) {
		cx, s := x+float32(i)*size*1.9, size*r.Range(0.9, 1.05)
		c.Poly(draw.Blob(cx, y-s*0.65, s*0.5, s*0.24, 0.1, 18, 3), col, 1)
		c.Disc(cx-s*0.08, y-s*0.88, s*0.19, col, 1)
		for _, k := range []float32{-0.36, -0.24, 0.24, 0.36} {
			c.Line(cx+k*s, y-s*0.55, cx+k*s*1.15, y, max(s*0.07, 0.8), col, 1)
		}
		c.Line(cx-s*0.45, y-s*0.7, cx-s*0.72, y-s*1.05, max(s*0.11, 0.9), col, 1)
		c.Disc(cx-s*0.78, y-s*1.07, s*0.11, col, 1)
	}
}

func cactus(c *draw.Canvas, x, y, h float32, col draw.Colour) {
	w := h * 0.16
	c.Line(x, y, x, y-h, w, col, 1)
	for _, k := range []float32{-1, 1} {
		at := y - h*(0.45+0.1*k)
		c.Line(x, at, x+k*h*0.26, at, w*0.75, col, 1)
		c.Line(x+k*h*0.26, at, x+k*h*0.26, at-h*0.3, w*0.75, col, 1)
	}
}
