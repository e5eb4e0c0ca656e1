package strip

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Elements of Matroska and WebM that are looked into or removed.
const (
	idSegment  = 0x18538067
	idInfo     = 0x1549a966
	idTracks   = 0x1654ae6b
	idTrack    = 0xae
	idSeekHead = 0x114d9b74
	idSeek     = 0x4dbb
	idSeekID   = 0x53ab
	idCluster  = 0x1f43b675
	idVoid     = 0xec
	idCRC      = 0xbf

	idCodecPrivate = 0x63a2
	idEncodings    = 0x6d80
	idSimpleBlock  = 0xa3
	idBlockGroup   = 0xa0
	idBlock        = 0xa1
)

// ebmlNeeded are the elements that play a film, by the element they stand in, with what they
// hold. All others become Void elements of the same size, so that no position in the file changes.
var ebmlNeeded = map[uint32][]uint32{
	idSegment: {idSeekHead, idInfo, idTracks, idCluster, 0x1c53bb6b}, // the last is Cues
	idInfo:    {0x2ad7b1, 0x4489, 0x4d80, 0x5741},                    // TimestampScale, Duration, MuxingApp, WritingApp
	idTracks:  {idTrack},
	// the number, kind and flags of a track, its times, its language, and how it is decoded
	idTrack: {0xd7, 0x73c5, 0x83, 0xb9, 0x88, 0x55aa, 0x55ab, 0x55ac, 0x55ad, 0x55ae, 0x55af, 0x9c, 0x6de7, 0x6df8, 0x23e383, 0x234e7a, 0x23314f, 0x537f, 0x55ee, 0x41e4,
		0x22b59c, 0x22b59d, 0x86, idCodecPrivate, 0x56aa, 0x56bb, 0x6fab, 0xe0, 0xe1, 0xe2, idEncodings},
	idCluster:    {0xe7, 0x5854, 0xa7, 0xab, idSimpleBlock, idBlockGroup},
	idBlockGroup: {idBlock, 0x75a1, 0x9b, 0xfa, 0xfb, 0xa4, 0x75a2, 0x8e}, // 75a1 is BlockAdditions: transparency
	idSeekHead:   {idSeek},
}

// ebmlGone names elements that are often there and go.
var ebmlGone = map[uint32]string{0x1254c367: "Tags", 0x1941a469: "Attachments", 0x1043a770: "Chapters", 0x7ba9: "Title", 0x4461: "DateUTC", 0x7384: "SegmentFilename",
	0x73a4: "SegmentUUID", 0x536e: "Name", 0x258688: "CodecName", 0x3a9697: "CodecSettings"}

// gone returns the name of an element that goes; empty for one that stays.
func gone(parent, id uint32) string {
	needed, listed := ebmlNeeded[parent]
	if !listed || id == idVoid || id == idCRC || slices.Contains(needed, id) {
		return ""
	}
	if name := ebmlGone[id]; name != "" {
		return name
	}
	return fmt.Sprintf("element %X", id)
}

// ebmlEmptied are texts that must be there, and may be empty.
var ebmlEmptied = map[uint32]string{0x4d80: "MuxingApp", 0x5741: "WritingApp"}

// ebml is a Matroska file whose metadata is overwritten in its place.
type ebml struct {
	in     input
	plan   *plan
	blanks blanks
	count  int
	window window
	films  map[uint64]nalCoding // tracks whose blocks are looked into, by their numbers
}

// planEBML is for Matroska and WebM.
func planEBML(in input, e edit) (*plan, error) {
	x := &ebml{in: in, plan: &plan{}, window: window{in: in}, films: map[uint64]nalCoding{}}
	if e.keep == (Keep{Generation: true, EXIF: true, GPS: true, IPTC: true}) {
		x.plan.copy(0, in.size)
		return x.plan, nil
	}
	end, err := x.walk(0, 0, in.size)
	if err != nil {
		return nil, err
	}
	x.blanks.plan(x.plan, end)
	return x.plan, nil
}

// maxElements bounds how many elements are looked at: blocks of a recording of a day.
const maxElements = 1 << 23

// vint reads a number of variable length; keep leaves its marker in.
func (x *ebml) vint(off int64, keep bool) (v uint64, n int64, err error) {
	b, err := x.window.bytes(off, min(8, x.in.size-off))
	if err != nil {
		return 0, 0, err
	}
	if len(b) == 0 || b[0] == 0 {
		return 0, 0, damaged("there is no element at byte %d", off)
	}
	n = 1
	for m := byte(0x80); b[0]&m == 0; m >>= 1 {
		n++
	}
	if n > int64(len(b)) {
		return 0, 0, damaged("an element is cut at byte %d", off)
	}
	ones := true
	for i, c := range b[:n] {
		if i == 0 && !keep {
			c &= 0xff >> n
			ones = c == 0xff>>n
		} else if i > 0 {
			ones = ones && c == 0xff
		}
		v = v<<8 | uint64(c)
	}
	if ones && !keep {
		v = math.MaxUint64 // of unknown size
	}
	return v, n, nil
}

