package writer

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"unicode/utf16"

	"vitrine/internal/sample/draw"
)

// encodeJPEG writes a JPEG with the given APP1 payload right after SOI, where
// Pillow and piexif put it; an empty payload writes none.
func encodeJPEG(pic draw.Picture, quality int, app1 []byte) ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, pic.W, pic.H))
	for i := range pic.W * pic.H {
		p := img.Pix[4*i : 4*i+4]
		p[0], p[1], p[2], p[3] = pic.Pix[3*i], pic.Pix[3*i+1], pic.Pix[3*i+2], 255
	}
	var body bytes.Buffer
	if err := jpeg.Encode(&body, img, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	plain := body.Bytes()
	if len(app1) == 0 {
		return plain, nil
	}
	out := append([]byte{0xff, 0xd8, 0xff, 0xe1}, byte((len(app1)+2)>>8), byte(len(app1)+2))
	out = append(out, app1...)
	return append(out, plain[2:]...), nil
}

// userComment is an Exif block whose only tag is UserComment (0x9286) in
// UTF-16: big endian as piexif writes it, little endian as ImageSharp does.
// piexif leaves out the offset to a next directory after the Exif directory.
func userComment(value string, little bool) []byte {
	var order binary.AppendByteOrder = binary.BigEndian
	b, tail := []byte("MM"), 0
	if little {
		order, b, tail = binary.LittleEndian, []byte("II"), 4
	}
	comment := []byte("UNICODE\x00")
	for _, u := range utf16.Encode([]rune(value)) {
		comment = order.AppendUint16(comment, u)
	}
	const exifAt = 26
	b = order.AppendUint16(b, 42)
	b = order.AppendUint32(b, 8)
	b = append(entry(b, order, 0x8769, 4, 1, exifAt), 0, 0, 0, 0)
	b = entry(b, order, 0x9286, 7, len(comment), exifAt+14+tail)
	b = append(b, make([]byte, tail)...)
	return append([]byte("Exif\x00\x00"), append(b, comment...)...)
}

// entry writes a directory of one entry (TIFF 6.0, section 2).
func entry(b []byte, order binary.AppendByteOrder, tag, kind uint16, count, value int) []byte {
	b = order.AppendUint16(b, 1)
	b = order.AppendUint16(b, tag)
	b = order.AppendUint16(b, kind)
	b = order.AppendUint32(b, uint32(count))
	return order.AppendUint32(b, uint32(value))
}
