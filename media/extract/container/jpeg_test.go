package container

import (
	"encoding/binary"
	"strings"
	"testing"
)

var (
	le = binary.LittleEndian
	be = binary.BigEndian
)

// manifestStore is the box around content credentials.
var manifestStore = atom("jumb", atom("jumd", make([]byte, 16), 3, "c2pa\x00"), atom("jumb", "manifest"))

// segment makes a JPEG segment.
func segment(marker int, parts ...any) []byte {
	body := join(parts...)
	return join(0xFF, marker, be16(len(body)+2), body)
}

// jpegFile makes a JPEG of 3×2 pixels with these segments.
func jpegFile(segments ...any) []byte {
	return join("\xff\xd8", join(segments...), segment(0xC0, 8, be16(2), be16(3), 1, 1, 0x11, 0),
		segment(0xDA, 1, 1, 0, 0, 63, 0), "pixels", "\xff\xd9")
}

const exifText = "a cat\nSteps: 20, Größe, テスト"

// foxes is a text without ASCII.
var foxes = strings.Repeat("一只狐狸，一个雪地。", 4)

// jpegCases are segments with generation metadata, and what is read from them.
var jpegCases = map[string]struct {
	segments []byte
	want     Chunk
}{
	"UserComment in big-endian UTF-16 within a little-endian block": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, nil, []field{{0x9286, 7, join("UNICODE\x00", utf16Bytes(be, exifText))}})),
		Chunk{Place: "jpeg:exif", Key: "UserComment", Text: exifText}},
	"UserComment in little-endian UTF-16 within a big-endian block": {
		segment(0xE1, "Exif\x00\x00", exifBlock(be, nil, []field{{0x9286, 7, join("UNICODE\x00", utf16Bytes(le, exifText))}})),
		Chunk{Place: "jpeg:exif", Key: "UserComment", Text: exifText}},
	"UserComment in ASCII": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, nil, []field{{0x9286, 7, join("ASCII\x00\x00\x00", exifText)}})),
		Chunk{Place: "jpeg:exif", Key: "UserComment", Text: exifText}},
	"UserComment in UTF-16 that says ASCII": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, nil, []field{{0x9286, 7, join("ASCII\x00\x00\x00", utf16Bytes(be, exifText))}})),
		Chunk{Place: "jpeg:exif", Key: "UserComment", Text: exifText}},
	"UserComment in UTF-16 behind a code of zeros": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, nil, []field{{0x9286, 7, join(make([]byte, 8), utf16Bytes(be, exifText))}})),
		Chunk{Place: "jpeg:exif", Key: "UserComment", Text: exifText}},
	"UserComment in UTF-16 of little ASCII without a character code": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, nil, []field{{0x9286, 7, utf16Bytes(be, foxes+" 1girl")}})),
		Chunk{Place: "jpeg:exif", Key: "UserComment", Text: foxes + " 1girl"}},
	"UserComment in UTF-16 without ASCII": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, nil, []field{{0x9286, 7, join("UNICODE\x00", utf16Bytes(be, foxes))}})),
		Chunk{Place: "jpeg:exif", Key: "UserComment", Text: foxes}},
	"UserComment in UTF-8 with a terminator that says UNICODE": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, nil, []field{{0x9286, 7, join("UNICODE\x00", "a cat\x00")}})),
		Chunk{Place: "jpeg:exif", Key: "UserComment", Text: "a cat"}},
	"ImageDescription of the type UTF-8": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, []field{{0x010E, 129, []byte(exifText + "\x00")}}, nil)),
		Chunk{Place: "jpeg:exif", Key: "ImageDescription", Text: exifText}},
	"Make of the type UNDEFINED": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, []field{{0x010F, 7, []byte("prompt:{}")}}, nil)),
		Chunk{Place: "jpeg:exif", Key: "Make", Text: "prompt:{}"}},
	"Model of the type BYTE": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, []field{{0x0110, 1, []byte("prompt:{}")}}, nil)),
		Chunk{Place: "jpeg:exif", Key: "Model", Text: "prompt:{}"}},
	"EXIF with other padding": {
		segment(0xE1, "Exif\x00\xff", exifBlock(le, []field{ascii(0x010F, "prompt:{}")}, nil)),
		Chunk{Place: "jpeg:exif", Key: "Make", Text: "prompt:{}"}},
	"comment behind bytes of no segment": {join(segment(0xE0, "JFIF\x00"), "\x00\x13", segment(0xFE, "{}")), Chunk{Place: "jpeg:comment", Key: "comment", Text: "{}"}},
	"UserComment in JIS": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, nil, []field{{0x9286, 7, join("JIS\x00\x00\x00\x00\x00", "\x1b$B%F%9%H\x1b(B")}})),
		Chunk{Place: "jpeg:exif", Key: "UserComment", Text: "テスト"}},
	"UserComment in IFD0, ASCII, without a character code": {
		segment(0xE1, "Exif\x00\x00", exifBlock(le, []field{ascii(0x9286, `{"prompt":{}}`)}, nil)),
		Chunk{Place: "jpeg:exif", Key: "UserComment", Text: `{"prompt":{}}`}},
	"ImageDescription behind four zero bytes": {
		segment(0xE1, "Exif\x00\x00", exifBlock(be, []field{{0x010E, 2, []byte("\x00\x00\x00\x00a cat\x00")}}, nil)),
		Chunk{Place: "jpeg:exif", Key: "ImageDescription", Text: "a cat"}},
	"Windows comment": {
		segment(0xE1, "Exif\x00\x00", exifBlock(be, []field{{0x9C9C, 1, utf16Bytes(le, "テスト a\x00")}}, nil)),
		Chunk{Place: "jpeg:exif", Key: "XPComment", Text: "テスト a"}},
	"value short enough to stand in its entry": {
		segment(0xE1, "Exif\x00\x00", exifBlock(be, []field{ascii(0x0131, "abc")}, nil)),
		Chunk{Place: "jpeg:exif", Key: "Software", Text: "abc"}},
	"comment": {segment(0xFE, "{}"), Chunk{Place: "jpeg:comment", Key: "comment", Text: "{}"}},
	"XMP": {segment(0xE1, xmpHeader, xmpPacket),
		Chunk{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`}},
	"IPTC caption": {segment(0xED, photoshopHeader, "8BIM", be16(0x0404), 0, 0, be32(10), "\x1c\x02\x78", be16(5), "a cat"),
		Chunk{Place: "jpeg:iptc", Key: "Caption-Abstract", Text: "a cat"}},
	"content credentials over two segments": {
		join(segment(0xEB, "JP", be16(1), be32(1), be32(len(manifestStore)), "jumb", manifestStore[8:20]),
			segment(0xEB, "JP", be16(1), be32(2), be32(len(manifestStore)), "jumb", manifestStore[20:])),
		Chunk{Place: "c2pa", Key: "jpeg:APP11", Data: manifestStore}},
}

func TestJPEG_MetadataIsReadFromEverySegment(t *testing.T) {
	for name, c := range jpegCases {
		t.Run(name, func(t *testing.T) {
			f := readBytes(t, jpegFile(c.segments))
			wantChunks(t, f, c.want)
			if f.MIME != "image/jpeg" || f.Width != 3 || f.Height != 2 || f.Truncated || len(f.Warnings) > 0 {
				t.Errorf("got %+v; want a whole JPEG of 3×2", f)
			}
		})
	}
}

// TestJPEG_LongEXIFGoesOnInTheNextSegment: a workflow is often longer than a segment.
func TestJPEG_LongEXIFGoesOnInTheNextSegment(t *testing.T) {
	text := "workflow:" + strings.Repeat("x", 100_000)
	block := exifBlock(le, []field{ascii(0x010F, text)}, nil)
	f := readBytes(t, jpegFile(
		segment(0xE1, "Exif\x00\x00", block[:60_000]), segment(0xE1, "Exif\x00\x00", block[60_000:])))
	wantChunks(t, f, Chunk{Place: "jpeg:exif", Key: "Make", Text: text})
}

func TestJPEG_ExtendedXMPIsPutTogetherInAnyOrder(t *testing.T) {
	digest := strings.Repeat("d", 32)
	half := len(xmpPacket) / 2
	first := segment(0xE1, extendedXMPHeader, digest, be32(len(xmpPacket)), be32(0), xmpPacket[:half])
	second := segment(0xE1, extendedXMPHeader, digest, be32(len(xmpPacket)), be32(half), xmpPacket[half:])
	for _, segments := range [][]byte{join(first, second), join(second, first), join(first, first, second)} {
		f := readBytes(t, jpegFile(segments))
		wantChunks(t, f, Chunk{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`})
	}
}

