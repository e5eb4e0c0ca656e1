package scene

import "vitrine/internal/sample/draw"

// paintCity is a synthwave view: striped sun, lit skyline, neon grid to the horizon.
func paintCity(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p := s.Palette
	W, H, u := float32(c.W), float32(c.H), c.Unit()
	horizon := H * r.Range(0.55, 0.64)
	sky := draw.Ramp{p.Deep().Mul(0.6), p.Ramp[1], p.Ramp[2].Mix(p.Ramp[1], 0.25), p.Ramp[3]}
	c.Vertical(0, int(horizon)+2, sky)
	stars(c, horizon*0.7, 0.8, r)
	x, radius := W*r.Range(0.35, 0.65), u*r.Range(0.2, 0.3)
	if s.Has("sun") {
		stripedSun(c, x, horizon-radius*0.55, radius, horizon, p)
	} else {
		c.Glow(x, horizon*0.4, u*0.5, p.Ramp[3], 0.5)
		moon(c, x, horizon*0.38, u*0.09, p.Light(), r.Uint64())
	}
	for i := range 3 {
		skyline(c, p, horizon, float32(i)/2, r)
	}
	if s.Subject.Key == "grid" || s.Has("grid") {
		neonGrid(c, p, horizon, r)
	} else {
		wetStreet(c, p, horizon, r)
	}
	c.GlowLine(0, horizon, W, horizon, u*0.05, p.Accent, 0.9)
	if s.Has("rain") {
		rain(c, p.Light(), r)
	}
	return draw.Look{Bloom: 0.7, Vignette: 0.4, Grain: 1.6}
}

func stripedSun(c *draw.Canvas, x, y, radius, horizon float32, p *Palette) {
	c.Glow(x, y, radius*2.3, p.Ramp[3], 0.7)
	top, bottom := p.Light().Mix(draw.Hex(0xffe066), 0.6), p.Ramp[3].Mix(p.Ramp[2], 0.4)
	for j := int(max(y-radius, 0)); j < min(int(min(y+radius+1, horizon)), c.H); j++ {
		t := (float32(j) - (y - radius)) / (2 * radius)
		stripe := float32(0)
		if t > 0.42 {
			band := (t - 0.42) * 12
			stripe = draw.Smooth(0.5, 0.62, band-draw.Floor(band)+0.45*(0.75-t))
		}
		col := top.Mix(bottom, t).Mul(1.1)
		for i := int(max(x-radius-1, 0)); i < min(int(x+radius+2), c.W); i++ {
			d := draw.Hypot(float32(i)+0.5-x, float32(j)+0.5-y)
			c.Blend(i, j, col, draw.Clamp(radius+0.5-d, 0, 1)*(1-stripe))
		}
	}
}

// skyline stands one row of towers; near runs from 0 (far) to 1 (near).
func skyline(c *draw.Canvas, p *Palette, horizon, near float32, r *draw.Rand) {
	W, u := float32(c.W), c.Unit()
	body := p.Ramp[1].Mix(p.Ramp[2], 0.55*(1-near)).Mix(p.Deep(), 0.25+0.65*near)
	lamps := []draw.Colour{p.Accent, p.Light(), p.Ramp[3], draw.Hex(0xffe9b0)}
	for x := -u * 0.05; x < W; {
		w := u * r.Range(0.035, 0.085) * (0.8 + near*0.7)
		middle := 1 - draw.Abs((x+w/2)/W-0.5)*1.2
		h := u * draw.Pow(r.Float(), 1.6) * 0.5 * middle * draw.Lerp(1, 0.62, near)
		h += u * 0.05
		tower(c, x, horizon-h, w, h, body, near, lamps, r)
		x += w * r.Range(0.85, 1.25)
	}
}

