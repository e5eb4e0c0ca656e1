package preview

import (
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"strings"
)

// jpegFrame is what a JPEG's frame header says (ITU T.81, B.2.2).
type jpegFrame struct {
	width, height int
	sampling      [][2]int // factors of each component: horizontal, vertical
	progressive   bool
	jfif, rgb     bool // what decides whether three components are YCbCr or RGB
}

func openJPEG(f file) (source, error) {
	frame, err := readJPEGFrame(f)
	if err != nil {
		return source{}, err
	}
	kind := "JPEG"
	if frame.progressive {
		kind = "progressive JPEG"
	}
	return decoded(kind, frame.width, frame.height, frame.cost(), func(f file) (image.Image, error) { return jpeg.Decode(frame.reader(f)) }), nil
}

// jfif begins a JFIF file; its colors are YCbCr.
const jfif = "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"

// reader returns the file, as a JFIF file where what is before the pixels does not
// tell of RGB: otherwise an Adobe segment behind them could still make the decoder
// copy the picture.
func (j jpegFrame) reader(f file) io.Reader {
	if j.jfif || j.rgb {
		return f.whole()
	}
	return io.MultiReader(strings.NewReader(jfif), f.section(2, f.n-2))
}

// cost follows the decoder of the standard library: planes of whole blocks; for a
// progressive picture every coefficient as four bytes; for colors other than YCbCr a
// second copy of the picture.
func (j jpegFrame) cost() int64 {
	maxH, maxV := 1, 1
	for _, c := range j.sampling {
		maxH, maxV = max(maxH, c[0]), max(maxV, c[1])
	}
	across, down := int64((j.width+8*maxH-1)/(8*maxH)), int64((j.height+8*maxV-1)/(8*maxV))
	var samples int64
	for _, c := range j.sampling {
		samples += 64 * across * down * int64(c[0]) * int64(c[1])
	}
	cost := samples
	if j.progressive {
		cost += 4 * samples
	}
	if len(j.sampling) == 4 || j.rgb {
		cost += 4 * pixels(j.width, j.height)
	}
	return cost + 64<<10
}

// maxSegments bounds the walk: a file of 64 MB of metadata has a thousand.
const maxSegments = 1 << 16

// readJPEGFrame walks the segments before the pixels.
func readJPEGFrame(f file) (frame jpegFrame, err error) {
	for off, segments := int64(2), 0; segments < maxSegments; segments++ {
		b := f.head(off, 4)
		if b == nil {
			return frame, errShort
		}
		if b[0] != 0xff || b[1] == 0xff || b[1] == 0 || b[1] >= 0xd0 && b[1] <= 0xd7 { // fill bytes and what belongs nowhere
			off++
			continue
		}
		marker, n := b[1], int64(binary.BigEndian.Uint16(b[2:]))
		switch {
		case marker >= 0xc0 && marker <= 0xc2:
			frame.progressive = marker == 0xc2
			err = frame.parse(f.head(off+4, int(max(n-2, 0))))
		case marker == 0xe0 && n >= 7:
			frame.jfif = frame.jfif || string(f.head(off+4, 5)) == "JFIF\x00"
		case marker == 0xee && n >= 14: // the last byte is 0 for RGB (and for CMYK)
			adobe := f.head(off+4, 12)
			frame.rgb = frame.rgb || adobe != nil && string(adobe[:5]) == "Adobe" && adobe[11] == 0
		case marker == 0xda || marker == 0xd9:
			if frame.sampling == nil {
				err = errNoFrame
			}
			return frame, err
		}
		if err != nil || n < 2 {
			return frame, errors.Join(err, errShort)
		}
		off += 2 + n
	}
	return frame, errNoFrame
}

var errNoFrame = errors.New("the frame header of the JPEG file is missing or damaged")

func (j *jpegFrame) parse(b []byte) error {
	if len(b) < 6 || len(b) < 6+3*int(b[5]) || b[5] == 0 || b[5] > 4 {
		return errNoFrame
	}
	j.height, j.width, j.sampling = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:])), nil
	for i := range int(b[5]) {
		hv := b[7+3*i]
		h, v := int(hv>>4), int(hv&15)
		if h < 1 || h > 4 || v < 1 || v > 4 {
			return errNoFrame
		}
		if b[5] == 1 { // of one component the factors mean nothing
			h, v = 1, 1
		}
		j.sampling = append(j.sampling, [2]int{h, v})
	}
	j.rgb = j.rgb || len(j.sampling) == 3 && b[6] == 'R' && b[9] == 'G' && b[12] == 'B'
	return nil
}
