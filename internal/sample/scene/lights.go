package scene

import "vitrine/internal/sample/draw"

// paintWindow looks through a rainy window at the lights of a street.
func paintWindow(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	W, H := float32(c.W), float32(c.H)
	c.Vertical(0, c.H, draw.Ramp{p.Deep().Mul(0.6), p.Ramp[1].Mul(0.9), p.Deep().Mul(0.9)})
	colours := []draw.Colour{p.Ramp[2], p.Ramp[3], p.Light(), p.Accent, draw.Hex(0xffc46b), draw.Hex(0xff6a5a)}
	for range r.Between(55, 85) {
		x, y := r.Float()*W, H*draw.Clamp(0.5+r.Normal()*0.24, 0, 1)
		bokeh(c, x, y, u*r.Range(0.02, 0.085), draw.Pick(r, colours), r.Range(0.12, 0.42))
	}
	blurred := append([]float32(nil), c.Pix...)
	for range 230 {
		drop(c, blurred, r.Float()*W, r.Float()*H, u*draw.Pow(r.Float(), 2.4)*0.03+u*0.0035, r)
	}
	for range r.Between(5, 10) {
		x, y, w := r.Float()*W, -u*0.02, u*r.Range(0.008, 0.014)
		end := H * r.Range(0.3, 0.95)
		for y < end {
			x += r.Normal() * u * 0.004
			y += w * 0.8
			drop(c, blurred, x, y, w*r.Range(0.45, 0.8), r)
		}
		drop(c, blurred, x, y, w*1.5, r)
	}
	if s.Has("cup") {
		cup(c, W*r.Range(0.2, 0.8), H, u*0.17, p, r)
	}
	return draw.Look{Bloom: 0.5, Vignette: 0.45, Grain: 1.8}
}

// bokeh is a light out of focus: an even disc with a brighter rim.
func bokeh(c *draw.Canvas, x, y, radius float32, col draw.Colour, strength float32) {
	x0, y0, x1, y1 := int(max(x-radius-1, 0)), int(max(y-radius-1, 0)), min(int(x+radius+2), c.W), min(int(y+radius+2), c.H)
	for j := y0; j < y1; j++ {
		for i := x0; i < x1; i++ {
			d := draw.Hypot(float32(i)+0.5-x, float32(j)+0.5-y) / radius
			edge := draw.Smooth(1.02, 0.93, d)
			c.Add(i, j, col, strength*edge*(0.6+0.5*d*d*d))
		}
	}
}

// drop refracts: it shows the picture behind it small and upside down.
func drop(c *draw.Canvas, behind []float32, x, y, radius float32, r *draw.Rand) {
	stretch := r.Range(1, 1.25)
	for j := int(max(y-radius*stretch-1, 0)); j < min(int(y+radius*stretch+2), c.H); j++ {
		for i := int(max(x-radius-1, 0)); i < min(int(x+radius+2), c.W); i++ {
			dx, dy := (float32(i)+0.5-x)/radius, (float32(j)+0.5-y)/(radius*stretch)
			d := draw.Hypot(dx, dy)
			cover := draw.Clamp((1-d)*radius+0.5, 0, 1)
			if cover == 0 {
				continue
			}
			sx := min(max(int(x-dx*radius*7), 0), c.W-1)
			sy := min(max(int(y-dy*radius*7), 0), c.H-1)
			q := behind[(sy*c.W+sx)*3:]
			col := draw.Colour{R: q[0], G: q[1], B: q[2]}.Mul(1.25 - 0.75*d*d*d)
			shine := draw.Smooth(0.35, 0, draw.Hypot(dx+0.35, dy+0.4))
			c.Blend(i, j, col.Plus(draw.Grey(0.7*shine)), cover*0.95)
		}
	}
}

