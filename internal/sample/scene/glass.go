package scene

import "vitrine/internal/sample/draw"

// paintGlass breaks a figure and its ground into leaded panes. Panes whose
// middle lies in the figure take the palette's colours, the others those of
// its opposite, and every pane has its own streaks and inner light.
func paintGlass(c *draw.Canvas, s *Spec, r *draw.Rand) draw.Look {
	cells := glassCells(c, s, r)
	u := c.Unit()
	streak := draw.Field(c.W, c.H, draw.NoiseSpec{CellX: u * 0.05, CellY: u * 0.16, Octaves: 4, Gain: 0.6, Seed: r.Uint64()})
	lead := draw.Hex(0x14120f)
	lightX, lightY := r.Range(0.2, 0.8)*float32(c.W), r.Range(0.05, 0.5)*float32(c.H)
	width := max(u*0.0055, 0.9)
	c.Shade(func(x, y int) draw.Colour {
		first, gap := cells.nearest(float32(x)+0.5, float32(y)+0.5)
		pane := first.col
		if pane.R < 0 {
			return lead
		}
		n := streak[y*c.W+x]
		dx, dy := (float32(x)-lightX)/u, (float32(y)-lightY)/u
		sun := 1.25 - 0.5*draw.Clamp(dx*dx+dy*dy, 0, 1.2)
		edge := draw.Smooth(0, width*7, gap)
		col := pane.Mul((0.55 + 0.75*n) * sun * (0.62 + 0.38*edge))
		line := width
		if first.figure {
			line *= 1.15
		}
		return lead.Mix(col, draw.Clamp(gap-line+0.5, 0, 1))
	})
	frame(c, u*0.018, draw.Hex(0x1d1811))
	return draw.Look{Bloom: 0.5, Vignette: 0.35, Grain: 1}
}

type pane struct {
	x, y   float32
	col    draw.Colour
	figure bool
}

// paneGrid finds the nearest pane fast: seeds sit one per square of a jittered
// grid, so only the squares around a pixel need a look.
type paneGrid struct {
	size       float32
	cols, rows int
	panes      []pane
}

func glassCells(c *draw.Canvas, s *Spec, r *draw.Rand) *paneGrid {
	u := c.Unit()
	g := &paneGrid{size: u * r.Range(0.05, 0.07)}
	g.cols, g.rows = int(float32(c.W)/g.size)+3, int(float32(c.H)/g.size)+3
	g.panes = make([]pane, g.cols*g.rows)
	inside := figure(s.Subject.Key)
	ground := opposite(s.Palette)
	spin := r.Range(-0.25, 0.25)
	for i := range g.panes {
		p := &g.panes[i]
		p.x = (float32(i%g.cols) - 1 + r.Range(0.12, 0.88)) * g.size
		p.y = (float32(i/g.cols) - 1 + r.Range(0.12, 0.88)) * g.size
		fx, fy := (p.x-float32(c.W)/2)/(u*0.5), (p.y-float32(c.H)/2)/(u*0.5)
		fx, fy = fx*draw.Cos(spin)-fy*draw.Sin(spin), fx*draw.Sin(spin)+fy*draw.Cos(spin)
		tone := inside(fx, fy)
		p.figure = tone > 0
		if p.figure {
			p.col = s.Palette.Ramp.At(draw.Clamp(tone+r.Normal()*0.09, 0.3, 1)).Vivid(1.15)
			if r.Chance(0.09) {
				p.col = s.Palette.Accent
			}
			continue
		}
		p.col = ground.At(draw.Clamp(0.28+0.3*r.Float()+0.25*(1-draw.Hypot(fx, fy)), 0.12, 0.9))
	}
	return g
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
