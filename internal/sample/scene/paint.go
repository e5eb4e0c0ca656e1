package scene

import "vitrine/internal/sample/draw"

// paintFlow lets thousands of brush strokes follow one field of directions.
func paintFlow(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	W, H := float32(c.W), float32(c.H)
	ground := p.Deep()
	if s.Has("light") {
		ground = p.Light().Mix(draw.Hex(0xf3ead8), 0.5)
	}
	c.Fill(ground)
	turn, cell := r.Range(1.2, 2.6)*2*draw.Pi, u*r.Range(0.35, 0.6)
	current := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: cell, CellY: cell, Octaves: 2, Gain: 0.5, Seed: r.Uint64()})
	hue := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.5, CellY: u * 0.5, Octaves: 3, Gain: 0.5, Seed: r.Uint64()})
	strokes, steps, stride := 820, 20, u*0.0145
	for i := range strokes {
		x, y := r.Float()*W*1.1-W*0.05, r.Float()*H*1.1-H*0.05
		width := u * r.Range(0.002, 0.012) * (1.2 - 0.6*float32(i)/float32(strokes))
		cx, cy := int(draw.Clamp(x, 0, W-1)), int(draw.Clamp(y, 0, H-1))
		tone := draw.Smooth(0.2, 0.8, hue[cy*c.W+cx]) + r.Normal()*0.1
		col := p.Ramp.At(0.15 + 0.85*tone)
		if r.Chance(0.06) {
			col = p.Accent
		}
		for k := range steps {
			a := current[int(draw.Clamp(y, 0, H-1))*c.W+int(draw.Clamp(x, 0, W-1))] * turn
			nx, ny := x+draw.Cos(a)*stride, y+draw.Sin(a)*stride
			taper := draw.Sin(draw.Pi * (float32(k) + 0.5) / float32(steps))
			c.Line(x, y, nx, ny, max(width*taper*2, 0.6), col.Mul(0.9+0.2*taper), 0.85)
			x, y = nx, ny
		}
	}
	return draw.Look{Bloom: 0.2, Vignette: 0.3, Grain: 1.8}
}

// paintCircuit routes traces between chips, vias and glowing pads.
func paintCircuit(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	W, H := float32(c.W), float32(c.H)
	weave := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.4, CellY: u * 0.4, Octaves: 4, Gain: 0.5, Seed: r.Uint64()})
	board := p.Deep().Mix(p.Ramp[1], 0.45)
	c.Shade(func(x, y int) draw.Colour {
		grid := float32((x/2+y/2)&1) * 0.03
		return board.Mul(0.6 + 0.7*weave[y*c.W+x] + grid)
	})
	pitch := u / 44
	copper, lit := p.Ramp[2].Mix(draw.Hex(0xc98a4a), 0.3), p.Accent
	for i := range 150 {
		glow := i%5 == 0
		col := copper.Mul(r.Range(0.7, 1.1))
		if glow {
			col = lit
		}
		trace(c, float32(r.Intn(int(W/pitch)))*pitch, float32(r.Intn(int(H/pitch)))*pitch, pitch, col, glow, r)
	}
	for range r.Between(4, 8) {
		chip(c, p, float32(r.Between(1, int(W/pitch)-6))*pitch, float32(r.Between(1, int(H/pitch)-6))*pitch, pitch, r)
	}
	return draw.Look{Bloom: 0.7, Vignette: 0.4, Grain: 1.2}
}

// trace walks the grid in eight directions, preferring to go straight on.
func trace(c *draw.Canvas, x, y, pitch float32, col draw.Colour, glow bool, r *draw.Rand) {
	dir := r.Intn(8)
	pad := func(x, y float32) {
		c.Disc(x, y, pitch*0.34, col, 1)
		c.Disc(x, y, pitch*0.14, draw.Hex(0x08090a), 1)
		if glow {
			c.Glow(x, y, pitch*2.4, col, 0.55)
		}
	}
	pad(x, y)
	for range r.Between(3, 8) {
		n := float32(r.Between(1, 5)) * pitch
		a := float32(dir) * draw.Pi / 4
		bx, by := x+draw.Cos(a)*n, y+draw.Sin(a)*n
		c.Line(x, y, bx, by, pitch*0.22, col, 1)
		if glow {
			c.GlowLine(x, y, bx, by, pitch*1.1, col, 0.35)
		}
		x, y = bx, by
		dir += r.Intn(3) - 1
	}
	pad(x, y)
}

