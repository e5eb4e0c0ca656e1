package scene

import "vitrine/internal/sample/draw"

// paintMandala turns rings of petals, beads and arcs around the centre.
func paintMandala(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	x, y := float32(c.W)/2, float32(c.H)/2
	ground := p.Deep().Mul(0.9)
	if s.Has("light") {
		ground = p.Light().Mix(p.Ramp[3], 0.08)
	}
	paper := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.3, CellY: u * 0.3, Octaves: 5, Gain: 0.6, Seed: r.Uint64()})
	c.Shade(func(px, py int) draw.Colour {
		d := draw.Hypot(float32(px)-x, float32(py)-y) / u
		return ground.Mix(p.Ramp[1], draw.Clamp(0.4-d*0.5, 0, 1)*0.5).Mul(0.86 + 0.28*paper[py*c.W+px])
	})
	fold := draw.Pick(r, []int{8, 10, 12, 14, 16, 18, 24})
	outline := p.Deep().Mul(0.6)
	for i, ring := range mandalaRings(r) {
		style := r.Intn(2)
		if i%2 == 1 {
			style = 2 + r.Intn(2)
		}
		mandalaRing(c, s, x, y, u*0.47*ring, fold, style, outline, r)
	}
	c.Ball(x, y, u*0.035, -0.4, -0.6, p.Accent.Mul(0.6), p.Accent.Mix(draw.Grey(1), 0.4))
	return draw.Look{Bloom: 0.3, Vignette: 0.35, Grain: 1}
}

func mandalaRings(r *draw.Rand) []float32 {
	var rings []float32
	for k := float32(1); k > 0.12; k *= r.Range(0.74, 0.86) {
		rings = append(rings, k)
	}
	return rings
}

func mandalaRing(c *draw.Canvas, s *Spec, x, y, radius float32, fold, style int, line draw.Colour, r *draw.Rand) {
	p, u := s.Palette, c.Unit()
	n := fold * r.Between(1, 2)
	if radius < u*0.16 {
		n = fold
	}
	offset := float32(r.Intn(2)) * 0.5
	fill, tip := draw.Pick(r, p.Ramp[1:]), draw.Pick(r, append(draw.Ramp{p.Accent}, p.Ramp[2:]...))
	thin := max(u*0.0022, 0.8)
	c.Ring(x, y, radius*0.99, thin, tip, 0.8)
	for i := range n {
		a := (float32(i) + offset) / float32(n) * 2 * draw.Pi
		cos, sin := draw.Cos(a), draw.Sin(a)
		width := 2 * draw.Pi * radius / float32(n)
		switch style {
		case 0, 1:
			pinch := []float32{0.72, 0.4}[style]
			at := radius * 0.3
			for k, shape := range []float32{1, 0.82, 0.5} {
				col := []draw.Colour{line, fill, tip}[k]
				c.Poly(draw.Petal(x+cos*at, y+sin*at, a, (radius-at)*(0.5+0.5*shape), width*0.95*shape, pinch), col, 0.96)
			}
		case 2:
			bead := min(width*0.34, radius*0.085)
			c.Disc(x+cos*(radius-bead), y+sin*(radius-bead), bead+thin, line, 1)
			c.Ball(x+cos*(radius-bead), y+sin*(radius-bead), bead, -0.5, -0.6, fill.Mul(0.6), tip)
		case 3:
			c.Ring(x+cos*radius*0.74, y+sin*radius*0.74, radius*0.24, thin*1.4, tip, 0.8)
			c.Disc(x+cos*radius*0.93, y+sin*radius*0.93, thin*2.2, p.Light(), 1)
		}
	}
}

