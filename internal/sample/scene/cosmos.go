package scene

import "vitrine/internal/sample/draw"

// paintNebula lights clouds of gas with the stars inside them.
func paintNebula(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	u, p := c.Unit(), s.Palette
	warp := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.7, CellY: u * 0.7, Octaves: 3, Gain: 0.5, Seed: r.Uint64()})
	gas := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.42, CellY: u * 0.42, Octaves: 6, Gain: 0.56, Seed: r.Uint64()})
	dust := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.3, CellY: u * 0.3, Octaves: 5, Gain: 0.55, Seed: r.Uint64()})
	table := append(draw.Ramp{p.Deep().Mul(0.35), p.Deep().Mix(p.Ramp[1], 0.3)}, p.Ramp[1:]...).Table(512)
	cx, cy := r.Range(0.3, 0.7)*float32(c.W), r.Range(0.3, 0.7)*float32(c.H)
	shift := u * 0.44
	c.Shade(func(x, y int) draw.Colour {
		i := y*c.W + x
		w := warp[i]
		d := int((w - 0.5) * shift)
		j := reflect(y+d, c.H)*c.W + reflect(x-d, c.W)
		dx, dy := (float32(x)-cx)/u, (float32(y)-cy)/u
		core := 1 / (1 + 4.5*(dx*dx+dy*dy))
		v := draw.Smooth(0.3, 0.95, gas[j]*0.9+core*0.2)
		shade := 1 - 0.8*draw.Smooth(0.5, 0.72, dust[j])
		col := table[int(v*511)].Mul(0.72 + 0.5*v)
		return col.Plus(p.Accent.Mul(0.4 * draw.Smooth(0.5, 0.75, w) * v)).Mul(shade)
	})
	if s.Subject.Key == "galaxy" {
		galaxy(c, p, cx, cy, r)
	}
	stars(c, float32(c.H), 1.3, r)
	for range r.Between(3, 8) {
		spike(c, r.Float()*float32(c.W), r.Float()*float32(c.H), u*r.Range(0.02, 0.07), p.Light(), r)
	}
	return draw.Look{Bloom: 0.5, Vignette: 0.3, Grain: 1.3}
}

// reflect folds a coordinate back at the borders: clamping it would smear the
// border inwards as bars.
func reflect(i, n int) int {
	if i < 0 {
		i = -i
	}
	if i >= n {
		i = 2*n - 2 - i
	}
	return min(max(i, 0), n-1)
}

// spike is a bright star with the cross of a telescope's struts.
func spike(c *draw.Canvas, x, y, size float32, col draw.Colour, r *draw.Rand) {
	c.Glow(x, y, size*1.2, col, 0.5)
	c.Glow(x, y, size*0.25, draw.Grey(1), 1.2)
	thin := max(c.Unit()*0.0035, 1)
	c.GlowLine(x-size, y, x+size, y, thin, col, 0.6)
	c.GlowLine(x, y-size, x, y+size, thin, col, 0.6)
}

func galaxy(c *draw.Canvas, p *Palette, cx, cy float32, r *draw.Rand) {
	u := c.Unit()
	tilt, angle, size := r.Range(0.35, 0.75), r.Angle(), u*r.Range(0.36, 0.46)
	cos, sin := draw.Cos(angle), draw.Sin(angle)
	arms := r.Between(2, 4)
	place := func(d, a float32) (float32, float32) {
		x, y := draw.Cos(a)*d, draw.Sin(a)*d*tilt
		return cx + x*cos - y*sin, cy + x*sin + y*cos
	}
	for range 5200 {
		t := draw.Pow(r.Float(), 0.75)
		spread := r.Normal() * (0.12 + 0.28*t)
		a := float32(r.Intn(arms))/float32(arms)*2*draw.Pi + t*4.6 + spread
		x, y := place(t*size, a)
		col := p.Light().Mix(p.Ramp[3], t).Mix(p.Accent, r.Float()*0.4*t)
		c.Glow(x, y, u*r.Range(0.003, 0.007), col, r.Range(0.08, 0.36)*(1.1-t*0.7))
	}
	for i := range 90 {
		t := float32(i) / 90
		x, y := place(t*size*0.9, t*4.6+float32(i%arms)/float32(arms)*2*draw.Pi)
		c.Glow(x, y, u*0.07, p.Ramp[3], 0.1)
	}
	c.Glow(cx, cy, size*0.45, p.Light(), 0.4)
	c.Glow(cx, cy, size*0.14, draw.Grey(1), 0.6)
}

