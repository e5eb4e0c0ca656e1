package scene

import "vitrine/internal/sample/draw"

// paintGlass breaks a figure and its ground into leaded panes. The outline of
// the figure is a lead line as well, so that a pane on the border is cut in two:
// the figure part takes the palette's colours, the ground those of its opposite.
func paintGlass(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	g := glassCells(c, s, r)
	u := c.Unit()
	streak := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.05, CellY: u * 0.16, Octaves: 4, Gain: 0.6, Seed: r.Uint64()})
	lead := draw.Hex(0x14120f)
	lightX, lightY := r.Range(0.2, 0.8)*float32(c.W), r.Range(0.05, 0.5)*float32(c.H)
	width := max(u*0.0045, 0.8)
	c.Shade(func(x, y int) draw.Colour {
		p, gap := g.nearest(float32(x)+0.5, float32(y)+0.5)
		tone, border := g.cut(x, y)
		gap = min(gap, border*0.8)
		col := p.ground
		if tone > 0 {
			col = g.ramp.At(draw.Clamp(tone+p.lift, 0.28, 1)).Vivid(1.15)
			if p.jewel {
				col = s.Palette.Accent
			}
		}
		dx, dy := (float32(x)-lightX)/u, (float32(y)-lightY)/u
		sun := 1.3 - 0.55*draw.Clamp(dx*dx+dy*dy, 0, 1.2)
		edge := draw.Smooth(0, width*7, gap)
		col = col.Mul((0.6 + 0.75*streak[y*c.W+x]) * sun * (0.62 + 0.38*edge))
		return lead.Mix(col, draw.Clamp(gap-width+0.5, 0, 1))
	})
	frame(c, u*0.018, draw.Hex(0x1d1811))
	return draw.Look{Bloom: 0.5, Vignette: 0.35, Grain: 1}
}

type pane struct {
	x, y   float32
	ground draw.Colour
	lift   float32 // brightness of this pane within the figure
	jewel  bool    // takes the accent colour when in the figure
}

// paneGrid finds the nearest pane fast: seeds sit one per square of a jittered
// grid, so only the squares around a pixel need a look. mask is the figure at
// half size: its brightness, 0 outside; dist the distance to its outline.
type paneGrid struct {
	size       float32
	cols, rows int
	panes      []pane
	ramp       draw.Ramp
	maskW      int
	mask, dist []float32
}

func glassCells(c *draw.Canvas, s *Spec, r *draw.Rand) *paneGrid {
	u := c.Unit()
	g := &paneGrid{size: u * r.Range(0.055, 0.085), ramp: s.Palette.Ramp}
	g.cols, g.rows = int(float32(c.W)/g.size)+3, int(float32(c.H)/g.size)+3
	g.panes = make([]pane, g.cols*g.rows)
	ground := opposite(s.Palette)
	for i := range g.panes {
		p := &g.panes[i]
		p.x = (float32(i%g.cols) - 1 + r.Range(0.02, 0.98)) * g.size
		p.y = (float32(i/g.cols) - 1 + r.Range(0.02, 0.98)) * g.size
		d := draw.Hypot(p.x-float32(c.W)/2, p.y-float32(c.H)/2) / u
		p.ground = ground.At(draw.Clamp(0.3+0.34*r.Float()+0.3*(0.7-d), 0.1, 0.92))
		p.lift, p.jewel = r.Normal()*0.1, r.Chance(0.08)
	}
	g.stencil(c, figure(s.Subject.Key), r.Range(-0.2, 0.2))
	return g
}

// stencil samples the figure at half size and estimates the distance to its
// outline by growing it one ring at a time, as far as a lead line is wide.
func (g *paneGrid) stencil(c *draw.Canvas, inside func(x, y float32) float32, spin float32) {
	u := c.Unit()
	g.maskW = c.W/2 + 2
	h := c.H/2 + 2
	g.mask, g.dist = make([]float32, g.maskW*h), make([]float32, g.maskW*h)
	cos, sin := draw.Cos(spin), draw.Sin(spin)
	for j := range h {
		for i := range g.maskW {
			x, y := (float32(2*i)-float32(c.W)/2)/(u*0.46), (float32(2*j)-float32(c.H)/2)/(u*0.46)
			g.mask[j*g.maskW+i] = inside(x*cos-y*sin, x*sin+y*cos)
			g.dist[j*g.maskW+i] = 99
		}
	}
	for i := g.maskW + 1; i < len(g.mask)-g.maskW-1; i++ {
		in := g.mask[i] > 0
		if in != (g.mask[i-1] > 0) || in != (g.mask[i-g.maskW] > 0) {
			g.dist[i] = 0
		}
	}
	// Two sweeps of a chamfer distance, in pixels of the full size.
	for i := g.maskW + 1; i < len(g.dist); i++ {
		g.dist[i] = min(g.dist[i], g.dist[i-1]+2, g.dist[i-g.maskW]+2, g.dist[i-g.maskW-1]+2.83, g.dist[i-g.maskW+1]+2.83)
	}
	for i := len(g.dist) - g.maskW - 2; i >= 0; i-- {
		g.dist[i] = min(g.dist[i], g.dist[i+1]+2, g.dist[i+g.maskW]+2, g.dist[i+g.maskW+1]+2.83, g.dist[i+g.maskW-1]+2.83)
	}
}

// cut returns the brightness of the figure at a pixel and the distance to its outline.
func (g *paneGrid) cut(x, y int) (tone, border float32) {
	i := y/2*g.maskW + x/2
	right, down := float32(x&1)/2, float32(y&1)/2
	d := g.dist[i]*(1-right)*(1-down) + g.dist[i+1]*right*(1-down) + g.dist[i+g.maskW]*(1-right)*down + g.dist[i+g.maskW+1]*right*down
	return g.mask[i], d
}

// opposite is a ground ramp that sets the palette off.
func opposite(p *Palette) draw.Ramp {
	m := p.Ramp[2]
	if m.B > m.R*0.9 {
		return ramp(0x2a1508, 0x6e3d14, 0xc07c2c, 0xeebf68, 0xfdf0cf)
	}
	return ramp(0x06142e, 0x153a6e, 0x2a6fa8, 0x6fb4d2, 0xd9f0f2)
}

// nearest returns the pane of a place and the distance to its border.
func (g *paneGrid) nearest(x, y float32) (*pane, float32) {
	ci, cj := int(x/g.size)+1, int(y/g.size)+1
	best, second := float32(1e12), float32(1e12)
	var p, q *pane
	for j := max(cj-1, 0); j <= min(cj+1, g.rows-1); j++ {
		for i := max(ci-1, 0); i <= min(ci+1, g.cols-1); i++ {
			n := &g.panes[j*g.cols+i]
			dx, dy := n.x-x, n.y-y
			d := dx*dx + dy*dy
			if d < best {
				second, q = best, p
				best, p = d, n
			} else if d < second {
				second, q = d, n
			}
		}
	}
	if q == nil {
		return p, 1e3
	}
	// Distance to the bisector of the two nearest middles.
	return p, (second - best) / (2 * draw.Hypot(p.x-q.x, p.y-q.y))
}

func frame(c *draw.Canvas, w float32, col draw.Colour) {
	W, H := float32(c.W), float32(c.H)
	box(c, 0, 0, W, w, col)
	box(c, 0, H-w, W, w, col)
	box(c, 0, 0, w, H, col)
	box(c, W-w, 0, w, H, col)
}
