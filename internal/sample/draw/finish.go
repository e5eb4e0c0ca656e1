package draw

// Picture is a finished 8-bit picture: W*H*3 bytes, red green blue, row by row.
type Picture struct {
	W, H int
	Pix  []byte
}

// Look is the last touch on a picture. Bloom is the strength of the light that
// spills from bright places, Vignette the darkening of the corners, Grain the
// deviation of the film grain in 8-bit steps; 0 switches each off.
type Look struct {
	Bloom, Vignette, Grain float32
	Seed                   uint64
}

// Finish applies the look, rolls highlights off and returns the 8-bit picture.
func (c *Canvas) Finish(look Look) Picture {
	if look.Bloom > 0 {
		c.bloom(look.Bloom)
	}
	out := Picture{W: c.W, H: c.H, Pix: make([]byte, len(c.Pix))}
	columns := make([]float32, c.W)
	for x := range columns {
		u := (float32(x)+0.5)/float32(c.W)*2 - 1
		columns[x] = u * u
	}
	grain := grainTable(look)
	noise := NewRand(look.Seed)
	for y := range c.H {
		v := (float32(y)+0.5)/float32(c.H)*2 - 1
		line := c.Pix[y*c.W*3 : (y+1)*c.W*3]
		dst := out.Pix[y*c.W*3 : (y+1)*c.W*3]
		offset := int(noise.Uint64() & (grainSize/2 - 1))
		for x, u := range columns {
			r2 := u + v*v
			k := 1 - look.Vignette*r2*r2*0.25
			g := grain[offset+x]
			dst[3*x] = tone(line[3*x]*k, g)
			dst[3*x+1] = tone(line[3*x+1]*k, g)
			dst[3*x+2] = tone(line[3*x+2]*k, g)
		}
	}
	return out
}

const grainSize = 4096

func grainTable(look Look) []float32 {
	r := NewRand(Mix(look.Seed, 77))
	out := make([]float32, grainSize)
	for i := range out {
		out[i] = r.Normal()*look.Grain + 0.5
	}
	return out
}

// toneCurve keeps values up to 0.82 and bends the rest towards 1, reaching it
// only far beyond: lights keep their hue instead of clipping to white.
var toneCurve = func() (t [1025]float32) {
	for i := range t {
		x := float32(i) / 1024 * 4
		if x > 0.82 {
			x = 0.82 + 0.18*(1-Exp(-(x-0.82)/0.3))
		}
		t[i] = x * 255
	}
	return t
}()

func tone(v, grain float32) byte {
	f := Clamp(v, 0, 3.99) * 256
	i := int(f)
	return byte(Clamp(toneCurve[i]+(toneCurve[i+1]-toneCurve[i])*(f-float32(i))+grain, 0, 255))
}

// bloom adds a blurred copy of the bright parts. It works on a canvas reduced
// by four: light this soft has no detail to lose.
func (c *Canvas) bloom(strength float32) {
	const k = 4
	w, h := (c.W+k-1)/k, (c.H+k-1)/k
	small := make([]float32, w*h*3)
	for y := range h {
		for x := range w {
			col := c.At(min(x*k+1, c.W-1), min(y*k+1, c.H-1)).Plus(c.At(min(x*k+2, c.W-1), min(y*k+2, c.H-1))).Mul(0.5)
			gate := Smooth(0.55, 1.1, max(col.R, col.G, col.B))
			i := (y*w + x) * 3
			small[i], small[i+1], small[i+2] = col.R*gate, col.G*gate, col.B*gate
		}
	}
	radius := max(int(c.Unit()/k/22), 1)
	for range 2 {
		blurRows(small, w, h, radius)
		blurColumns(small, w, h, radius)
	}
	c.addScaled(small, w, h, k, strength)
}

// addScaled adds a k times smaller picture with bilinear interpolation.
func (c *Canvas) addScaled(small []float32, w, h, k int, strength float32) {
	row := make([]float32, w*3)
	for y := range c.H {
		f := Clamp((float32(y)+0.5)/float32(k)-0.5, 0, float32(h-1))
		j := min(int(f), max(h-2, 0))
		t := f - float32(j)
		upper, lower := small[j*w*3:(j+1)*w*3], small[min(j+1, h-1)*w*3:]
		for i := range row {
			row[i] = (upper[i] + (lower[i]-upper[i])*t) * strength
		}
		line := c.Pix[y*c.W*3 : (y+1)*c.W*3]
		for x := range c.W {
			g := Clamp((float32(x)+0.5)/float32(k)-0.5, 0, float32(w-1))
			i := min(int(g), max(w-2, 0))
			s := g - float32(i)
			a, b := row[i*3:], row[min(i+1, w-1)*3:]
			line[3*x] += a[0] + (b[0]-a[0])*s
			line[3*x+1] += a[1] + (b[1]-a[1])*s
			line[3*x+2] += a[2] + (b[2]-a[2])*s
		}
	}
}

func blurRows(p []float32, w, h, r int) {
	line := make([]float32, w)
	for y := range h {
		for ch := range 3 {
			blurLine(p[y*w*3+ch:], 3, w, r, line)
		}
	}
}

func blurColumns(p []float32, w, h, r int) {
	line := make([]float32, h)
	for x := range w {
		for ch := range 3 {
			blurLine(p[x*3+ch:], w*3, h, r, line)
		}
	}
}

// blurLine replaces n values, stride apart, by their running mean over 2r+1.
func blurLine(p []float32, stride, n, r int, line []float32) {
	sum := float32(0)
	at := func(i int) float32 { return p[min(max(i, 0), n-1)*stride] }
	for i := -r; i <= r; i++ {
		sum += at(i)
	}
	scale := 1 / float32(2*r+1)
	for i := range n {
		line[i] = sum * scale
		sum += at(i+r+1) - at(i-r)
	}
	for i := range n {
		p[i*stride] = line[i]
	}
}
