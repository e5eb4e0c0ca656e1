package strip

import (
	"encoding/binary"
	"slices"
	"strings"
)

// bmffNeeded are the boxes that play a film, by the box that they stand in. Any other box
// becomes free space of the same size, so that no offset into the file changes.
var bmffNeeded = map[string][]string{
	"":     {"ftyp", "styp", "moov", "moof", "mdat", "mfra", "sidx", "ssix", "prft", "pdin", "wide", "free", "skip", "meta"},
	"moov": {"mvhd", "trak", "mvex", "iods", "free", "skip"},
	"trak": {"tkhd", "edts", "mdia", "tref", "trgr", "tapt", "free", "skip"},
	"edts": {"elst"},
	"mdia": {"mdhd", "hdlr", "minf", "elng", "free"},
	"minf": {"vmhd", "smhd", "hmhd", "sthd", "nmhd", "gmhd", "hdlr", "dinf", "stbl", "free"},
	"stbl": {"stsd", "stts", "ctts", "cslg", "stss", "stps", "stsz", "stz2", "stsc", "stco", "co64", "sdtp", "sbgp", "sgpd", "subs", "saiz", "saio", "stsh", "padb", "stdp", "free"},
	"mvex": {"mehd", "trex", "leva"},
	"moof": {"mfhd", "traf"},
	"traf": {"tfhd", "trun", "tfdt", "sbgp", "sgpd", "subs", "saiz", "saio", "senc", "sdtp"},
	"mfra": {"tfra", "mfro"},
}

// bmff is a file of boxes whose metadata is overwritten in its place.
type bmff struct {
	in     input
	edit   edit
	plan   *plan
	blanks blanks
	boxes  int
	moofs  bool // the film is in fragments
	tracks bool // a track of metadata was removed
	image  bool

	coding    *nalCoding  // of the track that is being looked at
	films     []filmTrack // tracks whose samples are looked into
	fragments [][3]int64  // each moof: where it begins, the length of its head, where it ends
	extends   [2]int64    // where the boxes of mvex are
}

// planBMFF is for MP4, QuickTime, AVIF and HEIC.
func planBMFF(in input, e edit) (*plan, error) {
	b := &bmff{in: in, edit: e, plan: &plan{}}
	if e.keep == (Keep{Generation: true, EXIF: true, GPS: true, IPTC: true}) {
		b.plan.copy(0, in.size)
		return b.plan, nil
	}
	head, err := in.bytes(0, 12)
	if err != nil {
		return nil, err
	}
	b.image = slices.Contains([]string{"avif", "avis", "heic", "heix", "hevc", "mif1", "msf1"}, string(head[8:12]))
	end, err := b.walk("", 0, in.size)
	if err != nil {
		return nil, err
	}
	if b.tracks && b.moofs {
		return nil, &Error{CodeUnsupported, "The video has a track of metadata in fragments, which cannot be removed without writing the video anew."}
	}
	if err := b.filmTracks(); err != nil {
		return nil, err
	}
	b.blanks.plan(b.plan, end)
	if e.xmp != nil && !b.image {
		b.plan.put(box("uuid", append(slices.Clone(xmpUUID), e.xmp...)))
		b.plan.embedded = true
	}
	return b.plan, nil
}

var xmpUUID = []byte{0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8, 0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac}

func box(kind string, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(append(b, kind...), body...)
}

// maxBoxes bounds how many boxes are looked at.
const maxBoxes = 1 << 20

// walk looks at the boxes from off to end, which stand in the box parent, and returns where
// the last of them ends.
func (b *bmff) walk(parent string, off, end int64) (int64, error) {
	for off < end {
		if b.boxes++; b.boxes > maxBoxes {
			return 0, damaged("it has more than %d boxes", maxBoxes)
		}
		if end-off < 8 {
			b.tail(off, end)
			return off, nil
		}
		head, err := b.in.bytes(off, min(16, end-off))
		if err != nil {
			return 0, err
		}
		n, kind, start := int64(binary.BigEndian.Uint32(head)), string(head[4:8]), int64(8)
		switch {
		case n == 1 && len(head) == 16:
			n, start = int64(binary.BigEndian.Uint64(head[8:])), 16
		case n == 0:
			n = end - off
		}
		if n < start || n > end-off {
			if parent == "" && off > 0 && !slices.Contains(bmffNeeded[""], kind) {
				b.tail(off, end) // bytes that are no box
				return off, nil
			}
			return 0, damaged("the box %q reaches beyond its end", printable(kind))
		}
		if err := b.box(parent, kind, off, start, n); err != nil {
			return 0, err
		}
		off += n
	}
	return off, nil
}

