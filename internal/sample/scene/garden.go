package scene

import "vitrine/internal/sample/draw"

// paintGarden fills a dark bed with blooms, or one great sunflower head of florets.
func paintGarden(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	W, H := float32(c.W), float32(c.H)
	soil := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.25, CellY: u * 0.25, Octaves: 5, Gain: 0.55, Seed: r.Uint64()})
	green := ramp(0x04100b, 0x0d2a1c, 0x1d4a2e, 0x3a6b3c)
	for i := range green {
		green[i] = tinted(green[i], p, 0.3)
	}
	c.Shade(func(x, y int) draw.Colour { return green.At(soil[y*c.W+x]*1.1 - 0.25) })
	if s.Subject.Key == "phyllotaxis" {
		phyllotaxis(c, s, W/2, H/2, u*0.45, r)
		return draw.Look{Bloom: 0.35, Vignette: 0.45, Grain: 1}
	}
	for layer := range 3 {
		t := float32(layer) / 2
		for range 22 {
			x, y := r.Float()*W, r.Float()*H
			c.PolyShade(draw.Petal(x, y, r.Angle(), u*r.Range(0.1, 0.22), u*r.Range(0.03, 0.07), 0.5), 0.9, func(px, py int) draw.Colour {
				return green.At(0.3 + 0.5*t + 0.4*(soil[py*c.W+px]-0.5))
			})
		}
		for range r.Between(5, 8) {
			bed(c, s, r.Float()*W, r.Float()*H, u*r.Range(0.06, 0.1)*(0.7+0.9*t), t, r)
		}
	}
	if s.Has("dew") {
		for range 60 {
			x, y, d := r.Float()*W, r.Float()*H, u*r.Range(0.003, 0.008)
			c.Ball(x, y, d, -0.5, -0.6, p.Ramp[2], draw.Grey(1.2))
			c.Glow(x-d*0.3, y-d*0.3, d*1.5, draw.Grey(1), 0.5)
		}
	}
	return draw.Look{Bloom: 0.35, Vignette: 0.45, Grain: 1}
}

func bed(c *draw.Canvas, s *Spec, x, y, size, t float32, r *draw.Rand) {
	p := s.Palette
	c.Shadow(x+size*0.2, y+size*0.25, size*1.5, size*1.5, draw.Hex(0x020806), 0.7)
	tip, root := p.Ramp.At(r.Range(0.6, 1)), p.Ramp.At(r.Range(0.3, 0.6))
	if r.Chance(0.18) {
		tip, root = p.Accent, p.Accent.Mul(0.55)
	}
	k := 0.6 + 0.4*t
	flower(c, x, y, size, draw.Pick(r, []int{5, 6, 8, 8, 12, 16}), tip.Mul(k), root.Mul(k), draw.Hex(0xf7c948).Mul(k), r)
}

func phyllotaxis(c *draw.Canvas, s *Spec, x, y, size float32, r *draw.Rand) {
	p := s.Palette
	const golden = 2.399963
	n := 640
	c.Glow(x, y, size*1.5, p.Ramp[2], 0.35)
	for i := n; i > 0; i-- {
		t := float32(i) / float32(n)
		a, d := float32(i)*golden+0.2, draw.Sqrt(t)*size
		fx, fy := x+draw.Cos(a)*d, y+draw.Sin(a)*d
		if t > 0.55 {
			c.PolyShade(draw.Petal(fx, fy, a, size*0.19, size*0.1, 0.5), 1, func(px, py int) draw.Colour {
				k := draw.Hypot(float32(px)-fx, float32(py)-fy) / (size * 0.19)
				return p.Ramp.At(0.35 + 0.5*k + 0.12*(t-0.7))
			})
			continue
		}
		bead := size * (0.012 + 0.02*draw.Sqrt(t))
		c.Ball(fx, fy, bead, -0.5, -0.6, p.Deep().Mix(p.Ramp[1], t), p.Accent.Mix(p.Light(), t))
	}
}

// flower paints a bloom of two rings of petals.
func flower(c *draw.Canvas, x, y, size float32, petals int, tip, root, heart draw.Colour, r *draw.Rand) {
	turn := r.Angle()
	for ring, k := range []float32{1, 0.68} {
		for i := range petals {
			a := turn + (float32(i)+0.5*float32(ring))/float32(petals)*2*draw.Pi + r.Normal()*0.03
			shape := draw.Petal(x, y, a, size*k*r.Range(0.92, 1.05), size*k*3.6/float32(petals), 0.62)
			dark := float32(0.84) + 0.16*float32(ring)
			c.PolyShade(shape, 1, func(px, py int) draw.Colour {
				d := draw.Hypot(float32(px)-x, float32(py)-y) / size
				side := draw.Abs(draw.Sin((draw.Atan2(float32(py)-y, float32(px)-x) - a) * float32(petals) * 0.5))
				return root.Mix(tip, draw.Clamp(d*1.25, 0, 1)).Mul(dark * (1.02 - 0.3*side))
			})
		}
	}
	c.Ball(x, y, size*0.17, -0.5, -0.6, heart.Mul(0.55), heart)
}
