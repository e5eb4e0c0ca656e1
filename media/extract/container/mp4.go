package container

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// movie reads the metadata of MP4 and QuickTime files.
type movie struct {
	s      source
	keys   []string // names of the items of the ilst box, from the keys box
	timing timing   // of the movie as a whole
	tracks []track
}

// timing is a length in units of a second's fraction.
type timing struct{ scale, length uint64 }

func (t timing) milliseconds() float64 {
	if t.scale == 0 || t.length == 1<<32-1 || t.length == 1<<64-1 { // all ones: unknown
		return 0
	}
	return 1000 * float64(t.length) / float64(t.scale)
}

type track struct {
	handler       string
	width, height int
	timing        timing
	samples       int
	codec         string // of its first sample description
}

// maxTracks bounds the tracks that are looked at.
const maxTracks = 64

func (m *movie) moov(b box) {
	walkBoxes(b.body, b.depth+1, func(b box) {
		switch b.kind {
		case "mvhd":
			m.timing = mediaTime(b.body)
		case "mvex":
			walkBoxes(b.body, b.depth+1, m.fragments)
		case "trak":
			if len(m.tracks) < maxTracks {
				m.tracks = append(m.tracks, track{})
				m.trak(b, &m.tracks[len(m.tracks)-1])
			}
		case "udta":
			m.udta(b)
		case "meta":
			m.meta(metaBody(b), b.depth)
		}
	})
}

// fragments reads the length of a fragmented file, whose movie header has none.
func (m *movie) fragments(b box) {
	if b.kind != "mehd" || m.timing.length != 0 {
		return
	}
	c := cursor{b: b.body.front(12)}
	version := c.u8()
	c.skip(3)
	m.timing.length = c.uint(4 + 4*(version&1))
}

// mediaTime reads scale and length of a movie header or media header box, whose
// times are 32 bits wide in version 0 and 64 in version 1.
func mediaTime(s source) timing {
	c := cursor{b: s.front(32)}
	version := c.u8()
	c.skip(3)
	wide := 4
	if version == 1 {
		wide = 8
	}
	c.skip(2 * wide) // creation and modification
	return timing{scale: c.uint(4), length: c.uint(wide)}
}

func (m *movie) trak(b box, t *track) {
	walkBoxes(b.body, b.depth+1, func(b box) {
		switch b.kind {
		case "tkhd": // the size is its last field, 16.16 fixed point
			at := int64(76)
			if v := b.body.peek(0, 1); v != nil && v[0] == 1 {
				at = 88
			}
			if d := b.body.peek(at, 8); d != nil {
				t.width, t.height = int(binary.BigEndian.Uint32(d)>>16), int(binary.BigEndian.Uint32(d[4:])>>16)
			}
		case "mdia", "minf", "stbl":
			m.trak(b, t)
		case "mdhd":
			t.timing = mediaTime(b.body)
		case "hdlr":
			if d := b.body.peek(8, 4); d != nil && t.handler == "" {
				t.handler = string(d)
			}
		case "stsd":
			if d := b.body.peek(12, 4); d != nil {
				t.codec = strings.TrimSpace(printable(string(d)))
			}
		case "stsz":
			if d := b.body.peek(8, 4); d != nil {
				t.samples = dimension(binary.BigEndian.Uint32(d))
			}
		case "udta":
			m.udta(b)
		case "meta":
			m.meta(metaBody(b), b.depth)
		}
	})
}

// udta reads user data: a meta box, QuickTime's own text items, or XMP.
func (m *movie) udta(b box) {
	walkBoxes(b.body, b.depth+1, func(b box) {
		switch {
		case b.kind == "meta":
			m.meta(metaBody(b), b.depth)
		case b.kind == "XMP_":
			readWholeXMP(b.body)
		case b.kind[0] == 0xA9:
			m.quickTimeText(b)
		}
	})
}