// paintDeco is an art deco poster: rays, stepped arches, a sun and a city or sea.
func paintDeco(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	W, H := float32(c.W), float32(c.H)
	x, y := W/2, H*r.Range(0.52, 0.7)
	rays := float32(draw.Pick(r, []int{12, 16, 20, 24, 32}))
	turn := r.Float() * 0.5
	gold, dark := p.Ramp[3].Mix(draw.Hex(0xe8c069), 0.4), p.Deep()
	sheen := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.02, CellY: u * 0.5, Octaves: 3, Gain: 0.5, Seed: r.Uint64()})
	c.Shade(func(px, py int) draw.Colour {
		dx, dy := float32(px)-x, float32(py)-y
		d := draw.Hypot(dx, dy)
		a := draw.Atan2(dy, dx)/draw.Pi*rays + turn
		f := a - draw.Floor(a/2)*2
		edge := 0.6 / (d/rays*draw.Pi + 1)
		bright := draw.Smooth(0.5-edge, 0.5+edge, f) * draw.Smooth(1.5+edge, 1.5-edge, f)
		depth := draw.Clamp(d/u, 0, 1.3)
		one := p.Ramp[2].Mix(p.Ramp[1], depth*0.7)
		two := dark.Mix(p.Ramp[1], 0.45-0.3*depth)
		return two.Mix(one, bright).Mul(0.9 + 0.2*sheen[py*c.W+px])
	})
	steps := r.Between(4, 6)
	for i := range steps {
		k := 1 - float32(i)/float32(steps)
		radius := u * (0.12 + 0.3*k)
		col := []draw.Colour{dark, p.Ramp[2], dark.Mix(p.Ramp[1], 0.7)}[i%3]
		c.Disc(x, y, radius+u*0.008, gold, 1)
		c.Disc(x, y, radius, col, 1)
	}
	c.Disc(x, y, u*0.125, gold, 1)
	c.Ball(x, y, u*0.115, -0.3, -0.7, p.Accent.Mix(gold, 0.3), p.Light())
	decoGround(c, s, y, gold, r)
	for k, w := range []float32{0.012, 0.003} {
		inset := u * (0.02 + 0.022*float32(k))
		decoFrame(c, inset, max(u*w, 1), gold)
	}
	return draw.Look{Bloom: 0.2, Vignette: 0.3, Grain: 1.5}
}

func decoGround(c *draw.Canvas, s *Spec, y float32, gold draw.Colour, r *draw.Rand) {
	p, u := s.Palette, c.Unit()
	W, H := float32(c.W), float32(c.H)
	if s.Subject.Key == "waves" {
		size := u * r.Range(0.055, 0.08)
		for row := float32(0); y+row*size*0.5 < H+size*2; row++ {
			for i := float32(-1); i*size*2 < W+size*2; i++ {
				cx, cy := i*size*2+size*float32(int(row)%2), y+size*1.4+row*size*0.5
				for k, t := range []float32{1, 0.92, 0.7, 0.62, 0.4, 0.32} {
					c.Disc(cx, cy, size*t, []draw.Colour{gold, p.Ramp[1]}[k%2], 1)
				}
			}
		}
		return
	}
	for side := float32(-1); side <= 1; side += 2 {
		for i := range 9 {
			t := float32(i) / 9
			w := u * 0.05
			h := u * (0.08 + 0.42*t*r.Range(0.7, 1.1))
			x := W/2 + side*(u*0.1+t*W*0.45) - w/2
			col := p.Deep().Mix(p.Ramp[1], 0.5*(1-t))
			base := H - h - H*0.08
			box(c, x, base, w, H-base, gold)
			box(c, x+u*0.004, base+u*0.004, w-u*0.008, H-base, col)
			box(c, x+w*0.28, base-h*0.1, w*0.44, h*0.1, gold)
			for k := float32(0.15); k < 0.95; k += 0.14 {
				c.Line(x+w*0.5, base+h*k, x+w*0.5, base+h*(k+0.07), max(u*0.004, 1), p.Light(), 0.8)
			}
		}
	}
	box(c, 0, H*0.925, W, H*0.08, p.Deep())
	box(c, 0, H*0.925, W, u*0.006, gold)
}