func tower(c *draw.Canvas, x, y, w, h float32, body draw.Colour, near float32, lamps []draw.Colour, r *draw.Rand) {
	u := c.Unit()
	box(c, x, y, w, h+2, body)
	if r.Chance(0.35) {
		box(c, x+w*0.25, y-h*0.08, w*0.5, h*0.09, body)
	}
	if r.Chance(0.25) {
		c.Line(x+w/2, y, x+w/2, y-h*0.22, max(u*0.002, 0.8), body, 1)
		c.Glow(x+w/2, y-h*0.22, u*0.014, lamps[0], 1)
	}
	cell, col := max(u*0.0095, 3), draw.Pick(r, lamps)
	share := r.Range(0.15, 0.6) * (0.45 + 0.55*near)
	for wy := y + cell; wy < y+h-cell*0.5; wy += cell * 1.25 {
		for wx := x + cell*0.7; wx < x+w-cell*0.8; wx += cell {
			if r.Chance(share) {
				box(c, wx, wy, cell*0.5, cell*0.6, col.Mul(r.Range(0.45, 1.15)).Mix(body, 0.35*(1-near)))
			}
		}
	}
	if near > 0.4 && r.Chance(0.16) {
		c.GlowLine(x+w*0.5, y+h*0.15, x+w*0.5, y+h*0.6, u*0.02, lamps[0], 1.1)
	}
}

// box covers an upright rectangle.
func box(c *draw.Canvas, x, y, w, h float32, col draw.Colour) {
	x0, y0 := int(max(x+0.5, 0)), int(max(y+0.5, 0))
	x1, y1 := min(max(int(x+w+0.5), x0+1), c.W), min(max(int(y+h+0.5), y0+1), c.H)
	for j := y0; j < y1; j++ {
		for i := x0; i < x1; i++ {
			c.Set(i, j, col)
		}
	}
}

func neonGrid(c *draw.Canvas, p *Palette, horizon float32, r *draw.Rand) {
	W, H := float32(c.W), float32(c.H)
	c.Vertical(int(horizon), c.H, draw.Ramp{p.Ramp[1].Mix(p.Deep(), 0.3), p.Deep().Mul(0.8), p.Deep().Mul(0.5)})
	vanish, shift := W*r.Range(0.4, 0.6), r.Float()
	for y := int(horizon) + 1; y < c.H; y++ {
		depth := (H - horizon) / (float32(y) - horizon)
		line := depth*1.15 + shift
		rowGap := 1.15 * depth / (float32(y) - horizon)
		cross := lineLight(line, max(rowGap, 0.045))
		for x := range c.W {
			colGap := depth / (H - horizon) * 3.2
			along := lineLight((float32(x)-vanish)*depth/(H-horizon)*2.6, max(colGap*0.8, 0.04))
			fade := draw.Smooth(14, 2.5, depth)
			light := max(along, cross) * (0.25 + 0.75*fade)
			c.Add(x, y, p.Accent.Mix(p.Ramp[3], draw.Clamp(depth/9, 0, 1)), light*1.15)
		}
	}
}

// lineLight is the brightness near whole numbers, width wide.
func lineLight(v, width float32) float32 {
	d := draw.Abs(v - draw.Floor(v+0.5))
	k := draw.Clamp(1-d/width, 0, 1)
	return k * k * min(0.06/width+0.3, 1)
}

// wetStreet mirrors the skyline in rippled asphalt.
func wetStreet(c *draw.Canvas, p *Palette, horizon float32, r *draw.Rand) {
	u, h := c.Unit(), int(horizon)
	waves := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.12, CellY: u * 0.02, Octaves: 4, Gain: 0.6, Seed: r.Uint64()})
	for y := h; y < c.H; y++ {
		d := float32(y-h) / float32(c.H-h)
		for x := range c.W {
			w := waves[y*c.W+x] - 0.5
			sy := float32(h) - float32(y-h)*0.9 + w*u*0.2*d
			sx := x + int(w*u*0.1*d)
			col := c.At(min(max(sx, 0), c.W-1), min(max(int(sy), 0), h-1))
			c.Set(x, y, col.Mix(p.Deep(), 0.3+0.4*d).Mul(0.95))
		}
	}
}

func rain(c *draw.Canvas, col draw.Colour, r *draw.Rand) {
	W, H, u := float32(c.W), float32(c.H), c.Unit()
	for range 190 {
		x, y, l := r.Float()*W*1.1, r.Float()*H, u*r.Range(0.03, 0.09)
		c.Line(x, y, x-l*0.16, y+l, 0.9, col, r.Range(0.06, 0.26))
	}
}
