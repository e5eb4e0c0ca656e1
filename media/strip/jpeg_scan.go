package strip

import (
	"bufio"
	"encoding/binary"
	"errors"
)

// needed returns the part of a segment's body that a decoder reads: tables and headers have a length
// of their own, and what stands behind it is none of the picture. ok is false for a segment that the picture does
// not need at all.
func (f *jpegFrame) needed(marker byte, body []byte) (n int, ok bool) {
	switch {
	case marker == 0xc8 || marker == 0xde || marker == 0xdf || marker == 0xdc && (f.height != 0 || len(f.parts) == 0):
		return 0, false
	case marker == 0xc4: // Huffman tables
		for n+17 <= len(body) {
			size := 17
			for _, c := range body[n+1 : n+17] {
				size += int(c)
			}
			if n+size > len(body) || body[n] > 0x1f || body[n]&15 > 3 {
				break
			}
			n += size
		}
	case marker == 0xdb: // quantization
		for n < len(body) {
			size := 65
			if body[n]>>4 == 1 {
				size = 129
			}
			if n+size > len(body) || body[n] > 0x1f || body[n]&15 > 3 {
				break
			}
			n += size
		}
	case marker == 0xcc:
		n = len(body) &^ 1
	case marker == 0xdc || marker == 0xdd:
		n = 2
	case marker == 0xda && len(body) > 0:
		n = 4 + 2*int(body[0])
	case len(body) >= 6: // the frame
		n = 6 + 3*int(body[5])
	}
	return min(n, len(body)), true
}

// jpegFrame is what has to be known of a picture to follow its coded data.
type jpegFrame struct {
	width, height int
	progressive   bool
	parts         []jpegComponent
	tables        [2][4]*huffman
	interval      int // MCUs between restarts; 0: there are none
	hmax, vmax    int
	odd           bool // coded in a way that is not followed
}

type jpegComponent struct {
	id, h, v byte
	across   int      // blocks in a row of the store
	nonzero  []uint64 // of a progressive picture: which coefficients of each block are not zero
}

// huffman decodes by the shortest codes first, as the standard's own procedure.
type huffman struct {
	most   [17]int // the largest code of a length; -1: there is none
	first  [17]int // what to add to a code for the place of its value
	values []byte
}

// maxBlocks bounds what is kept of a progressive picture: 8 bytes for each block.
const maxBlocks = 4 << 20

// read takes what a segment says.
func (f *jpegFrame) read(marker byte, body []byte) {
	switch {
	case marker == 0xc4:
		f.huffman(body)
	case marker == 0xdd && len(body) >= 2:
		f.interval = int(binary.BigEndian.Uint16(body))
	case marker >= 0xc0 && marker <= 0xcf && marker != 0xc8 && marker != 0xcc:
		f.start(marker, body)
	}
}

func (f *jpegFrame) start(marker byte, body []byte) {
	f.odd = marker > 0xc2 || len(body) < 6 || len(f.parts) > 0
	if f.odd || len(body) < 6+3*int(body[5]) || body[5] > 4 {
		f.odd = true
		return
	}
	f.progressive = marker == 0xc2
	f.height, f.width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
	for i := range int(body[5]) {
		c := jpegComponent{id: body[6+3*i], h: body[7+3*i] >> 4, v: body[7+3*i] & 15}
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 {
			f.odd = true
			return
		}
		f.hmax, f.vmax = max(f.hmax, int(c.h)), max(f.vmax, int(c.v))
		f.parts = append(f.parts, c)
	}
	if f.odd = f.width == 0 || f.height == 0; f.odd || !f.progressive {
		return
	}
	across, down := ceil(f.width, 8*f.hmax), ceil(f.height, 8*f.vmax)
	for i := range f.parts {
		c := &f.parts[i]
		c.across = across * int(c.h)
		n := c.across * down * int(c.v)
		if f.odd = f.odd || n > maxBlocks; !f.odd {
			c.nonzero = make([]uint64, n)
		}
	}
}

func ceil(a, b int) int { return (a + b - 1) / b }