func chip(c *draw.Canvas, p *Palette, x, y, pitch float32, r *draw.Rand) {
	w, h := float32(r.Between(4, 8))*pitch, float32(r.Between(3, 7))*pitch
	c.Shadow(x+w*0.55, y+h*0.55, w*0.85, h*0.85, draw.Grey(0), 0.75)
	pin := draw.Hex(0xc8ccd0).Mix(p.Light(), 0.3)
	for k := pitch * 0.5; k < w-pitch*0.2; k += pitch {
		box(c, x+k, y-pitch*0.5, pitch*0.36, h+pitch, pin)
	}
	for k := pitch * 0.5; k < h-pitch*0.2; k += pitch {
		box(c, x-pitch*0.5, y+k, w+pitch, pitch*0.36, pin.Mul(0.85))
	}
	body := draw.Hex(0x15171b).Mix(p.Deep(), 0.3)
	c.PolyShade([]draw.Point{{X: x, Y: y}, {X: x + w, Y: y}, {X: x + w, Y: y + h}, {X: x, Y: y + h}}, 1, func(px, py int) draw.Colour {
		return body.Mul(1.5 - 0.7*(float32(px)-x+float32(py)-y)/(w+h))
	})
	c.Disc(x+pitch*0.6, y+pitch*0.6, pitch*0.2, body.Mul(2.4), 1)
	for k := range 3 {
		c.Line(x+w*0.28, y+h*(0.4+0.14*float32(k)), x+w*r.Range(0.5, 0.8), y+h*(0.4+0.14*float32(k)), pitch*0.1, draw.Grey(0.45), 1)
	}
	if r.Chance(0.5) {
		c.Glow(x+w/2, y+h/2, max(w, h), p.Accent, 0.35)
	}
}

// paintMaze carves a maze and colours its ways by the distance from the start.
func paintMaze(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	cell := u / float32(r.Between(15, 24))
	m := carve(int(float32(c.W)/cell), int(float32(c.H)/cell), r)
	ox, oy := (float32(c.W)-float32(m.w)*cell)/2, (float32(c.H)-float32(m.h)*cell)/2
	table := append(append(draw.Ramp{}, p.Ramp[1:]...), p.Accent).Table(256)
	wall := p.Deep().Mul(0.8)
	c.Fill(wall)
	way := cell * r.Range(0.3, 0.4)
	for i, from := range m.from {
		x, y := ox+(float32(i%m.w)+0.5)*cell, oy+(float32(i/m.w)+0.5)*cell
		fx, fy := ox+(float32(from%m.w)+0.5)*cell, oy+(float32(from/m.w)+0.5)*cell
		c.Line(x+way*0.25, y+way*0.3, fx+way*0.25, fy+way*0.3, way*2, wall.Mul(0.4), 0.6)
	}
	for i, from := range m.from {
		t := float32(m.steps[i]) / float32(m.longest)
		col := table[int(t*255)]
		x, y := ox+(float32(i%m.w)+0.5)*cell, oy+(float32(i/m.w)+0.5)*cell
		fx, fy := ox+(float32(from%m.w)+0.5)*cell, oy+(float32(from/m.w)+0.5)*cell
		c.Line(x, y, fx, fy, way*1.7, col, 1)
		c.Line(x-way*0.25, y-way*0.3, fx-way*0.25, fy-way*0.3, way*0.4, col.Mix(p.Light(), 0.5), 0.6)
	}
	sx, sy := ox+(float32(m.start%m.w)+0.5)*cell, oy+(float32(m.start/m.w)+0.5)*cell
	c.Glow(sx, sy, u*0.5, p.Ramp[3], 0.35)
	c.Ball(sx, sy, way*1.3, -0.5, -0.6, p.Accent.Mul(0.5), p.Accent)
	return draw.Look{Bloom: 0.4, Vignette: 0.4, Grain: 1}
}