// TestJPEG_ExtendedXMPOfAnotherStateIsLeftOut: editors that write a new main packet
// leave the old extension behind.
func TestJPEG_ExtendedXMPOfAnotherStateIsLeftOut(t *testing.T) {
	main := `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:n="http://ns.adobe.com/xmp/note/" n:HasExtendedXMP="` +
		strings.Repeat("A", 32) + `"/></rdf:RDF>`
	for digest, want := range map[string]int{strings.Repeat("a", 32): 2, strings.Repeat("d", 32): 1} {
		f := readBytes(t, jpegFile(segment(0xE1, xmpHeader, main),
			segment(0xE1, extendedXMPHeader, digest, be32(len(xmpPacket)), be32(0), xmpPacket)))
		if len(f.Chunks) != want {
			t.Errorf("extension of digest %s: got %d chunks, want %d", digest[:1], len(f.Chunks), want)
		}
	}
}

// TestJPEG_LongCommentGoesOnInTheNextSegment: so does a long IPTC record.
func TestJPEG_LongCommentGoesOnInTheNextSegment(t *testing.T) {
	text := strings.Repeat("x", 70_000)
	f := readBytes(t, jpegFile(segment(0xFE, text[:maxSegment]), segment(0xFE, text[maxSegment:]), segment(0xFE, "another")))
	wantChunks(t, f, Chunk{Place: "jpeg:comment", Key: "comment", Text: text}, Chunk{Place: "jpeg:comment", Key: "comment", Text: "another"})

	resource := join("8BIM", be16(0x0404), 0, 0, be32(10), "\x1c\x02\x78", be16(5), "a cat")
	f = readBytes(t, jpegFile(segment(0xED, photoshopHeader, resource[:15]), segment(0xED, photoshopHeader, resource[15:])))
	wantChunks(t, f, Chunk{Place: "jpeg:iptc", Key: "Caption-Abstract", Text: "a cat"})

	other := join("8BIM", be16(0x03ED), 0, 0, be32(2), "xx", 0, 0, 0)
	f = readBytes(t, jpegFile(segment(0xED, photoshopHeader, other), segment(0xED, photoshopHeader, resource)))
	wantChunks(t, f, Chunk{Place: "jpeg:iptc", Key: "Caption-Abstract", Text: "a cat"})
}

