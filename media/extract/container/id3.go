package container

import (
	"bytes"
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
	if t.version == 4 && (flags&2 != 0 || t.unsync) {
		body = resync(body)
	}
	if t.version == 4 && flags&1 != 0 && len(body) >= 4 { // the length before packing
		body = body[4:]
	}
	if packed := t.version == 4 && flags&12 != 0 || t.version == 3 && flags&0xC0 != 0; !packed {
		t.text(id, body)
	}
	return true
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
	case id[0] == 'T':
		t.s.add("mp3:id3", id, strings.ReplaceAll(strings.TrimRight(id3Text(coding, b), "\x00"), "\x00", "\n"))
	}
}

// cutID3 splits a frame of two texts at the first terminator, which is two bytes
// wide and aligned in UTF-16.
func cutID3(coding byte, b []byte) (name, value string) {
	if coding == 1 || coding == 2 {
		for i := 0; i+1 < len(b); i += 2 {
			if b[i] == 0 && b[i+1] == 0 {
				return id3Text(coding, b[:i]), id3Text(coding, b[i+2:])
			}
		}
		return "", id3Text(coding, b)
	}
	head, rest, ok := bytes.Cut(b, []byte{0})
	if !ok {
		return "", id3Text(coding, b)
	}
	return id3Text(coding, head), id3Text(coding, rest)
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
