package container

import (
	"bytes"
	"encoding/binary"
)

// The headers of the JPEG segments that carry metadata.
const (
	exifHeader        = "Exif\x00\x00"
	extendedXMPHeader = "http://ns.adobe.com/xmp/extension/\x00"
	photoshopHeader   = "Photoshop 3.0\x00"
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
	extended []spread // extended XMP packets
	boxes    []spread // JUMBF boxes
}

// spread is a value that did not fit into one segment.
type spread struct {
	id     string
	next   uint32 // the offset or sequence number that the next piece must have
	pieces [][]byte
}

// find gives the value with this identifier, nil when there is none yet.
func find(all []spread, id []byte) *spread {
	for i := range all {
		if all[i].id == string(id) {
			return &all[i]
		}
	}
	return nil
}

// marker finds the marker at off and the offset behind it. Any number of 0xFF
// may precede a marker as filling.
func (j *jpegReader) marker(off int64) (byte, int64, bool) {
	b := j.s.peek(off, 2)
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

func (j *jpegReader) segment(marker byte, off, n int64) {
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
				readPhotoshop(j.s, rest, "jpeg")
			}
		case 0xFE:
			j.s.add("jpeg:comment", "comment", asciiText(b, binary.BigEndian))
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

// isFrameHeader tells the start-of-frame markers from the tables between them.
func isFrameHeader(marker byte) bool {
	return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC
}

// app1 sorts out the two tenants of APP1: EXIF and XMP.
func (j *jpegReader) app1(b []byte) {
	if rest, ok := bytes.CutPrefix(b, []byte(exifHeader)); ok {
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

// extendedXMP collects a packet that is too long for one segment: 32 bytes of
// digest, total length, this piece's offset (XMP specification part 3, 1.1.3.1).
// Writers put the pieces in order; what would leave a gap is not believed.
func (j *jpegReader) extendedXMP(b []byte) {
	if len(b) < 40 {
		return
	}
	digest, off := b[:32], binary.BigEndian.Uint32(b[36:])
	x := find(j.extended, digest)
	if x == nil && len(j.extended) < maxSpread {
		j.extended = append(j.extended, spread{id: string(digest)})
		x = &j.extended[len(j.extended)-1]
	}
	if x == nil || x.next != off {
		j.s.warn("a piece of the extended XMP is out of place and was left out")
		return
	}
	x.pieces = append(x.pieces, b[40:])
	x.next += uint32(len(b) - 40)
}

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
	if len(j.exif) > 0 {
		readEXIF(j.s.memory(j.exif), "jpeg:exif")
	}
	for _, x := range j.extended {
		readXMP(j.s, j.whole(x))
	}
	for _, x := range j.boxes {
		if b := j.whole(x); isManifestStore(b) {
			j.s.addCredentials("jpeg:APP11", b)
		}
	}
}

// isManifestStore tells content credentials from the other uses of JUMBF by the
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