func (f *jpegFrame) huffman(body []byte) {
	for len(body) >= 17 {
		class, slot := body[0]>>4, body[0]&15
		h := &huffman{}
		code, n := 0, 0
		for size := 1; size <= 16; size++ {
			count := int(body[size])
			h.most[size], h.first[size] = -1, n-code
			if count > 0 {
				h.most[size] = code + count - 1
			}
			n, code = n+count, (code+count)<<1
		}
		if class > 1 || slot > 3 || 17+n > len(body) {
			return
		}
		h.values = body[17 : 17+n]
		f.tables[class][slot] = h
		body = body[17+n:]
	}
}

// errOdd is why coded data cannot be followed.
var errOdd = errors.New("coded in a way that is not followed")

// scan is a scan while it is followed.
type scan struct {
	frame      *jpegFrame
	r          *bufio.Reader
	at         int64 // where the next byte stands
	bits, have uint32
	first      int // of the coefficients that are coded
	last       int
	refine     bool
	run        int // blocks that have no more coefficients
	parts      []scanPart
}

type scanPart struct {
	*jpegComponent
	dc, ac *huffman
}

// follow follows a scan whose header is given, and whose data stands from off to end, and returns what of
// that is data: the ranges that a decoder reads, restarts included. ok is false where that is not known.
func (f *jpegFrame) follow(in input, header []byte, off, end int64) (ranges [][2]int64, ok bool) {
	s, err := f.scan(header)
	if err != nil {
		return nil, false
	}
	s.r, s.at = bufio.NewReaderSize(in.section(off, end-off), 64<<10), off
	from, left, total := off, f.interval, s.units()
	for i := range total {
		if err := s.unit(i); err != nil {
			return nil, false
		}
		if left--; left == 0 && i+1 < total {
			ranges = append(ranges, [2]int64{from, s.at})
			if from = s.restart(); from < 0 {
				return nil, false
			}
			left = f.interval
		}
		if i%4096 == 0 && in.ctx.Err() != nil {
			return nil, false
		}
	}
	return append(ranges, [2]int64{from, s.at}), true
}

// restart goes on behind the next restart and returns where that stands; -1: there is none.
func (s *scan) restart() int64 {
	s.bits, s.have, s.run = 0, 0, 0
	before := byte(0)
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			return -1
		}
		s.at++
		if before == 0xff && b >= 0xd0 && b <= 0xd7 {
			return s.at - 2
		}
		before = b
	}
}

func (f *jpegFrame) scan(b []byte) (*scan, error) {
	if f.odd || len(f.parts) == 0 || len(b) < 1 || len(b) < 4+2*int(b[0]) || b[0] < 1 || b[0] > 4 {
		return nil, errOdd
	}
	n := int(b[0])
	s := &scan{frame: f, first: int(b[1+2*n]), last: int(b[2+2*n]), refine: b[3+2*n]>>4 > 0}
	if !f.progressive {
		s.first, s.last, s.refine = 0, 63, false
	}
	if s.last > 63 || s.first > s.last || f.progressive && s.first > 0 && n > 1 {
		return nil, errOdd
	}
	for i := range n {
		id, slots := b[1+2*i], b[2+2*i]
		part := scanPart{}
		for k := range f.parts {
			if f.parts[k].id == id {
				part.jpegComponent = &f.parts[k]
			}
		}
		if part.jpegComponent == nil || slots>>4 > 3 || slots&15 > 3 {
			return nil, errOdd
		}
		part.dc, part.ac = f.tables[0][slots>>4], f.tables[1][slots&15]
		if s.first == 0 && !s.refine && part.dc == nil || s.last > 0 && part.ac == nil {
			return nil, errOdd
		}
		s.parts = append(s.parts, part)
	}
	return s, nil
}

// units returns how many units the scan has: blocks of one component, or MCUs of several.
func (s *scan) units() int {
	f := s.frame
	if len(s.parts) > 1 {
		return ceil(f.width, 8*f.hmax) * ceil(f.height, 8*f.vmax)
	}
	across, down := s.alone()
	return across * down
}

// alone returns how many blocks a component has that has a scan of its own.
func (s *scan) alone() (across, down int) {
	f, c := s.frame, s.parts[0]
	return ceil(ceil(f.width*int(c.h), f.hmax), 8), ceil(ceil(f.height*int(c.v), f.vmax), 8)
}
