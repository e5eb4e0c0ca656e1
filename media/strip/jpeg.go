package strip

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

const (
	iccTag = "ICC_PROFILE\x00"
	xmpTag = "http://ns.adobe.com/xap/1.0/\x00"
)

// jpegPlan is the plan of a JPEG while its segments are read.
type jpegPlan struct {
	*plan
	in       input
	edit     edit
	frame    jpegFrame
	header   int      // parts until the end of the JFIF header
	profiles [][]byte // segments with a part of the color profile
}

// planJPEG keeps the tables and scans of a JPEG, its JFIF header without a thumbnail, the
// mark of Adobe that says how colors are coded, and the color profile. What stands between
// segments and behind the end goes.
func planJPEG(in input, e edit) (*plan, error) {
	p := &jpegPlan{plan: &plan{}, in: in, edit: e}
	p.put([]byte{0xff, 0xd8})
	p.header = len(p.parts)
	for off := int64(2); ; {
		marker, at, err := nextMarker(in, off)
		if err != nil {
			return nil, err
		}
		p.dropUnless(at <= off, "bytes between segments")
		off = at + 2
		if marker == 0xd9 { // the end
			p.put([]byte{0xff, 0xd9})
			p.dropUnless(off >= in.size, "bytes after the end")
			p.insertJPEG(p.header, p.profiles, e)
			return p.plan, nil
		}
		if marker == 0x01 || marker >= 0xd0 && marker <= 0xd8 { // of no length
			continue
		}
		body, err := jpegBody(in, off)
		if err != nil {
			return nil, err
		}
		p.segment(marker, body, at)
		off += 2 + int64(len(body))
		if marker == 0xda {
			end, err := scanEnd(in, off)
			if err != nil {
				return nil, err
			}
			p.scan(in, &p.frame, body, off, end)
			off = end
		}
	}
}

// jpegBody returns what a segment holds behind its length, which is at off.
func jpegBody(in input, off int64) ([]byte, error) {
	head, err := in.bytes(off, 2)
	if err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint16(head))
	if n < 2 {
		return nil, damaged("a segment has no length")
	}
	return in.bytes(off+2, n-2)
}

// segment keeps or drops a segment whose marker is at an offset.
func (p *jpegPlan) segment(marker byte, body []byte, at int64) {
	if marker == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00")) && p.exif.n == 0 {
		p.exif = part{off: at + 4, n: int64(len(body))}
	}
	switch {
	case marker == 0xe2 && bytes.HasPrefix(body, []byte(iccTag)):
		p.profiles = append(p.profiles, body)
	case marker == 0xe0 && bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= 12:
		p.put(append(append([]byte{0xff, 0xe0, 0, 16}, body[:12]...), 0, 0)) // without its thumbnail
		p.header = len(p.parts)
		p.dropUnless(len(body) <= 14, "JFIF thumbnail")
	case marker == 0xee && bytes.HasPrefix(body, []byte("Adobe")) && len(body) >= 12:
		p.put(append([]byte{0xff, 0xee, 0, 14}, body[:12]...))
		p.dropUnless(len(body) == 12, "APP14")
	case marker >= 0xc0 && marker <= 0xcf, marker >= 0xda && marker <= 0xdf:
		p.table(&p.frame, marker, body, at)
	case p.edit.keepsJPEG(marker, body):
		p.copy(at, int64(len(body))+4)
	default:
		p.drop(jpegName(marker))
	}
}

// table copies a segment that the picture is decoded with, without what stands behind its tables.
func (p *plan) table(f *jpegFrame, marker byte, body []byte, at int64) {
	n, ok := f.needed(marker, body)
	if !ok {
		p.drop("segment")
		return
	}
	f.read(marker, body[:n])
	if n == len(body) {
		p.copy(at, int64(n)+4)
		return
	}
	p.drop("bytes behind a table")
	p.put(jpegSegment(marker, "", body[:n]))
}

