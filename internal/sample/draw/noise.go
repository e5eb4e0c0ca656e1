package draw

// NoiseSpec describes a fractal value noise. Cells are the lattice spacing in
// pixels of the coarsest octave; different cells per axis stretch the noise
// (clouds, water, wood). Gain is the share each finer octave keeps.
type NoiseSpec struct {
	CellX, CellY float32
	Octaves      int
	Gain         float32
	Seed         uint64
}

// Field returns w*h noise values in [0,1]. It interpolates whole lattice rows
// instead of hashing per pixel, and paints coarse octaves at half size first:
// that is what makes full size clouds affordable.
func Field(w, h int, s NoiseSpec) []float32 {
	out := make([]float32, w*h)
	halfW, halfH := (w+3)/2, (h+3)/2
	var half []float32
	amp, sum := float32(1), float32(0)
	for o := range s.Octaves {
		seed := Mix(s.Seed, uint64(o))
		if min(s.CellX, s.CellY) >= 10 {
			if half == nil {
				half = make([]float32, halfW*halfH)
			}
			addOctave(half, halfW, halfH, s.CellX/2, s.CellY/2, amp, seed)
		} else {
			addOctave(out, w, h, max(s.CellX, 1.2), max(s.CellY, 1.2), amp, seed)
		}
		sum += amp
		amp *= s.Gain
		s.CellX, s.CellY = s.CellX/2, s.CellY/2
	}
	if half != nil {
		addDoubled(out, w, h, half, halfW)
	}
	scale := 1 / sum
	for i := range out {
		out[i] *= scale
	}
	return out
}

// addDoubled adds a half size field, interpolating linearly.
func addDoubled(out []float32, w, h int, half []float32, halfW int) {
	for y := range h {
		upper, lower := half[y/2*halfW:][:halfW], half[(y/2+y&1)*halfW:][:halfW]
		line := out[y*w : y*w+w]
		for x := range w / 2 {
			a := (upper[x] + lower[x]) * 0.5
			b := (upper[x+1] + lower[x+1]) * 0.5
			line[2*x] += a
			line[2*x+1] += (a + b) * 0.5
		}
		if w&1 == 1 {
			line[w-1] += (upper[w/2] + lower[w/2]) * 0.5
		}
	}
}

func addOctave(out []float32, w, h int, cellX, cellY, amp float32, seed uint64) {
	n := int(float32(w)/cellX) + 3
	index, weight := make([]int32, w), make([]float32, w)
	for x := range w {
		f := float32(x) / cellX
		i := int32(f)
		t := f - float32(i)
		index[x], weight[x] = i, t*t*(3-2*t)
	}
	upper, lower, row := make([]float32, n), make([]float32, n), make([]float32, n)
	last := -2
	for y := range h {
		f := float32(y) / cellY
		j := int(f)
		if j != last {
			latticeRow(upper, j, seed)
			latticeRow(lower, j+1, seed)
			last = j
		}
		t := f - float32(j)
		t = t * t * (3 - 2*t)
		for i := range row {
			row[i] = (upper[i] + (lower[i]-upper[i])*t) * amp
		}
		line := out[y*w : y*w+w]
		for x := range line {
			a, b := row[index[x]], row[index[x]+1]
			line[x] += a + (b-a)*weight[x]
		}
	}
}

func latticeRow(row []float32, j int, seed uint64) {
	for i := range row {
		row[i] = lattice(i, j, seed)
	}
}

func lattice(i, j int, seed uint64) float32 {
	h := uint64(uint32(i))*0x9e3779b185ebca87 ^ uint64(uint32(j))*0xc2b2ae3d27d4eb4f ^ seed
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	return float32((h^h>>32)&0xffffff) / (1 << 24)
}

// Noise returns one smooth value in [0,1] at any place; the lattice spacing is 1.
func Noise(x, y float32, seed uint64) float32 {
	fx, fy := Floor(x), Floor(y)
	i, j := int(fx), int(fy)
	tx, ty := x-fx, y-fy
	tx, ty = tx*tx*(3-2*tx), ty*ty*(3-2*ty)
	top := Lerp(lattice(i, j, seed), lattice(i+1, j, seed), tx)
	return Lerp(top, Lerp(lattice(i, j+1, seed), lattice(i+1, j+1, seed), tx), ty)
}

// Fractal sums octaves of Noise; the result is in [0,1].
func Fractal(x, y float32, octaves int, seed uint64) float32 {
	v, amp, sum := float32(0), float32(1), float32(0)
	for o := range octaves {
		v += amp * Noise(x, y, Mix(seed, uint64(o)))
		sum += amp
		amp *= 0.5
		x, y = x*2+17.3, y*2-9.1
	}
	return v / sum
}

// Ridge returns a skyline: n heights in [0,1] made of one-dimensional fractal
// noise. Sharp turns the rounded waves of hills into peaks (0 hills … 1 alps).
func Ridge(n int, cell float32, octaves int, sharp float32, seed uint64) []float32 {
	out := make([]float32, n)
	amp, sum := float32(1), float32(0)
	for o := range octaves {
		s := Mix(seed, uint64(o))
		for x := range out {
			v := Noise(float32(x)/cell+31.7, 0.5, s)
			out[x] += amp * Lerp(v, 1-Abs(2*v-1), sharp)
		}
		sum += amp
		amp *= 0.5
		cell = max(cell/2, 1.3)
	}
	for x := range out {
		out[x] /= sum
	}
	return out
}
