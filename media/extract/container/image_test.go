package container

import (
	"strings"
	"testing"
)

// gifBlock cuts data into pieces of at most 255 bytes.
func gifBlock(data string) []byte {
	var b []byte
	for len(data) > 0 {
		n := min(len(data), 255)
		b = join(b, n, data[:n])
		data = data[n:]
	}
	return append(b, 0)
}

// gifFrame makes a picture that is shown for so many hundredths of a second.
func gifFrame(delay int) []byte {
	return join(0x21, 0xF9, gifBlock("\x00"+string(le16(delay))+"\x00"), 0x2C, make([]byte, 9), 2, gifBlock("pixels"))
}

// gifFile makes a GIF of 3×2 pixels with a colour table of two.
func gifFile(blocks ...any) []byte {
	return join("GIF89a", le16(3), le16(2), 0x80, 0, 0, make([]byte, 6), join(blocks...), 0x3B)
}

// xmpTrailer is what ends XMP in a GIF: a way to zero from any byte.
func xmpTrailer() []byte {
	b := []byte{1}
	for i := 255; i >= 0; i-- {
		b = append(b, byte(i))
	}
	return append(b, 0)
}

func TestImage_GIFIsRead(t *testing.T) {
	comment := graph + strings.Repeat(" テスト", 60) // more than one piece
	f := readBytes(t, gifFile(0x21, 0xFE, gifBlock(comment), gifFrame(10), gifFrame(15), 0, 0,
		0x21, 0xFF, gifBlock("XMP DataXMP")[:12], xmpPacket, xmpTrailer()))
	wantChunks(t, f, Chunk{Place: "gif:comment", Key: "comment", Text: comment},
		Chunk{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`})
	if f.MIME != "image/gif" || f.Width != 3 || f.Height != 2 || f.Frames != 2 || f.DurationMS != 250 || f.Truncated {
		t.Errorf("got %+v; want 3×2, 2 frames, 250 ms", f)
	}
}

func TestImage_CutGIFSaysSo(t *testing.T) {
	b := gifFile(0x21, 0xFE, gifBlock("a cat"), gifFrame(10))
	f := readBytes(t, b[:len(b)-5])
	wantChunks(t, f, Chunk{Place: "gif:comment", Key: "comment", Text: "a cat"})
	if !f.Truncated {
		t.Error("not reported as truncated")
	}
}

func TestImage_TIFFIsRead(t *testing.T) {
	fields := []field{{tagWidth, 3, le16(3)}, {tagHeight, 4, le32(2)}, ascii(0x010E, "größe"), {tagXMP, 1, []byte(xmpPacket)},
		{tagIPTC, 7, join("\x1c\x02\x78", be16(5), "a cat")}}
	f := readBytes(t, exifBlock(le, fields, nil))
	wantChunks(t, f, Chunk{Place: "tiff:exif", Key: "ImageDescription", Text: "größe"},
		Chunk{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`},
		Chunk{Place: "tiff:iptc", Key: "Caption-Abstract", Text: "a cat"})
	if f.MIME != "image/tiff" || f.Width != 3 || f.Height != 2 {
		t.Errorf("got %+v; want a TIFF of 3×2", f)
	}
}

func TestImage_BigTIFFIsRead(t *testing.T) {
	entry := func(tag, kind, count int, value []byte) []byte {
		return join(le16(tag), le16(kind), le32(count), le32(0), append(value, make([]byte, 8)...)[:8])
	}
	f := readBytes(t, "II+\x00\x08\x00\x00\x00", le32(16), le32(0), le32(3), le32(0),
		entry(tagWidth, 4, 1, le32(3)), entry(tagHeight, 16, 1, le32(2)), entry(0x0131, 2, 12, le32(92)), le32(0), le32(0), "Software v1\x00")
	wantChunks(t, f, Chunk{Place: "tiff:exif", Key: "Software", Text: "Software v1"})
	if f.Width != 3 || f.Height != 2 {
		t.Errorf("got %d×%d, want 3×2", f.Width, f.Height)
	}
}

// TestImage_TIFFPagesInACircleAreCountedOnce: the second directory points at the first.
func TestImage_TIFFPagesInACircleAreCountedOnce(t *testing.T) {
	entry := join(le16(tagWidth), le16(3), le32(1), le32(3))
	f := readBytes(t, "II*\x00", le32(8), le16(1), entry, le32(26), le16(1), entry, le32(8))
	if f.Frames != 2 {
		t.Errorf("got %d pages; there are two", f.Frames)
	}
}

func TestImage_BMPSizeIsRead(t *testing.T) {
	cases := map[string][]byte{
		"rows upwards":   join("BM", make([]byte, 12), le32(40), le32(3), le32(2), make([]byte, 28)),
		"rows downwards": join("BM", make([]byte, 12), le32(40), le32(3), le32(-2), make([]byte, 28)),
		"old header":     join("BM", make([]byte, 12), le32(12), le16(3), le16(2), make([]byte, 28)),
	}
	for name, b := range cases {
		if f := readBytes(t, b); f.MIME != "image/bmp" || f.Width != 3 || f.Height != 2 {
			t.Errorf("%s: got %+v; want a BMP of 3×2", name, f)
		}
	}
}

func TestImage_PSDResourcesAreRead(t *testing.T) {
	block := exifBlock(be, []field{ascii(0x0131, "Photoshop 1")}, nil)
	resources := join("8BIM", be16(0x0424), 0, 0, be32(len(xmpPacket)), xmpPacket, make([]byte, len(xmpPacket)&1),
		"8BIM", be16(0x0422), 0, 0, be32(len(block)), block)
	f := readBytes(t, "8BPS", be16(1), make([]byte, 6), be16(3), be32(2), be32(3), be16(8), be16(3), be32(0), be32(len(resources)), resources)
	wantChunks(t, f, Chunk{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`},
		Chunk{Place: "psd:exif", Key: "Software", Text: "Photoshop 1"})
	if f.MIME != "image/vnd.adobe.photoshop" || f.Width != 3 || f.Height != 2 {
		t.Errorf("got %+v; want a PSD of 3×2", f)
	}
}

func TestImage_SVGIsRead(t *testing.T) {
	f := readBytes(t, `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "aaaa">]><!-- made by hand -->
<svg xmlns="http://www.w3.org/2000/svg" width="1in" height="48px" data-seed="7"><title>A cat</title>
<metadata><![CDATA[{"prompt":{"3":{}}}]]></metadata><metadata><tool name="x">y</tool></metadata><g><title>part</title></g><path d="M0 0"/></svg>`)
	wantChunks(t, f,
		Chunk{Place: "svg:attribute", Key: "data-seed", Text: "7"},
		Chunk{Place: "svg:title", Key: "title", Text: "A cat"},
		Chunk{Place: "svg:metadata", Key: "metadata", Text: `{"prompt":{"3":{}}}`},
		Chunk{Place: "svg:attribute", Key: "name", Text: "x"},
		Chunk{Place: "svg:metadata", Key: "tool", Text: "y"})
	if f.MIME != "image/svg+xml" || f.Width != 96 || f.Height != 48 || f.Truncated {
		t.Errorf("got %+v; want an SVG of 96×48", f)
	}
	if f := readBytes(t, `<svg width="100%" viewBox="0 0 30.5,20"/>`); f.Width != 31 || f.Height != 20 {
		t.Errorf("by view box: got %d×%d, want 31×20", f.Width, f.Height)
	}
}
