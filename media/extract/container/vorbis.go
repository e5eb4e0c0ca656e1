package container

import "bytes"

// vorbisComments keeps the fields of a Vorbis comment block: FLAC, Ogg Vorbis,
// Opus and Theora share it (Vorbis I specification, section 5).
func vorbisComments(s source, b []byte, place string) {
	c := cursor{b: b}
	c.take(c.le32()) // the encoder's name
	for n := c.le32(); n > 0 && !c.bad && s.step(); n-- {
		key, value, ok := bytes.Cut(c.take(c.le32()), []byte{'='})
		if ok {
			s.add(place, utf8OrLatin1(key), utf8OrLatin1(value))
		}
	}
	if c.bad {
		s.warn("the %s block breaks off", place)
	}
}

// readFLAC walks the metadata blocks of a FLAC file (RFC 9639, section 8).
func readFLAC(s source) {
	s.file.MIME = "audio/flac"
	for off := int64(4); s.step(); {
		h := s.peek(off, 4)
		if h == nil {
			s.cut("the FLAC's metadata")
			return
		}
		n := int64(h[1])<<16 | int64(h[2])<<8 | int64(h[3])
		if off+4+n > s.size {
			s.cut("a FLAC metadata block")
			return
		}
		flacBlock(s, h[0]&0x7F, s.part(off+4, n))
		if h[0]&0x80 != 0 { // the last one
			return
		}
		off += 4 + n
	}
}

func flacBlock(s source, kind byte, body source) {
	switch kind {
	case 0:
		if b := body.peek(10, 8); b != nil {
			rate := int(b[0])<<12 | int(b[1])<<4 | int(b[2])>>4
			c := cursor{b: b[3:]}
			if samples := c.uint(5) & (1<<36 - 1); rate > 0 {
				s.file.setDuration(1000 * float64(samples) / float64(rate))
			}
		}
	case 4:
		if b, ok := body.value("the FLAC comments", 0, body.size); ok {
			vorbisComments(s, b, "flac:comment")
		}
	}
}