// tail is what stands behind the last box.
func (b *bmff) tail(off, end int64) {
	b.blanks.zero(off, end-off)
	for range end - off { // a QuickTime list may end in four zeros
		if x, err := b.in.bytes(off, 1); err != nil || x[0] != 0 {
			b.plan.drop("bytes after the last box")
			return
		}
		off++
	}
}

// box treats one box: it is looked into, changed, kept, or overwritten.
func (b *bmff) box(parent, kind string, off, start, n int64) error {
	switch {
	case kind == "meta" && parent == "" && b.image:
		return b.items(off, start, n)
	case kind == "free" || kind == "skip" || kind == "wide":
		b.blanks.zero(off+start, n-start)
	case !slices.Contains(bmffNeeded[parent], kind) || kind == "meta":
		b.free(kind, off, start, n)
	case kind == "trak":
		return b.track(off, start, n)
	case kind == "moof":
		b.moofs = true
		b.fragments = append(b.fragments, [3]int64{off, start, off + n})
		_, err := b.walk(kind, off+start, off+n)
		return err
	case bmffNeeded[kind] != nil:
		if kind == "mvex" {
			b.extends = [2]int64{off + start, off + n}
		}
		_, err := b.walk(kind, off+start, off+n)
		return err
	case kind == "mvhd", kind == "tkhd", kind == "mdhd":
		return b.times(off, start, n)
	case kind == "hdlr":
		return b.handler(off, start, n)
	case kind == "stsd":
		return b.samples(off, start, n)
	case kind == "prft":
		b.free(kind, off, start, n) // the time of day at which it was made
	}
	return nil
}

// free makes a box free space.
func (b *bmff) free(kind string, off, start, n int64) {
	b.plan.drop(printable(kind))
	b.blanks.put(off+4, []byte("free"))
	b.blanks.zero(off+start, n-start)
}

func printable(kind string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, kind)
}

// times overwrites when something was made and changed.
func (b *bmff) times(off, start, n int64) error {
	head, err := b.in.bytes(off+start, min(20, n-start))
	if err != nil || len(head) < 20 {
		return err
	}
	size := int64(8)
	if head[0] == 1 {
		size = 16
	}
	for _, x := range head[4 : 4+size] {
		if x != 0 {
			b.plan.drop("times")
			b.blanks.zero(off+start+4, size)
			break
		}
	}
	return nil
}

// handler overwrites the name that a program gave a track.
func (b *bmff) handler(off, start, n int64) error {
	const fixed = 24
	if n-start <= fixed {
		return nil
	}
	name, err := b.in.bytes(off+start+fixed, n-start-fixed)
	if err != nil {
		return err
	}
	for _, x := range name {
		if x != 0 {
			b.plan.drop("track name")
			b.blanks.zero(off+start+fixed, n-start-fixed)
			break
		}
	}
	return nil
}

// samples looks into the descriptions of a track's samples: the name of the compressor goes,
// and so do boxes that hold metadata.
func (b *bmff) samples(off, start, n int64) error {
	end := off + n
	for at := off + start + 8; at+8 <= end; {
		head, err := b.in.bytes(at, 8)
		if err != nil {
			return err
		}
		m := int64(binary.BigEndian.Uint32(head))
		if m < 8 || m > end-at {
			return damaged("a description of samples reaches beyond its end")
		}
		if m >= 86 && b.visual(string(head[4:])) {
			if name, err := b.in.bytes(at+50, 32); err == nil && name[0] != 0 {
				b.plan.drop("compressor name")
				b.blanks.zero(at+50, 32)
			}
			if err := b.inner(at+86, at+m); err != nil {
				return err
			}
		}
		at += m
	}
	return nil
}

// visual reports whether a kind of sample is a picture.
func (b *bmff) visual(kind string) bool {
	return slices.Contains([]string{"avc1", "avc3", "hvc1", "hev1", "av01", "vp08", "vp09", "mp4v", "jpeg", "apcn", "apch", "apcs", "apco", "ap4h", "ap4x", "png ", "encv", "dvh1", "dvhe", "s263", "mjp2", "rle ", "raw "}, kind)
}

// inner overwrites metadata within the description of a sample.
func (b *bmff) inner(off, end int64) error {
	for off+8 <= end {
		head, err := b.in.bytes(off, 8)
		if err != nil {
			return err
		}
		n, kind := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		if n < 8 || n > end-off {
			return nil
		}
		switch kind {
		case "uuid", "udta", "meta":
			b.free(kind, off, 8, n)
		case "colr":
			if n > maxProfile {
				return nil
			}
			body, err := b.in.bytes(off+8, n-8)
			if err != nil {
				return err
			}
			clean := slices.Clone(body)
			cleanColors(clean)
			b.blanks.put(off+8, clean)
		case "avcC", "hvcC":
			if err := b.configure(kind, off+8, n-8); err != nil {
				return err
			}
		}
		off += n
	}
	return nil
}
