package container

import (
	"bytes"
	"encoding/binary"
)

// The headers of the JPEG segments that carry metadata.
const (
	exifHeader      = "Exif\x00" // a byte of padding follows, of any value
	photoshopHeader = "Photoshop 3.0\x00"
)

// readJPEG walks the segments of a JPEG file up to its pixels (ITU-T T.81 B.1).
func readJPEG(s source) {
	j := jpegReader{s: s}
	for off := int64(2); s.step(); {
		marker, at, ok := j.marker(off)
		if !ok {
			break
		}
		if marker == 0xD9 || marker == 0xDA { // end of image, start of scan
			j.finish()
			return
		}
		if marker == 0x01 || marker >= 0xD0 && marker <= 0xD7 { // no length
			off = at
			continue
		}
		b := s.peek(at, 2)
		if b == nil {
			break
		}
		n := int64(binary.BigEndian.Uint16(b))
		if n < 2 || at+n > s.size {
			break
		}
		j.segment(marker, at+2, n-2)
		off = at + n
	}
	s.cut("the JPEG's segments")
	j.finish()
}

// jpegReader gathers what is spread over several segments.
type jpegReader struct {
	s        source
	exif     []byte
	comment  []byte           // a comment that filled its segment and may go on
	photo    []byte           // Photoshop's resources
	extended []extendedPacket // extended XMP packets
	boxes    []spread         // JUMBF boxes
	strays   int              // runs of bytes that belong to no segment
}

// spread is a value that did not fit into one segment.
type spread struct {
	id     string
	next   uint32 // the offset or sequence number that the next piece must have
	pieces [][]byte
}

// find returns the value with this identifier, nil when there is none yet.
func find(all []spread, id []byte) *spread {
	for i := range all {
		if all[i].id == string(id) {
			return &all[i]
		}
	}
	return nil
}

// Limits of what is skipped because it belongs to no segment.
const (
	maxStray     = 64 << 10 // bytes at once
	maxStrayRuns = 16       // times in a file
)

// marker finds the marker at off and the offset behind it. Any number of 0xFF
// may precede a marker as filling; other bytes should not, but decoders skip them.
func (j *jpegReader) marker(off int64) (byte, int64, bool) {
	b := j.s.peek(off, 2)
	if b != nil && (b[0] != 0xFF || b[1] == 0) && j.strays < maxStrayRuns {
		j.strays++
		stray := j.s.part(off, maxStray)
		b = stray.front(stray.size)
		i := markerIn(b)
		if i < 0 {
			return 0, 0, false
		}
		off, b = off+int64(i), b[i:]
	}
	if b == nil || b[0] != 0xFF {
		return 0, 0, false
	}
	for i := off + 1; j.s.step(); i++ {
		if b = j.s.peek(i, 1); b == nil {
			return 0, 0, false
		}
		if b[0] != 0xFF {
			return b[0], i + 1, true
		}
	}
	return 0, 0, false
}

// markerIn returns where the first marker stands in b, -1 for nowhere.
func markerIn(b []byte) int {
	for i := 0; i+1 < len(b); i++ {
		if b[i] == 0xFF && b[i+1] >= 0xC0 {
			return i
		}
	}
	return -1
}

// maxSegment is what a segment can hold; longer comments go on in the next.
const maxSegment = 1<<16 - 1 - 2

func (j *jpegReader) segment(marker byte, off, n int64) {
	j.flush(marker)
	switch marker {
	case 0xE1, 0xEB, 0xED, 0xFE:
		b, ok := j.s.value("a JPEG segment", off, n)
		if !ok {
			return
		}
		switch marker {
		case 0xE1:
			j.app1(b)
		case 0xEB:
			j.app11(b)
		case 0xED:
			if rest, ok := bytes.CutPrefix(b, []byte(photoshopHeader)); ok {
				j.photo = append(j.photo, rest[:min(len(rest), maxValue-len(j.photo))]...)
			}
		case 0xFE:
			if j.comment = append(j.comment, b...); n < maxSegment || len(j.comment) > maxValue-maxSegment {
				j.flush(0)
			}
		}
	default:
		if isFrameHeader(marker) {
			if b := j.s.peek(off, min(n, 5)); len(b) == 5 {
				j.s.file.Height = int(binary.BigEndian.Uint16(b[1:]))
				j.s.file.Width = int(binary.BigEndian.Uint16(b[3:]))
			}
		}
	}
}