// paintPlanet hangs a banded or rocky planet in space, with rings and moons.
func paintPlanet(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	u, p := c.Unit(), s.Palette
	W, H := float32(c.W), float32(c.H)
	haze := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.6, CellY: u * 0.6, Octaves: 4, Gain: 0.5, Seed: r.Uint64()})
	tint := p.Ramp[2].Mix(p.Accent, 0.3)
	c.Shade(func(x, y int) draw.Colour {
		return p.Deep().Mul(0.25).Plus(tint.Mul(0.42 * draw.Smooth(0.4, 0.85, haze[y*c.W+x])))
	})
	stars(c, H, 1.2, r)
	b := globe{x: W * r.Range(0.38, 0.62), y: H * r.Range(0.4, 0.6), r: u * r.Range(0.2, 0.31), tilt: r.Range(-0.5, 0.5)}
	b.lx, b.ly = r.Range(-0.8, -0.4), r.Range(-0.6, 0.1)
	b.gas = s.Subject.Key != "rocky"
	rings := s.Has("rings")
	open := r.Range(0.18, 0.36)
	if rings {
		ring(c, p, b, open, false, draw.Mix(s.Seed, 3))
	}
	b.paint(c, p, r.Uint64())
	if rings {
		ring(c, p, b, open, true, draw.Mix(s.Seed, 3))
	}
	if s.Has("moons") {
		for range r.Between(1, 3) {
			a, d := r.Angle(), b.r*r.Range(1.5, 2.1)
			c.Ball(b.x+draw.Cos(a)*d, b.y+draw.Sin(a)*d*0.7, b.r*r.Range(0.06, 0.16), b.lx, b.ly, p.Deep(), p.Light())
		}
	}
	spike(c, W*r.Range(0.03, 0.2), H*r.Range(0.05, 0.25), u*0.16, p.Light(), r)
	return draw.Look{Bloom: 0.4, Vignette: 0.3, Grain: 1.2}
}

type globe struct {
	x, y, r, tilt, lx, ly float32
	gas                   bool
}

func (b globe) paint(c *draw.Canvas, p *Palette, seed uint64) {
	c.Glow(b.x+b.lx*b.r*0.2, b.y+b.ly*b.r*0.2, b.r*1.5, p.Ramp[3], 0.5)
	cos, sin := draw.Cos(b.tilt), draw.Sin(b.tilt)
	for j := int(max(b.y-b.r-1, 0)); j < min(int(b.y+b.r+2), c.H); j++ {
		for i := int(max(b.x-b.r-1, 0)); i < min(int(b.x+b.r+2), c.W); i++ {
			dx, dy := (float32(i)+0.5-b.x)/b.r, (float32(j)+0.5-b.y)/b.r
			d2 := dx*dx + dy*dy
			cover := draw.Clamp((1-draw.Sqrt(d2))*b.r+0.5, 0, 1)
			if cover == 0 {
				continue
			}
			z := draw.Sqrt(max(1-d2, 0))
			across, along := dx*cos+dy*sin, dy*cos-dx*sin
			col := b.surface(p, across, along, z, seed)
			lit := draw.Clamp(-(dx*-b.lx+dy*-b.ly)*0.9+z*0.55+0.08, 0, 1)
			rim := draw.Pow(1-z, 3) * lit
			c.Blend(i, j, col.Mul(0.04+1.15*lit).Plus(p.Ramp[3].Mul(rim*0.8)), cover)
		}
	}
}

func (b globe) surface(p *Palette, across, along, z float32, seed uint64) draw.Colour {
	if b.gas {
		swirl := draw.Fractal(across*2.2+7, along*6+7, 4, seed) - 0.5
		band := 0.5 + 0.5*draw.Sin(along*11+swirl*3.4)
		return p.Ramp.At(0.3+0.62*band).Mix(p.Accent, 0.22*draw.Smooth(0.1, 0.3, swirl))
	}
	n := draw.Fractal(across*2.6+z*1.3+11, along*2.6+11, 5, seed)
	land := draw.Smooth(0.47, 0.53, n)
	return p.Ramp.At(0.25+0.3*n).Mix(p.Ramp.At(0.45+0.6*(n-0.4)), land)
}

// ring paints the half of the ring system behind or before the globe.
func ring(c *draw.Canvas, p *Palette, b globe, open float32, front bool, seed uint64) {
	inner, outer := b.r*1.32, b.r*2.15
	cos, sin := draw.Cos(b.tilt), draw.Sin(b.tilt)
	for j := int(max(b.y-outer, 0)); j < min(int(b.y+outer+1), c.H); j++ {
		for i := int(max(b.x-outer, 0)); i < min(int(b.x+outer+1), c.W); i++ {
			dx, dy := float32(i)+0.5-b.x, float32(j)+0.5-b.y
			across, along := dx*cos+dy*sin, (dy*cos-dx*sin)/open
			if (along > 0) != front {
				continue
			}
			d := draw.Hypot(across, along)
			if d < inner || d > outer {
				continue
			}
			t := (d - inner) / (outer - inner)
			dense := groove(t, seed)
			edge := draw.Smooth(0, 0.05, t) * draw.Smooth(1, 0.9, t)
			shadow := float32(1)
			if !front && draw.Abs(dx-(-b.lx)*b.r) < b.r*0.7 && dx*-b.lx > 0 {
				shadow = 0.45
			}
			c.Blend(i, j, p.Light().Mix(p.Ramp[3], t).Mul((0.35+0.75*dense)*shadow), edge*(0.3+0.6*dense))
		}
	}
}

// groove is the density of a ring system at radius t.
func groove(t float32, seed uint64) float32 {
	v := draw.Noise(t*26, 0.5, seed)*0.6 + draw.Noise(t*70, 2.5, seed)*0.4
	return draw.Smooth(0.18, 0.62, v)
}