func cup(c *draw.Canvas, x, ground, size float32, p *Palette, r *draw.Rand) {
	sill := draw.Hex(0x1a120e)
	box(c, 0, ground-size*0.16, float32(c.W), size*0.2, sill)
	body := draw.Hex(0xe8ddd0).Mix(p.Ramp[2], 0.35).Mul(0.75)
	top, bottom := ground-size*0.95, ground-size*0.14
	c.Ring(x+size*0.42, (top+bottom)/2, size*0.2, size*0.08, body.Mul(0.8), 1)
	c.PolyShade([]draw.Point{{X: x - size*0.42, Y: top}, {X: x + size*0.42, Y: top}, {X: x + size*0.32, Y: bottom}, {X: x - size*0.32, Y: bottom}}, 1, func(px, _ int) draw.Colour {
		return body.Mul(1.05 - 0.75*draw.Clamp((float32(px)-x)/size+0.35, 0, 1))
	})
	for range 3 {
		sx := x + r.Normal()*size*0.12
		for k := range 22 {
			t := float32(k) / 22
			c.Glow(sx+draw.Sin(t*5+sx)*size*0.1, top-t*size*1.1, size*(0.1+0.12*t), draw.Grey(0.9), 0.07*(1-t))
		}
	}
}

// paintLanterns lets paper lanterns rise over dark water.
func paintLanterns(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	W, H := float32(c.W), float32(c.H)
	horizon := H * r.Range(0.68, 0.78)
	c.Vertical(0, c.H, draw.Ramp{p.Deep().Mul(0.5), draw.Hex(0x0c1330).Mix(p.Ramp[1], 0.35), draw.Hex(0x3a2547).Mix(p.Ramp[2], 0.35)})
	stars(c, horizon, 0.8, r)
	for i := range 2 {
		hills := draw.Ridge(c.W, W*0.4, 5, 0.5, r.Uint64())
		for x := range hills {
			hills[x] = horizon - hills[x]*H*(0.2-0.08*float32(i)) + 2
		}
		col := p.Deep().Mix(p.Ramp[1], 0.55-0.4*float32(i)).Mul(0.8)
		c.Below(hills, int(horizon)+2, func(_, _ int, _ float32) draw.Colour { return col })
	}
	n := r.Between(26, 46)
	for i := range n {
		t := float32(i) / float32(n)
		size := u * (0.008 + 0.055*t*t)
		lantern(c, r.Float()*W, horizon*(1-0.1*t)*r.Range(0.05, 0.98), size, p, 0.5+0.5*t, r)
	}
	mirror(c, light{shade: p.Deep().Mul(0.6), haze: p.Ramp[2], lamp: draw.Hex(0xffc070).Mul(0.4), sky: draw.Ramp{p.Deep(), p.Deep()}}, horizon, draw.Point{X: W / 2}, r)
	if s.Has("boat") {
		x, y, k := W*r.Range(0.25, 0.75), horizon+(H-horizon)*0.45, u*0.09
		c.Poly([]draw.Point{{X: x - k, Y: y}, {X: x + k, Y: y}, {X: x + k*0.7, Y: y + k*0.28}, {X: x - k*0.7, Y: y + k*0.28}}, draw.Hex(0x07060a), 1)
		c.Disc(x, y-k*0.55, k*0.15, draw.Hex(0x07060a), 1)
		c.Poly([]draw.Point{{X: x - k*0.2, Y: y}, {X: x + k*0.2, Y: y}, {X: x + k*0.08, Y: y - k*0.5}, {X: x - k*0.08, Y: y - k*0.5}}, draw.Hex(0x07060a), 1)
		lantern(c, x+k*0.8, y-k*0.5, k*0.3, p, 1, r)
	}
	return draw.Look{Bloom: 0.65, Vignette: 0.4, Grain: 1.5}
}

func lantern(c *draw.Canvas, x, y, size float32, p *Palette, near float32, r *draw.Rand) {
	warm := draw.Hex(0xffb45a).Mix(p.Ramp[3], 0.35)
	c.Glow(x, y, size*4.5, warm, 0.42*near)
	lean := r.Normal() * 0.06 * size
	pts := []draw.Point{{X: x - size*0.62 + lean, Y: y - size*0.85}, {X: x + size*0.62 + lean, Y: y - size*0.85}, {X: x + size*0.8 + lean, Y: y - size*0.2}, {X: x + size*0.5, Y: y + size*0.9}, {X: x - size*0.5, Y: y + size*0.9}, {X: x - size*0.8 + lean, Y: y - size*0.2}}
	c.PolyShade(pts, 1, func(px, py int) draw.Colour {
		t := (float32(py) - y + size*0.85) / (size * 1.75)
		rib := 0.9 + 0.1*draw.Abs(draw.Sin((float32(px)-x)/size*5))
		return warm.Mix(draw.Hex(0xfff0c4), t*0.9).Mul((0.55 + 0.65*t) * rib * (0.6 + 0.4*near))
	})
	c.Line(x-size*0.5, y+size*0.9, x+size*0.5, y+size*0.9, max(size*0.08, 0.7), draw.Hex(0x3a1a10), 1)
}

