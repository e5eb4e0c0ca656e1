package container

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
)

// box is one box of an ISO base media file (ISO/IEC 14496-12, 4.2).
type box struct {
	kind  string // four characters, or the 16 bytes of a uuid box's own type
	depth int
	body  source
	// clipped is set where the box is longer than what encloses it.
	clipped bool
}

// The types of the uuid boxes that hold metadata.
const (
	uuidXMP  = "\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac"
	uuidC2PA = "\xd8\xfe\xc3\xd6\x1b\x0e\x48\x3c\x92\x97\x58\x28\x87\x7e\xc4\x81"
)

// walkBoxes visits the boxes in s, one level deep, reading their headers only.
func walkBoxes(s source, depth int, visit func(b box)) {
	if depth > maxDepth {
		return
	}
	for off := int64(0); off < s.size && s.step(); {
		h := s.peek(off, 8)
		if h == nil {
			return // padding shorter than a header
		}
		b := box{kind: string(h[4:]), depth: depth}
		n, head := int64(binary.BigEndian.Uint32(h)), int64(8)
		switch n {
		case 0: // the last box of the file, which ends with it
			n = s.size - off
		case 1:
			if h = s.peek(off+8, 8); h == nil {
				return
			}
			n, head = int64(min(binary.BigEndian.Uint64(h), math.MaxInt64/2)), 16
		}
		if b.kind == "uuid" {
			id := s.peek(off+head, 16)
			if id == nil {
				return
			}
			b.kind, head = string(id), head+16
		}
		if n < head {
			return // a zero filling, or no box at all
		}
		b.clipped = n > s.size-off
		b.body = s.part(off+head, n-head)
		visit(b)
		if b.clipped {
			return
		}
		off += n
	}
}

// readISOBMFF reads the family of ISO base media files: MP4, QuickTime, AVIF, HEIF.
// Boxes are found by their sizes, so that only metadata is read wherever it stands.
func readISOBMFF(s source) {
	m := movie{s: s}
	h := heif{s: s}
	walkBoxes(s, 0, func(b box) {
		if b.clipped {
			s.cut("the " + printable(b.kind) + " box")
		}
		switch b.kind {
		case "ftyp":
			brand(s.file, b.body.front(256))
		case "moov":
			m.moov(b)
		case "meta":
			body := metaBody(b)
			h.meta(body, b.depth)
			m.meta(body, b.depth)
		case "udta":
			m.udta(b)
		case uuidXMP:
			readWholeXMP(b.body)
		case uuidC2PA:
			contentCredentials(b.body)
		}
	})
	h.finish()
	m.finish()
}

// brand sets the MIME type by the brands of the ftyp box: the major one, else the
// first compatible one that says something.
func brand(f *File, b []byte) {
	for i := 0; i+4 <= len(b); i += 4 {
		if i == 4 { // the minor version
			continue
		}
		if mime := brandTypes[string(b[i:i+4])]; mime != "" {
			f.MIME = mime
			return
		}
	}
	f.MIME = "video/mp4"
	if bytes.Contains(b, []byte("mif1")) || bytes.Contains(b, []byte("msf1")) {
		f.MIME = "image/heif" // of an unnamed coding
	}
}

var brandTypes = map[string]string{
	"avif": "image/avif", "avis": "image/avif",
	"heic": "image/heic", "heix": "image/heic", "heim": "image/heic", "heis": "image/heic",
	"hevc": "image/heic-sequence", "hevx": "image/heic-sequence",
	"qt  ": "video/quicktime",
	"M4A ": "audio/mp4", "M4B ": "audio/mp4",
	"isom": "video/mp4", "iso2": "video/mp4", "iso4": "video/mp4", "iso5": "video/mp4", "iso6": "video/mp4",
	"mp41": "video/mp4", "mp42": "video/mp4", "avc1": "video/mp4", "M4V ": "video/mp4", "dash": "video/mp4",
}

// contentCredentials keeps the JUMBF boxes of a C2PA uuid box: version and flags,
// purpose, NUL, an 8-byte offset, then the boxes (C2PA 2.1, A.4).
func contentCredentials(s source) {
	b, ok := s.value("the content credentials", 0, s.size)
	if !ok {
		return
	}
	c := cursor{b: b}
	c.skip(4)
	if purpose := c.text(); purpose != "manifest" {
		return
	}
	c.skip(8)
	s.addCredentials("mp4:uuid", c.b)
}

// metaBody returns the boxes within a meta box. In ISO files four bytes of version
// and flags precede them, in QuickTime files none: its handler box tells which.
func metaBody(b box) source {
	h := b.body.peek(0, 8)
	if h == nil || string(h[4:]) == "hdlr" || string(h[4:]) == "keys" || string(h[4:]) == "ilst" {
		return b.body
	}
	return b.body.part(4, b.body.size)
}

// printable makes a box type fit for a message.
func printable(kind string) string {
	if len(kind) > 4 {
		return "uuid"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, kind)
}
