package container

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
)

// exifNames are the standard names of the tags that hold text (Exif 2.32; the XP
// tags are Windows Explorer's). Text tags that are not listed keep their number.
var exifNames = map[uint16]string{
	0x010D: "DocumentName",
	0x010E: "ImageDescription",
	0x010F: "Make",
	0x0110: "Model",
	0x0112: "Orientation",
	0x011D: "PageName",
	0x0131: "Software",
	0x0132: "DateTime",
	0x013B: "Artist",
	0x013C: "HostComputer",
	0x02BC: "XMLPacket",
	0x8298: "Copyright",
	0x83BB: "IPTC",
	0x9003: "DateTimeOriginal",
	0x9004: "DateTimeDigitized",
	0x9286: "UserComment",
	0x9C9B: "XPTitle",
	0x9C9C: "XPComment",
	0x9C9D: "XPAuthor",
	0x9C9E: "XPKeywords",
	0x9C9F: "XPSubject",
	0xA420: "ImageUniqueID",
	0xA430: "CameraOwnerName",
	0xA433: "LensMake",
	0xA434: "LensModel",
}

// The tags that the walk itself needs.
const (
	tagWidth       = 0x0100
	tagHeight      = 0x0101
	tagOrientation = 0x0112
	tagXMP         = 0x02BC
	tagIPTC        = 0x83BB
	tagPhotoshop   = 0x8649
	tagExifIFD     = 0x8769
	tagUserComment = 0x9286
	tagC2PA        = 0xCD41
	tagXPFirst     = 0x9C9B
	tagXPLast      = 0x9C9F
)

// maxEntries bounds the entries of one directory.
const maxEntries = 4096

// tiffReader walks the directories of a TIFF structure, which is what EXIF is.
type tiffReader struct {
	s       source
	place   string
	order   binary.ByteOrder
	big     bool           // BigTIFF: 64-bit offsets
	isFile  bool           // a TIFF file, whose first directory gives the picture's size
	visited map[int64]bool // directories may point at each other in circles
}

// tiffEntry is one field of a directory. At is where its value stands.
type tiffEntry struct {
	tag, kind uint16
	count     int64
	at        int64
}

// maxPrefixes is how often a block may start with JPEG's prefix: tools that copy
// blocks between containers put one before another.
const maxPrefixes = 4

// readEXIF keeps the text fields of an EXIF block: IFD0 and the Exif directory it
// points to. The block may start with "Exif\0\0", which belongs to JPEG only but
// stands in other containers too.
func readEXIF(s source, place string) {
	for range maxPrefixes {
		if bytes.Equal(s.peek(0, 6), []byte("Exif\x00\x00")) {
			s = s.part(6, s.size)
		}
	}
	t := tiffReader{s: s, place: place}
	first, ok := t.header()
	if !ok {
		s.warn("the EXIF block has no TIFF header and was left out")
		return
	}
	t.directory(first, 0)
}

// header reads the byte order and gives the offset of the first directory.
func (t *tiffReader) header() (int64, bool) {
	t.visited = map[int64]bool{}
	b := t.s.peek(0, 8)
	switch {
	case b == nil:
		return 0, false
	case string(b[:2]) == "II":
		t.order = binary.LittleEndian
	case string(b[:2]) == "MM":
		t.order = binary.BigEndian
	default:
		return 0, false
	}
	if t.order.Uint16(b[2:]) == 43 {
		t.big = true
		if b = t.s.peek(8, 8); b == nil {
			return 0, false
		}
		return int64(t.order.Uint64(b)), true
	}
	return int64(t.order.Uint32(b[4:])), true
}

// directory reads one directory and gives the offset of the next, 0 for none.
func (t *tiffReader) directory(off int64, depth int) (next int64) {
	if off <= 0 || t.visited[off] || depth > 1 || !t.s.step() {
		return 0
	}
	t.visited[off] = true
	head, size := int64(2), int64(12)
	if t.big {
		head, size = 8, 20
	}
	count := t.number(off, head)
	if count <= 0 || count > maxEntries {
		return 0
	}
	for i := range count {
		e, ok := t.entry(off+head+i*size, size)
		if !ok || !t.s.step() {
			t.s.warn("the %s directory breaks off", t.place)
			return 0
		}
		t.field(e, depth)
	}
	return t.next(off)
}

// number reads an unsigned integer of 2, 4 or 8 bytes, -1 when there is none.
func (t *tiffReader) number(off, n int64) int64 {
	b := t.s.peek(off, n)
	switch {
	case b == nil:
		return -1
	case n == 2:
		return int64(t.order.Uint16(b))
	case n == 4:
		return int64(t.order.Uint32(b))
	}
	return int64(t.order.Uint64(b))
}

