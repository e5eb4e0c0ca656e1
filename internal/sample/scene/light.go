package scene

import "vitrine/internal/sample/draw"

// light is what an hour of the day does to a landscape: the sky from zenith to
// horizon, the lamp (sun or moon), the haze far things fade into and the shade
// near things sink into.
type light struct {
	sky         draw.Ramp
	lamp        draw.Colour
	haze, shade draw.Colour
	night       bool
	height      float32 // of the lamp above the horizon, in shares of the sky
}

var hours = map[string]light{
	"dawn":    {ramp(0x2b3a67, 0x6f6d9f, 0xd99bab, 0xffd2a8), draw.Hex(0xffe7c0), draw.Hex(0xe6b3b0), draw.Hex(0x1c2340), false, 0.18},
	"morning": {ramp(0x2f6db0, 0x5f9fd2, 0x9cc8e2, 0xe6dfc8), draw.Hex(0xfff6da), draw.Hex(0xb4cfdc), draw.Hex(0x17324a), false, 0.5},
	"noon":    {ramp(0x1a62b0, 0x3f8cd0, 0x7fb8e0, 0xbfdcea), draw.Hex(0xffffff), draw.Hex(0x9fc4da), draw.Hex(0x123347), false, 0.75},
	"golden":  {ramp(0x3b4a7a, 0x9a7a8f, 0xf0a860, 0xffdf95), draw.Hex(0xfff1b8), draw.Hex(0xf5bd7c), draw.Hex(0x2a1a22), false, 0.22},
	"dusk":    {ramp(0x161a3f, 0x4a2c6b, 0xb8476f, 0xff9a62), draw.Hex(0xffc98a), draw.Hex(0xc0607c), draw.Hex(0x0f0d24), false, 0.1},
	"night":   {ramp(0x030615, 0x0a1533, 0x183059, 0x3a5a86), draw.Hex(0xf3f3e0), draw.Hex(0x2f4d78), draw.Hex(0x03060f), true, 0.62},
}

// lightOf returns the light of the spec's hour, tinted by its palette: the hour
// decides the brightness, the palette the hue.
func lightOf(s *Spec) light {
	l, ok := hours[s.Time.Key]
	if !ok {
		l = hours["dusk"]
	}
	const tint = 0.38
	p := s.Palette
	sky := make(draw.Ramp, len(l.sky))
	for i, col := range l.sky {
		sky[i] = tinted(col, p, tint)
	}
	l.sky = sky
	l.haze, l.shade = tinted(l.haze, p, tint), tinted(l.shade, p, tint)
	l.lamp = l.lamp.Mix(p.Light(), 0.25)
	return l
}

// tinted mixes a colour with the palette's colour of the same brightness.
func tinted(col draw.Colour, p *Palette, amount float32) draw.Colour {
	return col.Mix(matched(p.Ramp, col.Luma()), amount)
}

func matched(r draw.Ramp, luma float32) draw.Colour {
	best, gap := r[0], float32(9)
	for i := range 17 {
		col := r.At(float32(i) / 16)
		if d := draw.Abs(col.Luma() - luma); d < gap {
			best, gap = col, d
		}
	}
	return best
}

// paintSky lays the sky down to the horizon row and sets its lamp; the place
// of the lamp is returned for reflections and rim lights.
func paintSky(c *draw.Canvas, l light, horizon float32, r *draw.Rand) draw.Point {
	c.Vertical(0, int(horizon)+2, l.sky)
	if l.night {
		stars(c, horizon, 1, r)
	}
	lamp := draw.Point{X: r.Range(0.18, 0.82) * float32(c.W), Y: horizon * (1 - l.height*r.Range(0.75, 1.15))}
	paintLamp(c, l, lamp, c.Unit()*r.Range(0.045, 0.085), r)
	return lamp
}

func paintLamp(c *draw.Canvas, l light, at draw.Point, radius float32, r *draw.Rand) {
	if l.night {
		c.Glow(at.X, at.Y, radius*7, l.haze, 0.55)
		c.Glow(at.X, at.Y, radius*2.2, l.lamp, 0.35)
		moon(c, at.X, at.Y, radius, l.lamp, r.Uint64())
		return
	}
	// The brighter the sky, the less a glow may add before all turns white.
	room := draw.Clamp(1.15-l.sky[len(l.sky)-2].Luma(), 0.25, 1)
	c.Glow(at.X, at.Y, c.Unit()*0.75, l.lamp.Vivid(1.4), 0.42*room)
	c.Glow(at.X, at.Y, radius*3.2, l.lamp, 0.5*room)
	c.Disc(at.X, at.Y, radius, l.lamp.Mul(1.25), 0.95)
}

