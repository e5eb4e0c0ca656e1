package strip

import (
	"bytes"
	"math"
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
)

// ebmlGone are the elements that hold metadata, by the element they stand in. They become
// Void elements of the same size, so that no position in the file changes.
var ebmlGone = map[uint32]map[uint32]string{
	idSegment: {0x1254c367: "Tags", 0x1941a469: "Attachments", 0x1043a770: "Chapters"},
	idInfo: {0x7ba9: "Title", 0x4461: "DateUTC", 0x7384: "SegmentFilename", 0x3c83ab: "PrevFilename", 0x3e83bb: "NextFilename",
		0x73a4: "SegmentUUID", 0x3cb923: "PrevUUID", 0x3eb923: "NextUUID", 0x4444: "SegmentFamily", 0x6924: "ChapterTranslate"},
	idTrack: {0x536e: "Name", 0x258688: "CodecName", 0x7446: "AttachmentLink", 0x3a9697: "CodecSettings", 0x3b4040: "CodecInfoURL", 0x26b240: "CodecDownloadURL"},
}

// ebmlEmptied are texts that must be there, and may be empty.
var ebmlEmptied = map[uint32]string{0x4d80: "MuxingApp", 0x5741: "WritingApp"}

// ebml is a Matroska file whose metadata is overwritten in its place.
type ebml struct {
	in     input
	plan   *plan
	blanks blanks
	count  int
}

// planEBML is for Matroska and WebM.
func planEBML(in input, e edit) (*plan, error) {
	x := &ebml{in: in, plan: &plan{}}
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

// vint reads a number of variable length; keep leaves its marker in.
func (x *ebml) vint(off int64, keep bool) (v uint64, n int64, err error) {
	b, err := x.in.bytes(off, min(8, x.in.size-off))
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
		if x.count++; x.count > maxBoxes {
			return 0, damaged("it has more than %d elements", maxBoxes)
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
		if x.count++; x.count > maxBoxes {
			return 0, damaged("it has more than %d elements", maxBoxes)
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
	if name := ebmlGone[parent][id]; name != "" {
		x.void(name, off, start+n)
		return nil
	}
	switch {
	case id == idVoid:
		x.blanks.zero(start, n)
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
	case id == idSegment, id == idInfo, id == idTracks, id == idTrack, id == idSeekHead:
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
	for id := range ebmlGone[idSegment] {
		if bytes.Contains(b, []byte{0x53, 0xab, 0x84, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}) {
			x.void("", off, start+n)
		}
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
