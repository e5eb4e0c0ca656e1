package pdf

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Picture is a picture that stands in a document.
type Picture struct {
	Width, Height int // pixels
	self          ref
}

// ErrPicture reports that data is no JPEG file that can be shown.
var ErrPicture = errors.New("not a JPEG that a PDF can show")

// Showable reports whether a file is a JPEG that Picture takes.
func Showable(jpeg []byte) bool {
	_, err := readJPEG(jpeg)
	return err == nil
}

// Picture adds a JPEG file, whose bytes stand in the document as they are. The same file twice
// is there once. Its color profile, if it has one for its kind of color, is used.
func (w *Writer) Picture(jpeg []byte) (*Picture, error) {
	sum := sha256.Sum256(jpeg)
	if p := w.pictures[sum]; p != nil {
		return p, nil
	}
	h, err := readJPEG(jpeg)
	if err != nil {
		return nil, err
	}
	color := map[int]string{1: "/DeviceGray", 3: "/DeviceRGB"}[h.components]
	if len(h.icc) > 20 && string(h.icc[16:20]) == map[int]string{1: "GRAY", 3: "RGB "}[h.components] {
		key := sha256.Sum256(h.icc)
		profile, ok := w.profiles[key]
		if !ok {
			profile = w.reserve()
			w.packed(profile, fmt.Sprintf("/N %d /Alternate %s", h.components, color), h.icc)
			w.profiles[key] = profile
		}
		color = fmt.Sprintf("[/ICCBased %s]", profile)
	}
	p := &Picture{Width: h.width, Height: h.height, self: w.reserve()}
	w.stream(p.self, fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s /BitsPerComponent 8 /Filter /DCTDecode", h.width, h.height, color), jpeg)
	w.pictures[sum] = p
	return p, w.err
}

// header is what a JPEG file says before its pixels.
type header struct {
	width, height, components int
	icc                       []byte
}

// profileMark begins the segments that hold a color profile.
const profileMark = "ICC_PROFILE\x00"

// readJPEG reads the segments up to the first scan.
func readJPEG(b []byte) (h header, err error) {
	if len(b) < 4 || b[0] != 0xff || b[1] != 0xd8 {
		return h, ErrPicture
	}
	for at := 2; at+4 <= len(b); {
		if b[at] != 0xff {
			return h, ErrPicture
		}
		kind := b[at+1]
		if kind == 0xff {
			at++
			continue
		}
		n := int(binary.BigEndian.Uint16(b[at+2:]))
		if n < 2 || at+2+n > len(b) {
			return h, ErrPicture
		}
		body := b[at+4 : at+2+n]
		switch {
		case kind == 0xda:
			if h.width == 0 || h.height == 0 || h.components != 1 && h.components != 3 {
				return h, ErrPicture
			}
			return h, nil
		case kind >= 0xc0 && kind <= 0xc2:
			if len(body) < 6 || body[0] != 8 {
				return h, ErrPicture
			}
			h.height, h.width, h.components = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:])), int(body[5])
		case kind == 0xe2 && bytes.HasPrefix(body, []byte(profileMark)) && len(body) > len(profileMark)+2:
			h.icc = append(h.icc, body[len(profileMark)+2:]...)
		}
		at += 2 + n
	}
	return h, ErrPicture
}