// moon paints a full moon with seas.
func moon(c *draw.Canvas, x, y, radius float32, col draw.Colour, seed uint64) {
	for j := int(max(y-radius-1, 0)); j < min(int(y+radius+2), c.H); j++ {
		for i := int(max(x-radius-1, 0)); i < min(int(x+radius+2), c.W); i++ {
			dx, dy := (float32(i)+0.5-x)/radius, (float32(j)+0.5-y)/radius
			cover := draw.Clamp((1-draw.Hypot(dx, dy))*radius+0.5, 0, 1)
			if cover == 0 {
				continue
			}
			seas := draw.Smooth(0.42, 0.68, draw.Fractal(dx*2.1+5, dy*2.1+5, 4, seed))
			limb := 0.85 + 0.25*draw.Sqrt(max(1-dx*dx-dy*dy, 0))
			c.Blend(i, j, col.Mul((1.05-0.28*seas)*limb), cover)
		}
	}
}

// stars scatters stars above the horizon; density 1 is a clear night.
func stars(c *draw.Canvas, horizon, density float32, r *draw.Rand) {
	n := int(density * float32(c.W) * horizon / 520)
	u := c.Unit() / 512
	for range n {
		x, y := r.Float()*float32(c.W), r.Float()*horizon
		m := draw.Pow(r.Float(), 5)
		tint := draw.HSV(r.Range(0.55, 1.12), 0.25, 1)
		fade := 1 - 0.6*y/horizon
		c.Glow(x, y, (0.9+1.5*m)*max(u, 0.7), tint, (0.35+0.9*m)*fade)
		if m > 0.75 {
			c.Glow(x, y, 7*u, tint, 0.22*fade)
		}
	}
}

// clouds drifts lit clouds over the part of the canvas above the horizon.
func clouds(c *draw.Canvas, l light, horizon, cover float32, r *draw.Rand) {
	h := int(horizon)
	u := c.Unit()
	field := draw.Field(c.W, h, draw.NoiseSpec{CellX: u * 0.55, CellY: u * 0.16, Octaves: 5, Gain: 0.52, Seed: r.Uint64()})
	lit := l.sky[len(l.sky)-1].Mix(l.lamp, 0.6)
	dark := l.sky[1].Mix(l.haze, 0.45)
	for y := range h {
		fade := draw.Smooth(1, 0.72, float32(y)/horizon)
		above := max(y-max(int(u/60), 2), 0)
		for x := range c.W {
			v := field[y*c.W+x]
			a := draw.Smooth(0.62-cover*0.25, 0.78, v) * fade
			if a > 0.01 {
				edge := draw.Clamp(0.5+(v-field[above*c.W+x])*5, 0, 1)
				c.Blend(x, y, dark.Mix(lit, edge), a*0.85)
			}
		}
	}
}

// birds adds a small flock as thin strokes.
func birds(c *draw.Canvas, x, y float32, col draw.Colour, r *draw.Rand) {
	u := c.Unit() / 100
	for range r.Between(5, 11) {
		bx, by, s := x+r.Normal()*9*u, y+r.Normal()*4*u, r.Range(0.7, 1.6)*u
		lift := r.Range(0.2, 0.6) * s
		c.Line(bx, by, bx-s, by-lift, u*0.16+0.5, col, 0.85)
		c.Line(bx, by, bx+s, by-lift, u*0.16+0.5, col, 0.85)
	}
}

// mist lays a soft horizontal veil around row y.
func mist(c *draw.Canvas, y, thickness float32, col draw.Colour, strength float32, r *draw.Rand) {
	top, bottom := int(max(y-thickness, 0)), min(int(y+thickness), c.H)
	if bottom <= top {
		return
	}
	field := draw.Field(c.W, bottom-top, draw.NoiseSpec{CellX: c.Unit() * 0.6, CellY: thickness * 0.5, Octaves: 3, Gain: 0.5, Seed: r.Uint64()})
	for j := top; j < bottom; j++ {
		d := (float32(j) - y) / thickness
		band := (1 - d*d) * (1 - d*d)
		for x := range c.W {
			c.Blend(x, j, col, draw.Clamp(field[(j-top)*c.W+x]*1.5-0.1, 0, 1)*band*strength)
		}
	}
}
