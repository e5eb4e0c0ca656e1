package striptest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// Planted returns files, by their names, that have the text in places where other programs do not put it,
// but somebody who looks for a leak does.
func Planted(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for name, file := range plantedJPEG(t) {
		out["planted-"+name+".jpg"] = file
	}
	for name, file := range plantedPNG(t) {
		out["planted-"+name+".png"] = file
	}
	for name, file := range plantedWebP(t) {
		out["planted-"+name+".webp"] = file
	}
	out["planted-everywhere.gif"] = plantedGIF(t)
	for name, file := range plantedFilms(t) {
		out["planted-"+name] = file
	}
	return out
}

// drawn is a picture of many colors.
func drawn() *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, 48, 40))
	for y := range 40 {
		for x := range 48 {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x * 5), uint8(y * 6), uint8(x * y), 255})
		}
	}
	return m
}

func segment(marker byte, body string) []byte {
	b := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2))
	return append(b, body...)
}

// exif is an EXIF block with a maker note, a position and a thumbnail that has a comment.
func exif() string {
	thumb := "\xff\xd8" + string(segment(0xfe, Canary)) + "\xff\xd9"
	le := binary.LittleEndian
	var b []byte
	entry := func(tag, kind uint16, n, v uint32) {
		b = le.AppendUint32(le.AppendUint32(le.AppendUint16(le.AppendUint16(b, tag), kind), n), v)
	}
	text := uint32(len(Canary))
	const ifd0, sub, gps, ifd1, data = 8, 8 + 2 + 36 + 4, 50 + 2 + 24 + 4, 80 + 2 + 24 + 4, 110 + 2 + 24 + 4
	b = append(b, "II*\x00\x08\x00\x00\x00"...)
	b = le.AppendUint16(b, 3)
	entry(0x010e, 2, text, data)
	entry(0x8769, 4, 1, sub)
	entry(0x8825, 4, 1, gps)
	b = le.AppendUint32(b, ifd1)
	b = le.AppendUint16(b, 2)
	entry(0x927c, 7, text, data) // MakerNote
	entry(0x9286, 7, text, data) // UserComment
	b = le.AppendUint32(b, 0)
	b = le.AppendUint16(b, 2)
	entry(1, 2, 2, 'N')
	entry(0x1d, 2, text, data) // GPSDateStamp
	b = le.AppendUint32(b, 0)
	b = le.AppendUint16(b, 2)
	entry(0x0201, 4, 1, data+text)
	entry(0x0202, 4, 1, uint32(len(thumb)))
	b = le.AppendUint32(b, 0)
	return string(b) + Canary + thumb
}

// jumbf is a box of content credentials with a text.
func jumbf() string {
	box := func(kind, body string) string {
		return string(binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))) + kind + body
	}
	return box("jumb", box("jumd", "c2pa\x00\x11\x00\x10\x80\x00\x00\xaa\x00\x38\x9b\x71\x03c2pa\x00")+box("json", `{"prompt":"`+Canary+`"}`))
}