// quickTimeText keeps an international text item: lists of 16-bit length,
// language, text (QuickTime File Format, "User Data Text Strings and Language
// Codes"). Some writers put an ilst-like data box there instead.
func (m *movie) quickTimeText(b box) {
	v, ok := b.body.value("the "+tagKey(b.kind)+" item", 0, b.body.size)
	if !ok {
		return
	}
	if len(v) >= 16 && string(v[4:8]) == "data" {
		m.item(b, tagKey(b.kind))
		return
	}
	c := cursor{b: v}
	n := c.u16()
	c.skip(2)
	// A text above 64 KiB does not fit the length field, which then holds the
	// lowest bits of it or anything; the box has its real end.
	whole := len(c.b)
	if text := c.take(n); !c.bad && (n == whole || n != whole&0xFFFF) {
		m.s.add("mp4:udta", tagKey(b.kind), utf8OrLatin1(text))
		return
	}
	m.s.add("mp4:udta", tagKey(b.kind), utf8OrLatin1(v[min(4, len(v)):]))
}

// meta reads a metadata box: an item list, whose items are named by the keys box
// or by their own type.
func (m *movie) meta(s source, depth int) {
	m.keys = nil
	walkBoxes(s, depth+1, func(b box) {
		switch b.kind {
		case "keys":
			m.keyNames(b.body)
		case "ilst":
			walkBoxes(b.body, b.depth+1, func(b box) { m.item(b, m.itemName(b.kind)) })
		}
	})
}

// keyNames reads the keys box: version and flags, count, then per key its length,
// namespace and name.
func (m *movie) keyNames(s source) {
	v, ok := s.value("the key list", 0, s.size)
	if !ok {
		return
	}
	c := cursor{b: v}
	c.skip(8)
	for len(m.keys) < maxChunks {
		n := c.u32()
		c.skip(4)
		name := c.take(n - 8)
		if c.bad {
			return
		}
		m.keys = append(m.keys, clip(utf8OrLatin1(name)))
	}
}

// itemName returns an item's name: the key with its number, or its type.
func (m *movie) itemName(kind string) string {
	i := int(binary.BigEndian.Uint32([]byte(kind)[:4]))
	if i >= 1 && i <= len(m.keys) {
		return m.keys[i-1]
	}
	return tagKey(kind)
}

// item keeps the text values of one item of an item list. A free-form item ("----")
// carries its name itself.
func (m *movie) item(b box, name string) {
	walkBoxes(b.body, b.depth+1, func(b box) {
		switch b.kind {
		case "name":
			if v, ok := b.body.value("an item's name", 4, min(b.body.size-4, maxKey)); ok {
				name = utf8OrLatin1(v)
			}
		case "data":
			if v, ok := b.body.value("the "+printable(name)+" item", 0, b.body.size); ok {
				m.s.add("mp4:ilst", name, itemText(v))
			}
		}
	})
}

// itemText decodes a data box: type, locale, value. Pictures and numbers give
// nothing (QuickTime File Format, "Well-known types").
func itemText(v []byte) string {
	c := cursor{b: v}
	kind := c.u32()
	c.skip(4)
	switch kind {
	case 0, 1:
		if kind == 0 && !utf8.Valid(c.b) {
			return ""
		}
		return utf8OrLatin1(c.b)
	case 2:
		return sniffUTF16(c.b, binary.BigEndian)
	}
	return ""
}

// tagKey spells a four-character type in UTF-8: QuickTime's are in Mac Roman,
// where 0xA9 is the copyright sign.
func tagKey(kind string) string { return utf8OrLatin1([]byte(kind)) }

// finish sets size and timing from the first track with a picture.
func (m *movie) finish() {
	f := m.s.file
	length := m.timing.milliseconds()
	for _, t := range m.tracks {
		own := t.timing.milliseconds()
		length = max(length, own)
		if t.handler == "soun" && f.AudioCodec == "" {
			f.AudioCodec = t.codec
		}
		if t.handler != "vide" && t.handler != "pict" || f.Frames > 0 {
			continue
		}
		if f.Width == 0 {
			f.Width, f.Height = t.width, t.height
		}
		f.Frames, f.Codec = t.samples, t.codec
		if own > 0 && t.samples > 0 {
			f.FPS = 1000 * float64(t.samples) / own
		}
	}
	if len(m.tracks) > 0 {
		f.setDuration(length)
	}
}