// paintBalloons floats striped hot air balloons over a wide land.
func paintBalloons(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	l := lightOf(s)
	W, H, u := float32(c.W), float32(c.H), c.Unit()
	horizon := H * r.Range(0.74, 0.84)
	paintSky(c, l, horizon, r)
	clouds(c, l, horizon, r.Range(0.3, 0.9), r)
	for i := range 4 {
		t := float32(i+1) / 4
		land := draw.Ridge(c.W, u*0.9, 5, 0.2, r.Uint64())
		for x := range land {
			land[x] = horizon + (H-horizon)*(t-0.25) - land[x]*H*0.12
		}
		col := l.haze.Mix(l.shade.Mix(matched(s.Palette.Ramp, 0.22), 0.45), 0.25+0.7*t)
		c.Below(land, c.H, func(_, _ int, d float32) draw.Colour { return col.Mul(1.12 - 0.4*draw.Clamp(d/(H*0.2), 0, 1)) })
		if i < 3 {
			mist(c, horizon+(H-horizon)*t*0.7, H*0.07, l.haze.Mix(l.lamp, 0.3), 0.5, r)
		}
	}
	n := r.Between(4, 9)
	for i := range n {
		t := draw.Pow((float32(i)+0.6)/float32(n), 1.5)
		x := (float32(i*5%n) + r.Range(0.2, 0.8)) / float32(n) * W
		balloon(c, s, l, x, H*r.Range(0.16, 0.62), u*(0.022+0.115*t), t, r)
	}
	return draw.Look{Bloom: 0.3, Vignette: 0.28, Grain: 1.2}
}

func balloon(c *draw.Canvas, s *Spec, l light, x, y, size, near float32, r *draw.Rand) {
	p := s.Palette
	stripes := float32(draw.Pick(r, []int{5, 7, 9}))
	one, two := draw.Pick(r, []draw.Colour{p.Ramp[2], p.Ramp[3], p.Accent}), draw.Pick(r, []draw.Colour{p.Light(), p.Ramp[1], draw.Hex(0xf5e8d0)})
	rings := r.Chance(0.35)
	envelope := make([]draw.Point, 0, 44)
	for i := range 44 {
		a := float32(i)/44*2*draw.Pi - draw.Pi/2
		px, py := draw.Cos(a), draw.Sin(a)
		if py > 0 {
			px, py = px*(1-0.62*draw.Pow(py, 2.2)), py*1.32
		}
		envelope = append(envelope, draw.Point{X: x + px*size, Y: y + py*size})
	}
	c.PolyShade(envelope, 1, func(px, py int) draw.Colour {
		dx, dy := (float32(px)+0.5-x)/size, (float32(py)+0.5-y)/size
		half := draw.Sqrt(max(1-draw.Clamp(dy/1.32, -1, 1)*draw.Clamp(dy/1.32, -1, 1), 0.02))
		bow := draw.Clamp(dx/half, -1, 1)
		f := (bow*0.8 + bow*bow*bow*0.2) * stripes * 0.5
		if rings {
			f = dy * stripes * 0.5
		}
		col := one
		if int(draw.Floor(f+20))%2 == 0 {
			col = two
		}
		lit := draw.Clamp(0.82-0.32*bow-0.22*dy, 0.3, 1.15)
		return col.Mul(lit).Mix(l.haze, 0.5*(1-near))
	})
	rope, basket := draw.Hex(0x2a1c14).Mix(l.haze, 0.45*(1-near)), draw.Hex(0x7a4a24).Mix(l.haze, 0.45*(1-near))
	foot := y + size*1.32
	for _, k := range []float32{-1, 1} {
		c.Line(x+k*size*0.3, foot-size*0.1, x+k*size*0.13, foot+size*0.34, max(size*0.02, 0.6), rope, 0.9)
	}
	box(c, x-size*0.15, foot+size*0.32, size*0.3, size*0.22, basket)
	c.Glow(x, foot+size*0.05, size*0.45, draw.Hex(0xffc060), 0.35*near)
}