func decoFrame(c *draw.Canvas, inset, w float32, col draw.Colour) {
	W, H := float32(c.W), float32(c.H)
	box(c, inset, inset, W-2*inset, w, col)
	box(c, inset, H-inset-w, W-2*inset, w, col)
	box(c, inset, inset, w, H-2*inset, col)
	box(c, W-inset-w, inset, w, H-2*inset, col)
}

// paintBauhaus composes circles, quarters, bars and triangles on a paper grid.
func paintBauhaus(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	paper := p.Light().Mix(draw.Hex(0xf4ead8), 0.6)
	inks := []draw.Colour{p.Ramp[1], p.Ramp[2], p.Ramp[3], p.Accent, p.Deep(), paper}
	n := draw.Pick(r, []int{3, 4, 5, 6})
	size := u / float32(n)
	c.Fill(paper)
	for gy := float32(0); gy*size < float32(c.H); gy++ {
		for gx := float32(0); gx*size < float32(c.W); gx++ {
			bauhausTile(c, gx*size, gy*size, size, draw.Pick(r, inks), draw.Pick(r, inks), r)
		}
	}
	fibre := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.05, CellY: u * 0.05, Octaves: 4, Gain: 0.8, Seed: r.Uint64()})
	for i, f := range fibre {
		k := 0.9 + 0.2*f
		c.Pix[3*i], c.Pix[3*i+1], c.Pix[3*i+2] = c.Pix[3*i]*k, c.Pix[3*i+1]*k, c.Pix[3*i+2]*k
	}
	return draw.Look{Vignette: 0.15, Grain: 2}
}

func bauhausTile(c *draw.Canvas, x, y, size float32, ground, ink draw.Colour, r *draw.Rand) {
	box(c, x, y, size+1, size+1, ground)
	corner := []draw.Point{{X: x, Y: y}, {X: x + size, Y: y}, {X: x + size, Y: y + size}, {X: x, Y: y + size}}
	k := r.Intn(4)
	switch r.Intn(7) {
	case 0:
		c.Disc(x+size/2, y+size/2, size*0.42, ink, 1)
		c.Disc(x+size/2, y+size/2, size*0.18, ground, 1)
	case 1:
		clipDisc(c, corner[k].X, corner[k].Y, size, x, y, size, ink)
		clipDisc(c, corner[k].X, corner[k].Y, size*0.5, x, y, size, ground)
	case 2:
		c.Poly([]draw.Point{corner[k], corner[(k+1)%4], corner[(k+2)%4]}, ink, 1)
	case 3:
		for i := range 4 {
			box(c, x+size*float32(i)/4, y, size/8, size, ink)
		}
	case 4:
		clipDisc(c, x+size/2, y, size/2, x, y, size, ink)
		clipDisc(c, x+size/2, y+size, size/2, x, y, size, ink)
	case 5:
		for i := range 3 {
			clipDisc(c, corner[k].X, corner[k].Y, size*(1-0.3*float32(i)), x, y, size, []draw.Colour{ink, ground, ink}[i])
		}
	case 6:
		c.Poly([]draw.Point{{X: x + size/2, Y: y}, {X: x + size, Y: y + size/2}, {X: x + size/2, Y: y + size}, {X: x, Y: y + size/2}}, ink, 1)
	}
}

// clipDisc is a disc cut off at the borders of its tile.
func clipDisc(c *draw.Canvas, cx, cy, radius, x, y, size float32, col draw.Colour) {
	for j := int(max(y, 0)); j < min(int(y+size+0.5), c.H); j++ {
		for i := int(max(x, 0)); i < min(int(x+size+0.5), c.W); i++ {
			d := draw.Hypot(float32(i)+0.5-cx, float32(j)+0.5-cy)
			if d < radius+0.5 {
				c.Blend(i, j, col, min(radius+0.5-d, 1))
			}
		}
	}
}
