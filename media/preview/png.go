package preview

import (
	"errors"
	"image"
	"io"

	"vitrine/media/pngrow"
)

// openPNG reads a PNG by rows: what it takes does not depend on its height, nor on
// its depth, unless it is interlaced.
func openPNG(f file) (source, error) {
	h, err := pngrow.ReadHeader(f)
	if err != nil {
		return source{}, err
	}
	s := source{kind: "PNG", width: h.Width, height: h.Height, cost: h.Cost() + 3*int64(h.Width), read: readPNG}
	if h.Interlaced {
		s.kind, s.cost, s.read = "interlaced PNG", h.Cost()+3*pixels(h.Width, h.Height), readInterlaced
	}
	return s, nil
}

func readPNG(f file, edge int) (*image.RGBA, error) {
	p, err := pngrow.New(f, f.n)
	if err != nil {
		return nil, err
	}
	r := newReducer(p.Width, p.Height, edge)
	if p.Color == pngrow.RGB && p.Depth == 8 && p.Transparent == nil {
		return r.out, eachRow(p, func(row pngrow.Row) { r.row(row.Data, 3) })
	}
	rgb := make([]byte, 3*p.Width)
	return r.out, eachRow(p, func(row pngrow.Row) {
		pngPixels(p, row, rgb, 3)
		r.row(rgb, 3)
	})
}

// readInterlaced collects the seven passes before it reduces them.
func readInterlaced(f file, edge int) (*image.RGBA, error) {
	p, err := pngrow.New(f, f.n)
	if err != nil {
		return nil, err
	}
	line := 3 * p.Width
	rgb := make([]byte, line*p.Height)
	if err := eachRow(p, func(row pngrow.Row) {
		pngPixels(p, row, rgb[line*row.Y+3*row.X:line*(row.Y+1)], 3*row.StepX)
	}); err != nil {
		return nil, err
	}
	r := newReducer(p.Width, p.Height, edge)
	for y := range p.Height {
		r.row(rgb[line*y:line*(y+1)], 3)
	}
	return r.out, nil
}

func eachRow(p *pngrow.Reader, do func(pngrow.Row)) error {
	for {
		row, err := p.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		do(row)
	}
}

// pngPixels writes the pixels of a row as red, green and blue, on the background
// where they are not opaque, each step bytes behind the one before.
func pngPixels(p *pngrow.Reader, row pngrow.Row, out []byte, step int) {
	switch {
	case p.Color == pngrow.Palette || p.Depth < 8:
		pngPacked(p, row, out, step)
	case p.Depth == 16:
		pngSamples(p, row, out, step, 2)
	default:
		pngSamples(p, row, out, step, 1)
	}
}

// pngSamples is for samples of one or two bytes, of two the first counts.
func pngSamples(p *pngrow.Reader, row pngrow.Row, out []byte, step, size int) {
	channels := p.Channels()
	pixel := channels * size
	green, blue := size, 2*size
	if channels < 3 {
		green, blue = 0, 0
	}
	hasAlpha, alpha := p.Color == pngrow.GrayAlpha || p.Color == pngrow.RGBA, (channels-1)*size
	for i := range row.Width {
		in := row.Data[i*pixel : (i+1)*pixel]
		o := out[i*step : i*step+3]
		o[0], o[1], o[2] = in[0], in[green], in[blue]
		a := byte(0xff)
		if hasAlpha {
			a = in[alpha]
		} else if p.Transparent != nil && sameSamples(in, p.Transparent, size) {
			a = 0
		}
		if a != 0xff {
			o[0], o[1], o[2] = over(o[0], a), over(o[1], a), over(o[2], a)
		}
	}
}

// sameSamples reports whether a pixel has the color that stands for transparency.
func sameSamples(in []byte, want []uint16, size int) bool {
	for i, v := range want {
		got := uint16(in[i*size])
		if size == 2 {
			got = got<<8 | uint16(in[i*size+1])
		}
		if got != v {
			return false
		}
	}
	return true
}

// pngPacked is for samples of at most a byte that mean a grey or a color of the
// palette. What is outside the palette is black, as everybody shows it.
func pngPacked(p *pngrow.Reader, row pngrow.Row, out []byte, step int) {
	var colors [256][3]byte
	if p.Color == pngrow.Palette {
		copy(colors[:], p.Colors)
		for i, a := range p.Alpha[:min(len(p.Alpha), len(colors))] {
			for c := range 3 {
				colors[i][c] = over(colors[i][c], a)
			}
		}
	} else {
		most := 1<<p.Depth - 1
		for i := range most + 1 {
			v := byte(i * 255 / most)
			if p.Transparent != nil && int(p.Transparent[0]) == i {
				v = grey
			}
			colors[i] = [3]byte{v, v, v}
		}
	}
	mask, perByte := byte(1<<p.Depth-1), 8/p.Depth
	for i := range row.Width {
		shift := 8 - p.Depth*(i%perByte+1)
		copy(out[i*step:i*step+3], colors[row.Data[i/perByte]>>shift&mask][:])
	}
}
