package container

import (
	"encoding/binary"
	"slices"
	"strings"
)

// extendedXMPHeader starts a segment with a piece of a packet that is too long for
// one: 32 bytes of digest, total length, the piece's offset, the piece (XMP
// specification part 3, 1.1.3.1).
const extendedXMPHeader = "http://ns.adobe.com/xmp/extension/\x00"

// extendedPacket is a packet that is put together of pieces, which may stand in
// any order.
type extendedPacket struct {
	digest string
	pieces []extendedPiece
}

type extendedPiece struct {
	at   uint32
	data []byte
}

// extendedXMP remembers a piece; its bytes were booked when they were read.
func (j *jpegReader) extendedXMP(b []byte) {
	if len(b) < 40 {
		return
	}
	piece := extendedPiece{at: binary.BigEndian.Uint32(b[36:]), data: b[40:]}
	i := slices.IndexFunc(j.extended, func(x extendedPacket) bool { return x.digest == string(b[:32]) })
	switch {
	case i >= 0:
		j.extended[i].pieces = append(j.extended[i].pieces, piece)
	case len(j.extended) < maxSpread:
		j.extended = append(j.extended, extendedPacket{string(b[:32]), []extendedPiece{piece}})
	}
}

// finishXMP reads the extended packets. The main packet names the one that belongs
// to it; another is left over from an earlier state of the file.
func (j *jpegReader) finishXMP() {
	named, known := j.s.file.Text("xmpNote:HasExtendedXMP")
	for _, x := range j.extended {
		if known && !strings.EqualFold(strings.TrimSpace(named.Text), x.digest) {
			j.s.warn("the file holds extended XMP of another state of it, which was left out")
			continue
		}
		readXMP(j.s, j.joined(x))
	}
}

// joined puts the pieces in order, up to a gap.
func (j *jpegReader) joined(x extendedPacket) []byte {
	slices.SortStableFunc(x.pieces, func(a, b extendedPiece) int { return int(int64(a.at) - int64(b.at)) })
	var b []byte
	for _, p := range x.pieces {
		if int64(p.at) > int64(len(b)) {
			j.s.warn("a piece of the extended XMP is missing; what follows it was left out")
			break
		}
		if int64(p.at) < int64(len(b)) { // the same piece once more
			continue
		}
		if !j.s.hold("the extended XMP", int64(len(p.data))) {
			return nil
		}
		b = append(b, p.data...)
	}
	return b
}
