package container

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"strings"
)

// readMP3 reads the ID3v2 tag at the start of an MP3 file, then the length from
// the first audio frame.
func readMP3(s source) {
	s.file.MIME = "audio/mpeg"
	end := readID3(s)
	if head := s.peek(end, 4); string(head) == "fLaC" { // a FLAC file behind a tag
		readFLAC(s.part(end, s.size))
		return
	}
	mp3Length(s, end)
}

// readID3 keeps the text frames of an ID3v2 tag, versions 2 to 4, and gives the
// offset behind it (id3.org, ID3v2.3.0 and ID3v2.4.0).
func readID3(s source) int64 {
	h := s.peek(0, 10)
	if h == nil || string(h[:3]) != "ID3" || h[3] < 2 || h[3] > 4 {
		return 0
	}
	n := int64(syncsafe(h[6:]))
	end := 10 + n
	if h[3] == 4 && h[5]&0x10 != 0 { // a footer
		end += 10
	}
	if 10+n > s.size {
		s.cut("the ID3 tag")
		n = s.size - 10
	}
	b, ok := s.value("the ID3 tag", 10, n)
	if !ok {
		return end
	}
	t := id3Tag{s: s, version: h[3], unsync: h[5]&0x80 != 0, c: cursor{b: b}}
	if t.unsync && t.version < 4 {
		t.c.b = resync(b)
	}
	if h[5]&0x40 != 0 && t.version > 2 {
		t.extendedHeader()
	}
	for t.frame() {
	}
	return end
}

type id3Tag struct {
	s       source
	version byte
	unsync  bool
	c       cursor
}

func (t *id3Tag) extendedHeader() {
	if t.version == 3 {
		t.c.skip(t.c.u32())
		return
	}
	if b := t.c.take(4); b != nil {
		t.c.skip(syncsafe(b) - 4) // this version counts the length itself
	}
}

// frame reads one frame and reports whether another may follow.
func (t *id3Tag) frame() bool {
	idLen := 4
	if t.version == 2 {
		idLen = 3
	}
	id := string(t.c.take(idLen))
	if t.c.bad || id[0] == 0 || !t.s.step() {
		return false
	}
	n := t.frameSize()
	var flags int
	if t.version > 2 {
		flags = t.c.u16()
	}
	body := t.c.take(n)
	if t.c.bad {
		t.s.warn("the ID3 frame %s breaks off", printable(id))
		return false
	}
	t.text(id, t.unpacked(flags, body))
	return true
}

// unpacked undoes what the frame's flags say was done to its body, and drops what
// they say precedes it. An encrypted body gives nothing.
func (t *id3Tag) unpacked(flags int, body []byte) []byte {
	grouped, encrypted, packed, length := flags&0x20 != 0, flags&0x40 != 0, flags&0x80 != 0, flags&0x80 != 0
	if t.version == 4 {
		grouped, encrypted, packed, length = flags&0x40 != 0, flags&4 != 0, flags&8 != 0, flags&1 != 0
		if flags&2 != 0 || t.unsync {
			body = resync(body)
		}
	}
	c := cursor{b: body}
	if grouped && t.version == 4 {
		c.skip(1)
	}
	if length { // before packing
		c.skip(4)
	}
	if grouped && t.version == 3 {
		c.skip(1)
	}
	switch {
	case encrypted:
		return nil
	case !packed:
		return c.b
	}
	z, err := zlib.NewReader(bytes.NewReader(c.b))
	if err != nil {
		t.s.warn("an ID3 frame is not compressed as it says")
		return nil
	}
	return t.s.expand("an ID3 frame", z, int64(len(c.b)))
}

// frameSize reads a frame's length. Version 4 has seven bits per byte, but some
// writers use eight: then a frame must follow at that distance.
func (t *id3Tag) frameSize() int {
	switch t.version {
	case 2:
		return int(t.c.uint(3))
	case 3:
		return t.c.u32()
	}
	b := t.c.take(4)
	if b == nil {
		return 0
	}
	seven, eight := syncsafe(b), int(binary.BigEndian.Uint32(b))
	if seven != eight && !t.frameFollows(2+seven) && t.frameFollows(2+eight) {
		return eight
	}
	return seven
}

// frameFollows reports whether a frame, padding or the end stands n bytes ahead.
func (t *id3Tag) frameFollows(n int) bool {
	if n < 0 || n > len(t.c.b) {
		return false
	}
	rest := t.c.b[n:]
	return len(rest) == 0 || rest[0] == 0 ||
		len(rest) >= 4 && strings.Trim(string(rest[:4]), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// text keeps a text frame. The frames of free choice carry their own names.
func (t *id3Tag) text(id string, b []byte) {
	if len(b) < 1 {
		return
	}
	coding, b := b[0], b[1:]
	switch {
	case id == "TXXX" || id == "TXX":
		name, value := cutID3(coding, b)
		t.s.add("mp3:id3", name, value)
	case id == "COMM" || id == "COM" || id == "USLT" || id == "ULT":
		if len(b) < 3 {
			return
		}
		name, value := cutID3(coding, b[3:]) // the language precedes
		t.s.add("mp3:id3", strings.Trim(id+":"+name, ":"), value)
	case id == "GEOB":
		t.object(coding, b)
	case id[0] == 'T':
		t.s.add("mp3:id3", id, strings.ReplaceAll(strings.TrimRight(id3Text(coding, b), "\x00"), "\x00", "\n"))
	}
}

// credentialsMIME is the type under which content credentials are attached.
const credentialsMIME = "application/x-c2pa-manifest-store"

// object keeps content credentials (C2PA 2.1, A.3): type, file name, description,
// then the boxes. Other objects are not metadata of the file.
func (t *id3Tag) object(coding byte, b []byte) {
	c := cursor{b: b}
	if c.text() != credentialsMIME {
		return
	}
	for range 2 {
		if _, rest, ok := splitID3(coding, c.b); ok {
			c.b = rest
		}
	}
	t.s.addCredentials("id3:GEOB", c.b)
}

// cutID3 splits a frame of two texts.
func cutID3(coding byte, b []byte) (name, value string) {
	head, rest, ok := splitID3(coding, b)
	if !ok {
		return "", id3Text(coding, b)
	}
	return id3Text(coding, head), id3Text(coding, rest)
}

// splitID3 splits at the first terminator, which is two bytes wide and aligned in
// UTF-16.
func splitID3(coding byte, b []byte) (head, rest []byte, ok bool) {
	if coding != 1 && coding != 2 {
		return bytes.Cut(b, []byte{0})
	}
	for i := 0; i+1 < len(b); i += 2 {
		if b[i] == 0 && b[i+1] == 0 {
			return b[:i], b[i+2:], true
		}
	}
	return nil, nil, false
}

// id3Text decodes by the frame's coding byte: Latin-1 (in practice often UTF-8),
// UTF-16 with a mark, UTF-16 big-endian, UTF-8.
func id3Text(coding byte, b []byte) string {
	switch coding {
	case 1:
		return sniffUTF16(b, binary.LittleEndian)
	case 2:
		return utf16Text(b, binary.BigEndian)
	}
	return utf8OrLatin1(b)
}

// syncsafe reads four bytes of seven bits each.
func syncsafe(b []byte) int {
	return int(b[0]&0x7F)<<21 | int(b[1]&0x7F)<<14 | int(b[2]&0x7F)<<7 | int(b[3]&0x7F)
}

// resync undoes unsynchronisation: a zero byte was put behind every 0xFF.
func resync(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte{0xFF, 0}, []byte{0xFF})
}
