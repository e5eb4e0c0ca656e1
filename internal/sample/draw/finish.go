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
		speckle := grain[offset : offset+c.W]
		for x, u := range columns {
			r2 := u + v*v
			k := (1 - look.Vignette*r2*r2*0.25) * toneSteps
			g := speckle[x]
			p, q := line[3*x:3*x+3:3*x+3], dst[3*x:3*x+3:3*x+3]
			q[0], q[1], q[2] = tone(p[0]*k, g), tone(p[1]*k, g), tone(p[2]*k, g)
		}
	}
	return out
}

// The tone curve is a table over colours 0 to 4 in steps of 1/toneSteps; its
// values and the grain are 8-bit steps with eight more bits of fraction.
const (
	toneSteps = 1024
	grainSize = 8192
)

func grainTable(look Look) []int32 {
	r := NewRand(Mix(look.Seed, 77))
	out := make([]int32, grainSize)
	for i := range out {
		out[i] = int32((r.Normal()*look.Grain + 0.5) * 256)
	}
	return out
}

// toneCurve keeps values up to 0.82 and bends the rest towards 1, reaching it
// only far beyond: lights keep their hue instead of clipping to white.
var toneCurve = func() (t [4*toneSteps + 1]int32) {
	for i := range t {
		x := float32(i) / toneSteps
		if x > 0.82 {
			x = 0.82 + 0.18*(1-Exp(-(x-0.82)/0.3))
		}
		t[i] = int32(x * 255 * 256)
	}
	return t
}()

func tone(v float32, grain int32) byte {
	i := int32(v)
	if uint32(i) > 4*toneSteps {
		i = 4 * toneSteps
		if v < 0 {
			i = 0
		}
	}
	out := (toneCurve[i] + grain) >> 8
	if uint32(out) > 255 {
		out = 255 &^ (out >> 31)
	}
	return byte(out)
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
	row := make([]float32, (w+1)*3)
	columns, weights := steps(c.W, w, k)
	rows, downs := steps(c.H, h, k)
	for y := range c.H {
		upper, t := small[rows[y]*w*3:][:w*3], downs[y]
		lower := small[min(rows[y]+1, h-1)*w*3:][:w*3]
		for i := range upper {
			row[i] = (upper[i] + (lower[i]-upper[i])*t) * strength
		}
		copy(row[w*3:], row[w*3-3:w*3])
		line := c.Pix[y*c.W*3 : (y+1)*c.W*3]
		for x, s := range weights {
			p, q := line[3*x:3*x+3:3*x+3], row[columns[x]*3:][:6:6]
			p[0] += q[0] + (q[3]-q[0])*s
			p[1] += q[1] + (q[4]-q[1])*s
			p[2] += q[2] + (q[5]-q[2])*s
		}
	}
}

// steps maps n pixels to the places between m samples, k pixels each.
func steps(n, m, k int) (index []int, weight []float32) {
	index, weight = make([]int, n), make([]float32, n)
	for i := range n {
		f := Clamp((float32(i)+0.5)/float32(k)-0.5, 0, float32(m-1))
		index[i] = int(f)
		weight[i] = f - float32(index[i])
	}
	return index, weight
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