// entry reads one field and finds its value: in the entry when it fits, else
// where the entry points.
func (t *tiffReader) entry(off, size int64) (tiffEntry, bool) {
	b := t.s.peek(off, size)
	if b == nil {
		return tiffEntry{}, false
	}
	e := tiffEntry{tag: t.order.Uint16(b), kind: t.order.Uint16(b[2:])}
	inline := int64(4)
	if t.big {
		inline = 8
		e.count, e.at = int64(t.order.Uint64(b[4:])), off+12
	} else {
		e.count, e.at = int64(t.order.Uint32(b[4:])), off+8
	}
	if n, ok := e.length(); !ok || n > inline {
		e.at = t.number(e.at, inline)
	}
	return e, true
}

// length returns the value's length in bytes; false when it cannot be.
func (e tiffEntry) length() (int64, bool) {
	width := int64(1)
	switch e.kind {
	case 3, 8:
		width = 2
	case 4, 9, 11, 13:
		width = 4
	case 5, 10, 12, 16, 17, 18:
		width = 8
	}
	if e.count < 0 || e.count > 1<<40 {
		return 0, false
	}
	return e.count * width, true
}

// field keeps what one entry says, if it is of interest.
func (t *tiffReader) field(e tiffEntry, depth int) {
	switch {
	case e.tag == tagExifIFD:
		t.directory(t.integer(e), depth+1)
	case e.tag == tagWidth && t.isFile && depth == 0:
		t.s.file.Width = dimension(uint32(max(t.integer(e), 0)))
	case e.tag == tagHeight && t.isFile && depth == 0:
		t.s.file.Height = dimension(uint32(max(t.integer(e), 0)))
	case e.tag == tagOrientation:
		if n := t.integer(e); n > 0 && n <= 8 {
			t.s.add(t.place, "Orientation", strconv.FormatInt(n, 10))
		}
	case e.tag == tagXMP, e.tag == tagIPTC, e.tag == tagPhotoshop, e.tag == tagC2PA:
		if b, ok := t.bytes(e); ok {
			t.nested(e.tag, b)
		}
	case e.isText():
		if b, ok := t.bytes(e); ok {
			t.s.add(t.place, tagName(e.tag), t.text(e.tag, b))
		}
	}
}

// isText reports whether a field is of text. Exif 3.0 has a type of its own for UTF-8, and
// writers declare the fields that are always text as plain bytes, too.
func (e tiffEntry) isText() bool {
	switch e.kind {
	case 2, 129:
		return true
	case 1, 7:
		return exifNames[e.tag] != ""
	}
	return e.tag == tagUserComment
}

// nested hands metadata of another kind within a TIFF file to its reader.
func (t *tiffReader) nested(tag uint16, b []byte) {
	switch tag {
	case tagXMP:
		readXMP(t.s, b)
	case tagIPTC:
		readIPTC(t.s, b, "tiff:iptc")
	case tagPhotoshop:
		readPhotoshop(t.s, b, "tiff")
	case tagC2PA:
		t.s.addCredentials("tiff:0xCD41", b)
	}
}

// integer returns the first value of a SHORT, LONG, IFD or LONG8 field, or -1.
func (t *tiffReader) integer(e tiffEntry) int64 {
	if e.count < 1 {
		return -1
	}
	switch e.kind {
	case 3:
		return t.number(e.at, 2)
	case 4, 13:
		return t.number(e.at, 4)
	case 16, 18:
		return t.number(e.at, 8)
	}
	return -1
}

func (t *tiffReader) bytes(e tiffEntry) ([]byte, bool) {
	n, ok := e.length()
	if !ok || n == 0 {
		return nil, false
	}
	return t.s.value("the EXIF field "+tagName(e.tag), e.at, n)
}

// text decodes a field by its tag rather than its declared type: UserComment
// stands in IFD0 as ASCII in some files, and in the Exif directory in others.
func (t *tiffReader) text(tag uint16, b []byte) string {
	switch {
	case tag == tagUserComment:
		return userComment(b, t.order)
	case tag >= tagXPFirst && tag <= tagXPLast:
		return sniffUTF16(b, binary.LittleEndian)
	}
	return asciiText(b, t.order)
}

func tagName(tag uint16) string {
	if name, ok := exifNames[tag]; ok {
		return name
	}
	return fmt.Sprintf("0x%04X", tag)
}
