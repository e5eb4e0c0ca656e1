package container

import (
	"bytes"
	"encoding/binary"
)

// oggStream is one logical stream of an Ogg file, up to its comments.
type oggStream struct {
	serial  uint32
	codec   string
	rate    uint64 // samples per second
	skip    uint64 // samples at the start that are not played
	packets int    // whole packets so far
	packet  []byte // the packet that is being gathered
	done    bool
}

// oggCodecs lists the codecs by how their first packet starts, with the length
// of what precedes the comments in their comment packets: a mark that begins like
// the first packet's, or in FLAC a block header.
var oggCodecs = []struct {
	name, first, mark string
	skip              int
}{
	{"vorbis", "\x01vorbis", "\x03vorbis", 7},
	{"opus", "OpusHead", "OpusTags", 8},
	{"theora", "\x80theora", "\x81theora", 7},
	{"flac", "\x7fFLAC", "", 4},
}

// oggTail is where the last page is looked for: no page is longer than this.
const oggTail = 65307

// oggPage is one page's header.
type oggPage struct {
	serial uint32
	first  bool   // of its stream
	lacing []byte // lengths of the body's pieces
	body   source
	next   int64 // where the page behind it begins
}

// nextPage reads the header of the page at off.
func nextPage(s source, off int64) (oggPage, bool) {
	h := s.peek(off, 27)
	if h == nil || string(h[:4]) != "OggS" {
		return oggPage{}, false
	}
	p := oggPage{serial: binary.LittleEndian.Uint32(h[14:]), first: h[5]&2 != 0}
	if p.lacing = s.peek(off+27, int64(h[26])); p.lacing == nil {
		return oggPage{}, false
	}
	n := int64(0)
	for _, x := range p.lacing {
		n += int64(x)
	}
	at := off + 27 + int64(len(p.lacing))
	p.body, p.next = s.part(at, n), at+n
	return p, p.body.size == n
}

// readOgg gathers the comment packets of an Ogg file (RFC 3533) and takes its
// length from the last page. All streams begin before any goes on, so the walk
// ends when each of those seen has given its comments.
func readOgg(s source) {
	s.file.MIME = "audio/ogg"
	var streams []*oggStream
	gathered := int64(0)
	for off := int64(0); off < s.size && s.step(); {
		p, ok := nextPage(s, off)
		if !ok {
			s.cut("the Ogg pages")
			break
		}
		off = p.next
		st := findStream(&streams, p.serial, p.first)
		if st == nil || st.done {
			if allDone(streams) && !p.first {
				break
			}
			continue
		}
		if gathered += p.body.size; gathered > maxValue {
			s.warn("the Ogg comments are larger than %d MiB and were left out", maxValue>>20)
			break
		}
		st.page(s, p.lacing, p.body.front(p.body.size))
	}
	oggLength(s, streams)
}

// findStream returns the stream with this serial number, a new one at its first page.
func findStream(all *[]*oggStream, serial uint32, first bool) *oggStream {
	for _, st := range *all {
		if st.serial == serial {
			return st
		}
	}
	if !first || len(*all) == maxTracks {
		return nil
	}
	st := &oggStream{serial: serial}
	*all = append(*all, st)
	return st
}

func allDone(streams []*oggStream) bool {
	for _, st := range streams {
		if !st.done {
			return false
		}
	}
	return true
}

// page cuts a page's body into packets: one ends with a lacing value below 255.
func (st *oggStream) page(s source, lacing, body []byte) {
	for _, n := range lacing {
		if int(n) > len(body) { // the reader failed
			return
		}
		st.packet = append(st.packet, body[:n]...)
		body = body[n:]
		if n < 255 {
			st.whole(s)
			st.packet = nil
		}
		if st.done {
			return
		}
	}
}

// whole looks at a complete packet.
func (st *oggStream) whole(s source) {
	st.packets++
	if st.packets == 1 {
		st.identify(s)
		return
	}
	for _, c := range oggCodecs {
		if c.name != st.codec || !bytes.HasPrefix(st.packet, []byte(c.mark)) || len(st.packet) < c.skip {
			continue
		}
		if c.name == "flac" && st.packet[0]&0x7F != 4 { // another kind of block
			continue
		}
		if s.hold("the Ogg comments", int64(len(st.packet))) {
			vorbisComments(s, st.packet[c.skip:], "ogg:comment")
		}
		st.done = true
	}
	st.done = st.done || st.packets > 8
}

// identify reads the first packet: the codec, its rate, a picture's size.
func (st *oggStream) identify(s source) {
	for _, c := range oggCodecs {
		if bytes.HasPrefix(st.packet, []byte(c.first)) {
			st.codec = c.name
		}
	}
	c := cursor{b: st.packet}
	switch st.codec {
	case "vorbis":
		c.skip(12)
		st.rate = uint64(c.le32())
	case "opus": // its positions count 48 kHz samples whatever the input was
		c.skip(10)
		if b := c.take(2); b != nil {
			st.skip = uint64(binary.LittleEndian.Uint16(b))
		}
		st.rate = 48000
	case "flac":
		c.skip(27)
		st.rate = c.uint(3) >> 4
	case "theora":
		c.skip(14)
		s.file.MIME = "video/ogg"
		s.file.Width, s.file.Height = int(c.uint(3)), int(c.uint(3))
	default:
		st.done = true
	}
}

// oggLength sets the duration by the position that the last page gives.
func oggLength(s source, streams []*oggStream) {
	tail := s.part(max(s.size-oggTail, 0), oggTail)
	b := tail.front(tail.size)
	i := bytes.LastIndex(b, []byte("OggS"))
	if i < 0 || len(b) < i+18 {
		return
	}
	end, serial := binary.LittleEndian.Uint64(b[i+6:]), binary.LittleEndian.Uint32(b[i+14:])
	for _, st := range streams {
		if st.serial == serial && st.rate > 0 && end > st.skip && end < 1<<62 {
			s.file.setDuration(1000 * float64(end-st.skip) / float64(st.rate))
		}
	}
}