// scan copies the coded data of a scan, without what stands among it and is none.
func (p *plan) scan(in input, f *jpegFrame, header []byte, off, end int64) {
	ranges, ok := f.follow(in, header, off, end)
	if !ok {
		p.copy(off, end-off)
		return
	}
	at := off
	for _, r := range ranges {
		p.dropUnless(r[0] == at, jpegSlack)
		p.copy(r[0], r[1]-r[0])
		at = r[1]
	}
	p.dropUnless(at == end, jpegSlack)
}

// jpegSlack is what stands in the coded data of a picture and is none.
const jpegSlack = "bytes among the coded data"

// jpegName names a segment that is left out.
func jpegName(marker byte) string {
	if marker == 0xfe {
		return "COM"
	}
	if marker >= 0xe0 && marker <= 0xef {
		return "APP" + string("0123456789ABCDEF"[marker-0xe0])
	}
	return "segment"
}

// keepsJPEG reports whether a segment of metadata may stay.
func (e edit) keepsJPEG(marker byte, body []byte) bool {
	switch {
	case marker == 0xfe:
		return e.keep.Generation
	case marker == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00")):
		return e.keep.exif()
	case marker == 0xe1 && bytes.HasPrefix(body, []byte("http://ns.adobe.com/")):
		return e.keep.xmp() && e.xmp == nil
	case marker == 0xed:
		return e.keep.iptc()
	}
	return false
}

// nextMarker finds the next marker at or behind an offset. A file that ends without one has
// its end there.
func nextMarker(in input, off int64) (marker byte, at int64, err error) {
	r := bufio.NewReader(in.section(off, max(0, in.size-off)))
	before := byte(0)
	for at = off; ; at++ {
		b, err := r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0xd9, in.size, nil
		case err != nil:
			return 0, 0, err
		case before == 0xff && b != 0xff && b != 0:
			return b, at - 1, nil
		}
		before = b
	}
}

// scanEnd returns where the coded data of a scan ends: at a marker that is no restart.
func scanEnd(in input, off int64) (int64, error) {
	r := bufio.NewReaderSize(in.section(off, max(0, in.size-off)), 64<<10)
	before := byte(0)
	for at := off; ; at++ {
		b, err := r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return in.size, nil
		case err != nil:
			return 0, err
		case before == 0xff && b != 0 && b != 0xff && (b < 0xd0 || b > 0xd7):
			return at - 1, nil
		}
		before = b
		if at%(8<<20) == 0 && in.ctx.Err() != nil {
			return 0, in.ctx.Err()
		}
	}
}

// insertJPEG adds the profile and the XMP packet behind the header.
func (p *plan) insertJPEG(at int, profiles [][]byte, e edit) {
	icc := e.icc
	if icc == nil && len(profiles) > 0 {
		if !e.keep.NoICC {
			icc = jpegProfile(profiles)
		}
		p.dropUnless(icc != nil, "ICC_PROFILE")
	}
	p.icc = icc
	var add []part
	const most = 65519 // of a profile's part in a segment
	total := (len(icc) + most - 1) / most
	for i := range total {
		piece := icc[i*most : min(len(icc), (i+1)*most)]
		add = append(add, part{data: jpegSegment(0xe2, iccTag+string([]byte{byte(i + 1), byte(total)}), piece)})
	}
	if e.xmp != nil && len(e.xmp) < 65000 {
		add = append(add, part{data: jpegSegment(0xe1, xmpTag, e.xmp)})
		p.embedded = true
	}
	p.parts = append(p.parts[:at:at], append(add, p.parts[at:]...)...)
}

func jpegSegment(marker byte, tag string, body []byte) []byte {
	n := 2 + len(tag) + len(body)
	b := append([]byte{0xff, marker, byte(n >> 8), byte(n)}, tag...)
	return append(b, body...)
}

// jpegProfile puts a profile together that is spread over several segments.
func jpegProfile(segments [][]byte) []byte {
	parts := make([][]byte, 256)
	for _, s := range segments {
		if len(s) >= len(iccTag)+2 {
			parts[s[len(iccTag)]] = s[len(iccTag)+2:]
		}
	}
	return profile(bytes.Join(parts, nil))
}
