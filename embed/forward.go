package embed

import "math"

// work is the memory of one forward pass, kept from pass to pass.
type work struct {
	x, y, wide   []float32
	scores       []float32
	keys, values panels
}

// forward returns the mean of the last layer's vectors for each sequence. The
// sequences lie one after the other without padding; only attention, which looks
// at one sequence at a time, must know where each begins.
func (m *bert) forward(w *work, sequences [][]int32) [][]float32 {
	rows := 0
	for _, s := range sequences {
		rows += len(s)
	}
	h := m.Hidden
	w.x, w.y = sized(w.x, rows*h), sized(w.y, rows*h)
	w.wide = sized(w.wide, rows*max(3*h, m.Inner))
	m.lookUp(w.x, sequences)
	for i := range m.layers {
		l := &m.layers[i]
		l.attention.multiply(w.wide, 3*h, w.x, h, rows)
		m.attend(w, sequences)
		l.output.multiply(w.wide, h, w.y, h, rows)
		l.afterward.add(w.x, w.wide, h, m.Epsilon)
		l.widen.multiply(w.wide, m.Inner, w.x, h, rows)
		gelu(w.wide[:rows*m.Inner])
		l.narrow.multiply(w.y, h, w.wide, m.Inner, rows)
		l.last.add(w.x, w.y, h, m.Epsilon)
	}
	return means(w.x, sequences, h)
}

// lookUp writes the sum of the vectors of each token and of its place.
func (m *bert) lookUp(x []float32, sequences [][]int32) {
	h, row := m.Hidden, 0
	for _, s := range sequences {
		for at, id := range s {
			word, place, out := m.words[int(id)*h:][:h], m.positions[at*h:][:h], x[row*h:][:h]
			for i := range out {
				out[i] = word[i] + place[i]
			}
			row++
		}
	}
	m.first.add(x, nil, h, m.Epsilon)
}

// lowest is a score without a share: far below any, but not so far that what is
// computed of it is no number.
const lowest = -1e30

// attend reads queries, keys and values from w.wide and writes to w.y what every
// token takes over from the tokens of its sequence.
func (m *bert) attend(w *work, sequences [][]int32) {
	h, heads := m.Hidden, m.Heads
	d := h / heads
	scale := float32(1 / math.Sqrt(float64(d)))
	row := 0
	for _, s := range sequences {
		n := len(s)
		wide := (n + lanes - 1) / lanes * lanes // so that rows are whole vectors
		w.scores = sized(w.scores, n*wide)
		for head := range heads {
			qkv := w.wide[row*3*h+head*d:]
			w.keys.pack(qkv[h:], n, d, 3*h, 1)
			w.keys.multiply(w.scores, wide, qkv, 3*h, n)
			for i := range n {
				row := w.scores[i*wide:][:wide]
				for at := n; at < wide; at++ {
					row[at] = lowest // has no share
				}
				softmax(row, scale)
			}
			w.values.pack(qkv[2*h:], d, n, 1, 3*h)
			w.values.multiply(w.y[row*h+head*d:], h, w.scores, wide, n)
		}
		row += n
	}
}

// softmaxPortable turns scores into shares of 1.
func softmaxPortable(v []float32, scale float32) {
	most := v[0]
	for _, x := range v {
		most = max(most, x)
	}
	var sum float32
	for i, x := range v {
		e := float32(math.Exp(float64((x - most) * scale)))
		v[i] = e
		sum += e
	}
	for i := range v {
		v[i] /= sum
	}
}

// add adds y, unless it is nil, to x and normalizes each row of x.
func (n layerNorm) add(x, y []float32, h int, epsilon float32) {
	for from := 0; from+h <= len(x); from += h {
		var add []float32
		if y != nil {
			add = y[from:][:h]
		}
		normRow(x[from:][:h], add, n.scale, n.shift, epsilon)
	}
}

func normRowPortable(x, y, scale, shift []float32, epsilon float32) {
	for i := range y {
		x[i] += y[i]
	}
	var sum, squares float32
	for _, v := range x {
		sum += v
	}
	mean := sum / float32(len(x))
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	factor := 1 / float32(math.Sqrt(float64(squares/float32(len(x))+epsilon)))
	for i, v := range x {
		x[i] = (v-mean)*factor*scale[i] + shift[i]
	}
}

// means returns the mean of the rows of each sequence.
func means(x []float32, sequences [][]int32, h int) [][]float32 {
	out := make([][]float32, len(sequences))
	for i, s := range sequences {
		v := make([]float32, h)
		for ; len(s) > 0; s = s[1:] {
			for j, n := range x[:h] {
				v[j] += n
			}
			x = x[h:]
		}
		for j := range v {
			v[j] /= float32(len(sequences[i]))
		}
		out[i] = v
	}
	return out
}