// paintJellyfish drifts glowing bells through the deep.
func paintJellyfish(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	W, H := float32(c.W), float32(c.H)
	water := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.6, CellY: u * 0.8, Octaves: 3, Gain: 0.5, Seed: r.Uint64()})
	deep := draw.Ramp{p.Ramp[2].Mix(draw.Hex(0x1b6a8a), 0.5).Mul(0.75), p.Ramp[1].Mix(draw.Hex(0x08304a), 0.5).Mul(0.8), p.Deep().Mul(0.55)}
	c.Shade(func(x, y int) draw.Colour { return deep.At(float32(y)/H + (water[y*c.W+x]-0.5)*0.5) })
	shafts(c, p.Light(), r)
	n := r.Between(3, 7)
	for i := range n {
		t := (float32(i) + 0.5) / float32(n)
		jellyfish(c, p, (float32(i*3%n)+r.Range(0.25, 0.75))/float32(n)*W, H*r.Range(0.15, 0.6), u*(0.05+0.12*t*t), t, r)
	}
	for range 70 {
		c.Glow(r.Float()*W, r.Float()*H, u*r.Range(0.003, 0.012), p.Light(), r.Range(0.1, 0.6))
	}
	return draw.Look{Bloom: 0.6, Vignette: 0.45, Grain: 1.3}
}

// shafts slants beams of light down from the surface: one skyline of brightness,
// shifted a little further on every row.
func shafts(c *draw.Canvas, col draw.Colour, r *draw.Rand) {
	lean := r.Range(0.15, 0.4)
	beams := draw.Ridge(c.W+int(float32(c.H)*lean)+2, c.Unit()*0.16, 3, 0, r.Uint64())
	for y := range c.H {
		fade := 1 - float32(y)/(float32(c.H)*0.95)
		if fade <= 0 {
			return
		}
		row := beams[int(float32(c.H-y)*lean):]
		for x := range c.W {
			if b := row[x] - 0.52; b > 0 {
				c.Add(x, y, col, b*1.3*fade*fade)
			}
		}
	}
}

func jellyfish(c *draw.Canvas, p *Palette, x, y, size, near float32, r *draw.Rand) {
	glow := p.Ramp[3].Mix(p.Accent, r.Range(0, 0.5))
	c.Glow(x, y, size*2.6, glow, 0.28*(0.4+near))
	for k := range 11 {
		t := float32(k)/10*2 - 1
		px, py := x+t*size*0.85, y+size*0.12
		length, phase := size*r.Range(1.6, 3.4)*(1.1-0.4*draw.Abs(t)), r.Angle()
		for i := range 26 {
			f := float32(i) / 26
			nx, ny := px+draw.Sin(phase+f*7)*size*0.05, py+length/26
			c.Line(px, py, nx, ny, max(size*0.03*(1-f), 0.6), glow, 0.5*(1-f)*(0.4+0.6*near))
			px, py = nx, ny
		}
	}
	for k := range 4 {
		px, py, phase := x+(float32(k)-1.5)*size*0.2, y, r.Angle()
		for i := range 20 {
			f := float32(i) / 20
			nx, ny := px+draw.Sin(phase+f*6)*size*0.1, py+size*0.1
			c.GlowLine(px, py, nx, ny, size*0.13*(1-f*0.6), p.Light(), 0.16*(0.4+near))
			px, py = nx, ny
		}
	}
	bell := make([]draw.Point, 0, 48)
	for i := range 30 {
		a := draw.Pi + draw.Pi*float32(i)/29
		bell = append(bell, draw.Point{X: x + draw.Cos(a)*size, Y: y + size*0.12 + draw.Sin(a)*size*0.92})
	}
	for i := range 16 {
		t := 1 - float32(i)/15*2
		bell = append(bell, draw.Point{X: x + t*size, Y: y + size*(0.12+0.09*draw.Abs(draw.Sin(t*11)))})
	}
	c.PolyShade(bell, 0.3+0.55*near, func(px, py int) draw.Colour {
		dx, dy := (float32(px)-x)/size, (float32(py)-y-size*0.12)/(size*0.92)
		rim := draw.Smooth(0.45, 1.02, draw.Hypot(dx, dy))
		ribs := 0.85 + 0.15*draw.Abs(draw.Sin(draw.Atan2(dy, dx)*9))
		return p.Ramp[2].Mix(glow, 0.35+0.65*rim).Mul(ribs * (0.7 + 0.6*rim))
	})
	c.Glow(x, y-size*0.3, size*0.7, p.Light(), 0.4*near)
}
