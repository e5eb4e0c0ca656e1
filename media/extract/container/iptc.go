package container

import (
	"bytes"
	"encoding/binary"
)

// iptcNames are the text fields of IPTC-IIM's application record that people
// and tools fill in (IIM 4.2, record 2).
var iptcNames = map[byte]string{
	5: "ObjectName", 25: "Keywords", 40: "SpecialInstructions", 65: "OriginatingProgram",
	80: "By-line", 105: "Headline", 110: "Credit", 115: "Source", 116: "CopyrightNotice",
	120: "Caption-Abstract", 122: "Writer-Editor",
}

// maxFilling is how many bytes may stand between two resources: each segment of a
// JPEG file may end with some.
const maxFilling = 64

// readPhotoshop walks Photoshop's image resources ("8BIM" blocks) for the IPTC
// record, XMP and EXIF, and keeps their text under the format's name.
func readPhotoshop(s source, b []byte, format string) {
	for s.step() {
		i := bytes.Index(b[:min(len(b), maxFilling)], []byte("8BIM"))
		if i < 0 || len(b) < i+12 {
			return
		}
		b = b[i:]
		id := binary.BigEndian.Uint16(b[4:])
		name := (int(b[6]) + 2) &^ 1 // a Pascal string, padded to even length
		if len(b) < 6+name+4 {
			return
		}
		size := int64(binary.BigEndian.Uint32(b[6+name:]))
		b = b[6+name+4:]
		if size > int64(len(b)) {
			return
		}
		switch id {
		case 0x0404:
			readIPTC(s, b[:size], format+":iptc")
		case 0x0424:
			readXMP(s, b[:size])
		case 0x0422:
			readEXIF(s.memory(b[:size]), format+":exif")
		}
		b = b[min(size+size&1, int64(len(b))):]
	}
}

// readIPTC keeps the text fields of an IPTC-IIM record: 0x1C, record, field,
// 16-bit length, value.
func readIPTC(s source, b []byte, place string) {
	i := bytes.IndexByte(b, 0x1C)
	if i < 0 {
		return
	}
	for b = b[i:]; len(b) >= 5 && b[0] == 0x1C && s.step(); {
		record, field, n := b[1], b[2], int(binary.BigEndian.Uint16(b[3:]))
		if n > len(b)-5 { // also the extended lengths above 32767, which text never needs
			return
		}
		if name := iptcNames[field]; record == 2 && name != "" {
			s.add(place, name, utf8OrLatin1(b[5:5+n]))
		}
		b = b[5+n:]
	}
}