const xmp = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmpNote="http://ns.adobe.com/xmp/note/" xmpNote:HasExtendedXMP="00112233445566778899AABBCCDDEEFF"><dc:description><rdf:Alt><rdf:li xml:lang="x-default">` + Canary + `</rdf:li></rdf:Alt></dc:description></rdf:Description></rdf:RDF></x:xmpmeta>`

func plantedJPEG(t *testing.T) map[string][]byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, drawn(), nil); err != nil {
		t.Fatal(err)
	}
	base := b.Bytes()
	second := string(base[:2]) + string(segment(0xfe, Canary)) + string(base[2:])
	photoshop := "Photoshop 3.0\x00" + "8BIM\x04\x04\x00\x00\x00\x00\x00\x1c" + "\x1c\x02\x78\x00\x11" + Canary + strings.Repeat("\x00", 6) + "8BIM\x03\xfd\x00\x00\x00\x00\x00\x12" + Canary + "\x00"
	after := func(segments ...[]byte) []byte {
		return append(append(bytes.Clone(base[:2]), bytes.Join(segments, nil)...), base[2:]...)
	}
	scan := bytes.Index(base, []byte{0xff, 0xda})
	return map[string][]byte{
		"jfxx":         after(segment(0xe0, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"), segment(0xe0, "JFXX\x00\x10"+second)),
		"exif":         after(segment(0xe1, "Exif\x00\x00"+exif()), segment(0xe1, "Exif\x00\x00"+exif())),
		"extended-xmp": after(segment(0xe1, "http://ns.adobe.com/xap/1.0/\x00"+xmp), segment(0xe1, "http://ns.adobe.com/xmp/extension/\x0000112233445566778899AABBCCDDEEFF"+"\x00\x00\x03\x00\x00\x00\x00\x00"+xmp)),
		"c2pa":         after(segment(0xeb, "JP\x00\x01\x00\x00\x00\x01"+jumbf())),
		"photoshop":    after(segment(0xed, photoshop)),
		"mpf":          append(after(segment(0xe2, "MPF\x00II*\x00\x08\x00\x00\x00"+Canary)), second...),
		"comments":     after(segment(0xfe, Canary), segment(0xe3, "META\x00"+Canary), segment(0xe2, "FPXR\x00"+Canary), segment(0xec, "Ducky"+Canary), segment(0xee, "Adobe\x00\x64\x00\x00\x00\x00\x01"+Canary), segment(0xef, Canary), segment(0xf5, Canary)),
		"after-end":    append(bytes.Clone(base), Canary...),
		"between":      append(append(append(bytes.Clone(base[:scan]), Canary...), segment(0xfe, Canary)...), base[scan:]...),
		"tables":       after(segment(0xc8, Canary), segment(0xdc, "\x00\x28"+Canary), segment(0xdd, "\x00\x00"+Canary), segment(0xde, Canary), segment(0xdf, "\x00"+Canary)),
		"scan":         append(append(bytes.Clone(base[:len(base)-2]), Canary...), base[len(base)-2:]...),
	}
}

// chunk is a chunk of a PNG.
func chunk(kind, data string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func deflated(data string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(data))
	_ = z.Close()
	return b.String()
}

func plantedPNG(t *testing.T) map[string][]byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, drawn()); err != nil {
		t.Fatal(err)
	}
	base := b.Bytes()
	const head = 33
	chunks := [][]byte{chunk("tEXt", "parameters\x00"+Canary), chunk("zTXt", "prompt\x00\x00"+deflated(Canary)), chunk("iTXt", "workflow\x00\x01\x00en\x00x\x00"+deflated(Canary)), chunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+xmp),
		chunk("eXIf", exif()), chunk("caBX", jumbf()), chunk("tIME", "\x07\xea\x01\x01\x01\x01\x01"), chunk("sPLT", Canary+"\x00\x08"), chunk("prVt", Canary), chunk("iDOT", Canary), chunk("dSIG", Canary), chunk("vpAg", Canary), chunk("pHYs", "\x00\x00\x0b\x13\x00\x00\x0b\x13\x01"+Canary)}
	all := bytes.Join(chunks, nil)
	body, end := base[:len(base)-12], base[len(base)-12:]
	return map[string][]byte{
		"before": bytes.Join([][]byte{base[:head], all, base[head:]}, nil),
		"after":  bytes.Join([][]byte{body, all, end}, nil),
		"end":    bytes.Join([][]byte{base, all, []byte("PK\x03\x04" + Canary)}, nil),
		"frames": plantedAPNG(""),
		"slack":  plantedAPNG(Canary),
	}
}

// plantedAPNG is an animation of three frames, with texts in its second and third that are no
// pixels: behind their compressed bytes, and as compressed bytes.
func plantedAPNG(slack string) []byte {
	rows := strings.Repeat("\x00"+strings.Repeat("\x40\x80\xc0", 8), 4)
	size := "\x00\x00\x00\x08\x00\x00\x00\x04"
	frame := func(n byte) []byte {
		return chunk("fcTL", "\x00\x00\x00"+string(n)+size+"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x0a\x00\x00")
	}
	stored := deflated(rows)
	if slack != "" { // not compressed, so that the text can be seen
		var b bytes.Buffer
		z, _ := zlib.NewWriterLevel(&b, zlib.NoCompression)
		_, _ = z.Write([]byte(rows + slack))
		_ = z.Close()
		stored = b.String()
	}
	second := deflated(rows) + slack
	return bytes.Join([][]byte{[]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", size+"\x08\x02\x00\x00\x00"), chunk("acTL", "\x00\x00\x00\x03\x00\x00\x00\x00"), chunk("tEXt", "prompt\x00"+Canary), frame(0), chunk("IDAT", deflated(rows)),
		frame(1), chunk("fdAT", "\x00\x00\x00\x02"+second[:9]), chunk("fdAT", "\x00\x00\x00\x03"+second[9:]), frame(4), chunk("fdAT", "\x00\x00\x00\x05"+stored), chunk("IEND", "")}, nil)
}

func plantedGIF(t *testing.T) []byte {
	t.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 8, 8), color.Palette{color.Black, color.White})
	for i := range m.Pix {
		m.Pix[i] = uint8(i % 2)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{m, m}, Delay: []int{5, 5}}); err != nil {
		t.Fatal(err)
	}
	base := b.Bytes()
	first := bytes.IndexByte(base[13:], 0x21) + 13
	sub := func(s string) string { return string(rune(len(s))) + s }
	extra := "\x21\xfe" + sub(Canary) + "\x00" + "\x21\xff\x0bXMP DataXMP" + sub(Canary) + "\x00" + "\x21\xff\x0bNOVELAI 1.0" + sub(Canary) + "\x00" + "\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00" + sub(Canary) + "\x00" + "\x21\x01\x0c" + strings.Repeat("\x00", 12) + sub(Canary) + "\x00"
	slack := append(bytes.Clone(base[:len(base)-2]), sub(Canary)+"\x00;"...) // a block behind the last frame's own
	return bytes.Join([][]byte{slack[:first], []byte(extra), slack[first:], []byte(Canary)}, nil)
}