// flush keeps what ends because a segment of another kind follows.
func (j *jpegReader) flush(next byte) {
	if next != 0xFE && len(j.comment) > 0 {
		j.s.add("jpeg:comment", "comment", asciiText(j.comment, binary.BigEndian))
		j.comment = nil
	}
	if next != 0xED && len(j.photo) > 0 {
		readPhotoshop(j.s, j.photo, "jpeg")
		j.photo = nil
	}
}

// isFrameHeader reports whether a marker starts a frame rather than a table.
func isFrameHeader(marker byte) bool {
	return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
}

// app1 sorts out the two tenants of APP1: EXIF and XMP.
func (j *jpegReader) app1(b []byte) {
	if rest, ok := bytes.CutPrefix(b, []byte(exifHeader)); ok && len(rest) > 1 {
		rest = rest[1:]
		// An EXIF block above 64 KiB goes on in the next segment; only its
		// first piece starts with a byte order.
		if isTIFF(rest) && len(j.exif) > 0 {
			readEXIF(j.s.memory(j.exif), "jpeg:exif")
			j.exif = nil
		}
		j.exif = append(j.exif, rest...)
	} else if rest, ok := bytes.CutPrefix(b, []byte(xmpHeader)); ok {
		readXMP(j.s, rest)
	} else if rest, ok := bytes.CutPrefix(b, []byte(extendedXMPHeader)); ok {
		j.extendedXMP(rest)
	}
}

// maxSpread bounds the values of one kind that are spread over segments.
const maxSpread = 16

// app11 collects the pieces of JUMBF boxes: "JP", instance, sequence, box header,
// payload. Every piece repeats the header (ISO 19566-5, annex D).
func (j *jpegReader) app11(b []byte) {
	if len(b) < 16 || string(b[:2]) != "JP" {
		return
	}
	instance, sequence, data := b[2:4], binary.BigEndian.Uint32(b[4:]), b[8:]
	x := find(j.boxes, instance)
	if x == nil && len(j.boxes) < maxSpread {
		j.boxes = append(j.boxes, spread{id: string(instance), next: sequence})
		x = &j.boxes[len(j.boxes)-1]
	}
	if x == nil || x.next != sequence {
		j.s.warn("a piece of the content credentials is out of place and was left out")
		return
	}
	if len(x.pieces) > 0 {
		head := 8
		if binary.BigEndian.Uint32(data) == 1 { // a 64-bit length follows the type
			head = 16
		}
		data = data[min(head, len(data)):]
	}
	x.pieces = append(x.pieces, data)
	x.next++
}

// finish keeps what was gathered.
func (j *jpegReader) finish() {
	j.flush(0)
	if len(j.exif) > 0 {
		readEXIF(j.s.memory(j.exif), "jpeg:exif")
	}
	j.finishXMP()
	for _, x := range j.boxes {
		if b := j.whole(x); isManifestStore(b) {
			j.s.addCredentials("jpeg:APP11", b)
		}
	}
}

// isManifestStore reports whether a box is content credentials rather than another use of JUMBF, by the
// label in the first box, which follows two headers, a type and toggles.
func isManifestStore(b []byte) bool {
	return len(b) > 38 && string(b[4:8]) == "jumb" && bytes.HasPrefix(b[33:], []byte("c2pa\x00"))
}

// whole puts a value together, which holds its bytes a second time.
func (j *jpegReader) whole(x spread) []byte {
	b := bytes.Join(x.pieces, nil)
	if !j.s.hold("a value over several JPEG segments", int64(len(b))) {
		return nil
	}
	return b
}

func isTIFF(b []byte) bool {
	return bytes.HasPrefix(b, []byte("II*\x00")) || bytes.HasPrefix(b, []byte("MM\x00*"))
}
