package strip

import "io"

// unit follows the i-th unit.
func (s *scan) unit(i int) error {
	if len(s.parts) == 1 {
		across, _ := s.alone()
		return s.block(s.parts[0], i%across, i/across)
	}
	across := ceil(s.frame.width, 8*s.frame.hmax)
	x, y := i%across, i/across
	for _, c := range s.parts {
		for v := range int(c.v) {
			for h := range int(c.h) {
				if err := s.block(c, x*int(c.h)+h, y*int(c.v)+v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// bit returns the next bit.
func (s *scan) bit() (uint32, error) {
	if s.have == 0 {
		b, err := s.r.ReadByte()
		if err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		s.at++
		if b == 0xff {
			zero, err := s.r.ReadByte()
			if err != nil || zero != 0 {
				return 0, io.ErrUnexpectedEOF
			}
			s.at++
		}
		s.bits, s.have = uint32(b), 8
	}
	s.have--
	return s.bits >> s.have & 1, nil
}

func (s *scan) skip(n int) error {
	for n > 0 {
		if s.have > 0 {
			k := min(int(s.have), n)
			s.have -= uint32(k)
			n -= k
			continue
		}
		if _, err := s.bit(); err != nil {
			return err
		}
		n--
	}
	return nil
}

// value returns the next value that is coded with a table.
func (s *scan) value(h *huffman) (byte, error) {
	code := 0
	for size := 1; size <= 16; size++ {
		b, err := s.bit()
		if err != nil {
			return 0, err
		}
		code = code<<1 | int(b)
		if code <= h.most[size] {
			if at := code + h.first[size]; at >= 0 && at < len(h.values) {
				return h.values[at], nil
			}
			return 0, errOdd
		}
	}
	return 0, errOdd
}

// block follows one block.
func (s *scan) block(c scanPart, x, y int) error {
	at := s.first
	if at == 0 {
		if s.refine {
			if err := s.skip(1); err != nil {
				return err
			}
		} else {
			n, err := s.value(c.dc)
			if err == nil {
				err = s.skip(int(n & 15))
			}
			if err != nil {
				return err
			}
		}
		at = 1
	}
	if at > s.last {
		return nil
	}
	var nonzero *uint64
	if s.frame.progressive {
		nonzero = &c.nonzero[y*c.across+x]
	}
	if s.refine {
		return s.refined(c.ac, nonzero, at)
	}
	return s.coefficients(c.ac, nonzero, at)
}

// coefficients follows those of a block that are coded for the first time.
func (s *scan) coefficients(h *huffman, nonzero *uint64, at int) error {
	if s.run > 0 {
		s.run--
		return nil
	}
	for at <= s.last {
		v, err := s.value(h)
		if err != nil {
			return err
		}
		zeros, size := int(v>>4), int(v&15)
		switch {
		case size > 0:
			at += zeros
			if at > s.last {
				return errOdd
			}
			if nonzero != nil {
				*nonzero |= 1 << at
			}
			at++
			if err := s.skip(size); err != nil {
				return err
			}
		case zeros == 15:
			at += 16
		default:
			return s.endOfBand(zeros)
		}
	}
	return nil
}

// endOfBand reads for how many blocks there are no more coefficients, this one included.
func (s *scan) endOfBand(size int) error {
	if !s.frame.progressive {
		return nil
	}
	s.run = 1<<size - 1
	extra := 0
	for range size {
		b, err := s.bit()
		if err != nil {
			return err
		}
		extra = extra<<1 | int(b)
	}
	s.run += extra
	return nil
}

// refined follows the next bit of coefficients that were coded before, and those that are new.
func (s *scan) refined(h *huffman, nonzero *uint64, at int) error {
	if s.run > 0 {
		s.run--
		_, err := s.correct(nonzero, at, 64)
		return err
	}
	for at <= s.last {
		v, err := s.value(h)
		if err != nil {
			return err
		}
		zeros, size := int(v>>4), int(v&15)
		if size == 0 && zeros < 15 {
			if err := s.endOfBand(zeros); err != nil {
				return err
			}
			_, err := s.correct(nonzero, at, 64)
			return err
		}
		if err := s.skip(size); err != nil { // the sign of a new one
			return err
		}
		if at, err = s.correct(nonzero, at, zeros); err != nil {
			return err
		}
		if size > 0 && at <= s.last {
			*nonzero |= 1 << at
		}
		at++
	}
	return nil
}

// correct skips a bit for each coefficient that is not zero, past a number of those that are, and returns where
// the next zero one is.
func (s *scan) correct(nonzero *uint64, at, zeros int) (int, error) {
	for ; at <= s.last; at++ {
		if *nonzero>>at&1 != 0 {
			if err := s.skip(1); err != nil {
				return 0, err
			}
			continue
		}
		if zeros == 0 {
			break
		}
		zeros--
	}
	return at, nil
}