// TestJPEG_OtherBoxesAreNoContentCredentials: APP11 also carries panoramas and the like.
func TestJPEG_OtherBoxesAreNoContentCredentials(t *testing.T) {
	other := atom("jumb", atom("jumd", make([]byte, 16), 3, "360images\x00"))
	wantChunks(t, readBytes(t, jpegFile(segment(0xEB, "JP", be16(1), be32(1), other))))
}

// TestJPEG_EXIFThatPointsAtItselfEnds: directories may form a circle.
func TestJPEG_EXIFThatPointsAtItselfEnds(t *testing.T) {
	f := readBytes(t, jpegFile(segment(0xE1, "Exif\x00\x00",
		exifBlock(le, []field{ascii(0x0131, "abc"), {0x8769, 4, le32(8)}}, nil))))
	wantChunks(t, f, Chunk{Place: "jpeg:exif", Key: "Software", Text: "abc"})
}

func TestJPEG_CutJPEGKeepsWhatWasRead(t *testing.T) {
	comment := segment(0xFE, "a cat")
	b := jpegFile(comment)
	for n := 4; n < len(b)-8; n++ {
		f := readBytes(t, b[:n])
		whole := n >= 2+len(comment)
		if got := len(f.Chunks) == 1; got != whole {
			t.Fatalf("cut at %d: comment read %v, want %v", n, got, whole)
		}
	}
}
