package container

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"io"
)

// stealthPNGCost returns what searching a PNG picture takes, in bytes: four bits of a
// pixel and two rows.
func stealthPNGCost(s source) int64 {
	if !fits(s.file.Width, s.file.Height, maxStealthPNG) {
		return 0
	}
	return int64(s.file.Width)*int64(s.file.Height)/2 + 8*int64(s.file.Width)
}

// stealthPNG inflates a picture row by row and keeps only its lowest bits. It
// stops as soon as the first column shows that there is no hidden text.
func stealthPNG(s source) {
	h := s.peek(16, 13)
	if h == nil {
		return
	}
	width, height := dimension(binary.BigEndian.Uint32(h)), dimension(binary.BigEndian.Uint32(h[4:]))
	depth, colour, interlaced := h[8], h[9], h[12]
	if depth != 8 || interlaced != 0 || colour != 2 && colour != 6 || width > maxStealthRow || !fits(width, height, maxStealthPNG) {
		return
	}
	z, err := zlib.NewReader(bufio.NewReader(&pixelData{s: s, next: 8}))
	if err != nil {
		return
	}
	pixel := 3
	var alpha *hiddenBits
	if colour == 6 {
		pixel, alpha = 4, newHiddenBits(alphaMagics, 1, width, height)
	}
	rgb := newHiddenBits(rgbMagics, 3, width, height)
	row, above := make([]byte, 1+width*pixel), make([]byte, 1+width*pixel)
	for y := range height {
		if _, err := io.ReadFull(z, row); err != nil || !unfilter(row, above, pixel) {
			return // a cut picture cannot hold a whole text
		}
		fillRow(y, row[1:], pixel, width, alpha, rgb)
		if alpha != nil && !alpha.possible(y+1) {
			alpha = nil
		}
		if rgb != nil && !rgb.possible(y+1) {
			rgb = nil
		}
		if alpha == nil && rgb == nil {
			return
		}
		row, above = above, row
	}
	var groups []*hiddenBits
	for _, g := range []*hiddenBits{alpha, rgb} {
		if g != nil {
			groups = append(groups, g)
		}
	}
	keepHidden(s, "png:stealth", groups)
}

// pixelData joins the IDAT chunks of a PNG file.
type pixelData struct {
	s    source
	next int64 // the next chunk
	at   int64 // within the current one
	left int64
}

func (p *pixelData) Read(b []byte) (int, error) {
	for p.left == 0 {
		h := p.s.peek(p.next, 8)
		if h == nil || !p.s.step() || string(h[4:]) == "IEND" {
			return 0, io.EOF
		}
		n := int64(binary.BigEndian.Uint32(h))
		if string(h[4:]) == "IDAT" {
			p.at, p.left = p.next+8, min(n, p.s.size-p.next-8)
		}
		p.next += n + 12
	}
	got := p.s.peek(p.at, min(int64(len(b)), p.left))
	if got == nil {
		return 0, io.EOF
	}
	p.at += int64(len(got))
	p.left -= int64(len(got))
	return copy(b, got), nil
}

// unfilter undoes a row's prediction in place (PNG specification, section 9); both
// rows begin with their filter's number.
func unfilter(row, above []byte, pixel int) bool {
	kind, row, above := row[0], row[1:], above[1:]
	for i := range row {
		var left, corner byte
		if i >= pixel {
			left, corner = row[i-pixel], above[i-pixel]
		}
		switch kind {
		case 0:
			return true
		case 1:
			row[i] += left
		case 2:
			row[i] += above[i]
		case 3:
			row[i] += byte((int(left) + int(above[i])) / 2)
		case 4:
			row[i] += paeth(int(left), int(above[i]), int(corner))
		default:
			return false
		}
	}
	return true
}

// paeth returns the neighbour nearest to left + above − corner.
func paeth(left, above, corner int) byte {
	p := left + above - corner
	a, b, c := abs(p-left), abs(p-above), abs(p-corner)
	switch {
	case a <= b && a <= c:
		return byte(left)
	case b <= c:
		return byte(above)
	}
	return byte(corner)
}

func abs(n int) int { return max(n, -n) }