type maze struct {
	w, h, start, longest int
	from, steps          []int
}

// carve grows a spanning tree by depth-first search from a random cell.
func carve(w, h int, r *draw.Rand) maze {
	m := maze{w: w, h: h, start: r.Intn(w * h), longest: 1, from: make([]int, w*h), steps: make([]int, w*h)}
	seen := make([]bool, w*h)
	stack := []int{m.start}
	seen[m.start], m.from[m.start] = true, m.start
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		var open []int
		for _, d := range [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			x, y := at%w+d[0], at/w+d[1]
			if x >= 0 && x < w && y >= 0 && y < h && !seen[y*w+x] {
				open = append(open, y*w+x)
			}
		}
		if len(open) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		next := draw.Pick(r, open)
		seen[next], m.from[next], m.steps[next] = true, at, m.steps[at]+1
		m.longest = max(m.longest, m.steps[next])
		stack = append(stack, next)
	}
	return m
}

// paintGeode cuts a stone: bands of agate around a hollow of crystals.
func paintGeode(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	p, u := s.Palette, c.Unit()
	x0, y0 := float32(c.W)*r.Range(0.4, 0.6), float32(c.H)*r.Range(0.4, 0.6)
	warp := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.34, CellY: u * 0.34, Octaves: 5, Gain: 0.5, Seed: r.Uint64()})
	fine := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.02, CellY: u * 0.02, Octaves: 3, Gain: 0.6, Seed: r.Uint64()})
	seed, bands := r.Uint64(), r.Range(16, 30)
	facet := facets(c, u*0.045, r)
	gold := draw.Hex(0xe9c46a)
	c.Shade(func(x, y int) draw.Colour {
		i := y*c.W + x
		d := draw.Hypot(float32(x)-x0, float32(y)-y0)/u + (warp[i]-0.5)*0.62
		if d < 0.1 {
			return facet(p, x, y).Mul(0.55 + 4*draw.Clamp(d, 0, 0.12))
		}
		t := d * bands
		step := draw.Floor(t)
		pick := draw.Noise(step*0.73, 1.5, seed)
		edge := draw.Smooth(0, 0.16, t-step) * draw.Smooth(1, 0.84, t-step)
		col := p.Ramp.At(0.12 + 0.8*pick + 0.1*(fine[i]-0.5)).Mul(0.72 + 0.36*edge)
		if draw.Noise(step*1.31, 7.5, seed) > 0.78 {
			col = gold.Mul(0.55 + 0.8*fine[i])
		}
		if d < 0.13 {
			return p.Light().Mul(0.8 + 0.4*fine[i])
		}
		return col.Mul(1.12 - 0.3*draw.Clamp(d, 0, 1))
	})
	for range 26 {
		a, d := r.Angle(), u*0.1*r.Float()
		c.Glow(x0+draw.Cos(a)*d, y0+draw.Sin(a)*d, u*r.Range(0.01, 0.03), draw.Grey(1), 0.7)
	}
	return draw.Look{Bloom: 0.4, Vignette: 0.3, Grain: 1}
}

// facets returns a surface of crystal faces, each with one brightness.
func facets(c *draw.Canvas, size float32, r *draw.Rand) func(p *Palette, x, y int) draw.Colour {
	g := &paneGrid{size: size}
	g.cols, g.rows = int(float32(c.W)/size)+3, int(float32(c.H)/size)+3
	g.panes = make([]pane, g.cols*g.rows)
	for i := range g.panes {
		g.panes[i] = pane{x: (float32(i%g.cols) - 1 + r.Float()) * size, y: (float32(i/g.cols) - 1 + r.Float()) * size, lift: r.Float()}
	}
	return func(p *Palette, x, y int) draw.Colour {
		n, gap := g.nearest(float32(x), float32(y))
		return p.Ramp.At(0.25 + 0.7*n.lift).Mul(0.75 + 0.5*draw.Clamp(gap/size*2, 0, 1))
	}
}
