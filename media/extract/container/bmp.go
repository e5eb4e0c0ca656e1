package container

import "encoding/binary"

// isBMP reports whether a file is BMP, by its two letters and its header's length, as two
// letters alone begin many a text.
func isBMP(head []byte) bool {
	if len(head) < 26 || head[0] != 'B' || head[1] != 'M' {
		return false
	}
	switch binary.LittleEndian.Uint32(head[14:]) {
	case 12, 40, 52, 56, 64, 108, 124:
		return true
	}
	return false
}

// readBMP reads the size out of a BMP file's header, of which there is an old
// form with 16-bit fields. A negative height says that rows run downwards.
func readBMP(s source) {
	h := s.peek(14, 12)
	if h == nil {
		s.cut("the BMP's header")
		return
	}
	if binary.LittleEndian.Uint32(h) == 12 {
		s.file.Width, s.file.Height = int(binary.LittleEndian.Uint16(h[4:])), int(binary.LittleEndian.Uint16(h[6:]))
		return
	}
	height := int32(binary.LittleEndian.Uint32(h[8:]))
	s.file.Width = dimension(binary.LittleEndian.Uint32(h[4:]))
	s.file.Height = dimension(uint32(max(height, -height, 0)))
}