// walk looks at the elements from off to end, which stand in the element parent.
func (x *ebml) walk(parent uint32, off, end int64) (int64, error) {
	for off < end {
		if x.count++; x.count > maxElements {
			return 0, damaged("it has more than %d elements", maxElements)
		}
		id, a, err := x.vint(off, true)
		if err != nil {
			if parent == 0 && off > 0 { // bytes that are no element
				x.plan.drop("bytes after the last element")
				return off, nil
			}
			return 0, err
		}
		size, b, err := x.vint(off+a, false)
		if err != nil {
			return 0, err
		}
		start, n := off+a+b, int64(0)
		switch {
		case size == math.MaxUint64 && id == idSegment:
			n = end - start
		case size == math.MaxUint64 && id == idCluster:
			if n, err = x.clusterEnd(start, end); err != nil {
				return 0, err
			}
		case size > uint64(end-start):
			if id != idCluster && id != idSegment {
				return 0, damaged("an element reaches beyond its end")
			}
			n = end - start // a recording that was cut
		default:
			n = int64(size)
		}
		if err := x.element(parent, uint32(id), off, start, n); err != nil {
			return 0, err
		}
		off = start + n
	}
	return off, nil
}

// clusterEnd returns the length of a cluster of unknown size: it ends where the next element
// of a segment begins.
func (x *ebml) clusterEnd(start, end int64) (int64, error) {
	off := start
	for off < end {
		if x.count++; x.count > maxElements {
			return 0, damaged("it has more than %d elements", maxElements)
		}
		id, a, err := x.vint(off, true)
		if err != nil {
			return 0, err
		}
		if id > 0xffffff { // blocks have short ids
			break
		}
		size, b, err := x.vint(off+a, false)
		if err != nil {
			return 0, err
		}
		if size > uint64(end-off-a-b) {
			return end - start, nil
		}
		off += a + b + int64(size)
	}
	return off - start, nil
}

func (x *ebml) element(parent, id uint32, off, start, n int64) error {
	if name := gone(parent, id); name != "" {
		x.void(name, off, start+n)
		return nil
	}
	switch {
	case id == idVoid:
		x.blanks.zero(start, n)
	case id == idTrack:
		return x.track(start, n)
	case id == idSimpleBlock, id == idBlock && parent == idBlockGroup:
		return x.block(start, n)
	case id == idCRC && parent != idCluster && n == 4:
		x.blanks.put(off, []byte{idVoid, 0x84, 0, 0, 0, 0}) // of contents that have changed
	case parent == 0 && id != idSegment && id != 0x1a45dfa3:
		x.void("element", off, start+n)
	case ebmlEmptied[id] != "" && parent == idInfo:
		b, err := x.in.bytes(start, n)
		if err == nil && len(bytes.Trim(b, "\x00")) > 0 {
			x.plan.drop(ebmlEmptied[id])
			x.blanks.zero(start, n)
		}
		return err
	case id == idSeek && parent == idSeekHead:
		return x.seek(off, start, n)
	case id == idSegment, id == idInfo, id == idTracks, id == idSeekHead, id == idCluster, id == idBlockGroup:
		_, err := x.walk(id, start, start+n)
		return err
	}
	return nil
}

// seek removes the entry of a table of contents that points to what is gone.
func (x *ebml) seek(off, start, n int64) error {
	b, err := x.in.bytes(start, n)
	if err != nil {
		return err
	}
	if _, id, ok := bytes.Cut(b, []byte{0x53, 0xab, 0x84}); ok && len(id) >= 4 && gone(idSegment, binary.BigEndian.Uint32(id)) != "" {
		x.void("", off, start+n)
	}
	return nil
}

// void makes what stands from off to end a Void element.
func (x *ebml) void(name string, off, end int64) {
	if name != "" {
		x.plan.drop(name)
	}
	total := end - off
	if total < 9 {
		x.blanks.put(off, []byte{idVoid, 0x80 | byte(total-2)})
		x.blanks.zero(off+2, total-2)
		return
	}
	size := total - 9
	head := []byte{idVoid, 1}
	for shift := 48; shift >= 0; shift -= 8 {
		head = append(head, byte(size>>shift))
	}
	x.blanks.put(off, head)
	x.blanks.zero(off+9, size)
}
