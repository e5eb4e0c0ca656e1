package container

import "testing"

// jxlStream makes the start of a codestream: numbers with their widths in bits.
func jxlStream(pairs ...[2]int) []byte {
	b := make([]byte, 12)
	at := 0
	for _, p := range pairs {
		for i := range p[1] {
			b[at>>3] |= byte(p[0]>>i&1) << (at & 7)
			at++
		}
	}
	return join(jxlCodestream, b)
}

// jxlOf3x2 starts a picture of 3×2 pixels.
var jxlOf3x2 = jxlStream([2]int{0, 1}, [2]int{0, 2}, [2]int{1, 9}, [2]int{0, 3}, [2]int{0, 2}, [2]int{2, 9})

func TestJXL_JPEGXLSizeIsRead(t *testing.T) {
	cases := map[string]struct {
		stream        []byte
		width, height int
	}{
		"small and square":   {jxlStream([2]int{1, 1}, [2]int{7, 5}, [2]int{1, 3}), 64, 64},
		"small with a width": {jxlStream([2]int{1, 1}, [2]int{7, 5}, [2]int{0, 3}, [2]int{3, 5}), 32, 64},
		"in proportion":      {jxlStream([2]int{0, 1}, [2]int{1, 2}, [2]int{1079, 13}, [2]int{5, 3}), 1920, 1080},
		"any":                {jxlStream([2]int{0, 1}, [2]int{0, 2}, [2]int{99, 9}, [2]int{0, 3}, [2]int{2, 2}, [2]int{99_999, 18}), 100_000, 100},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, file := range [][]byte{c.stream, join(jxlContainer, atom("jxlc", c.stream)), join(jxlContainer, atom("jxlp", be32(0), c.stream))} {
				if f := readBytes(t, file); f.MIME != "image/jxl" || f.Width != c.width || f.Height != c.height {
					t.Errorf("got %s of %d×%d, want %d×%d", f.MIME, f.Width, f.Height, c.width, c.height)
				}
			}
		})
	}
}

func TestJXL_JPEGXLMetadataIsRead(t *testing.T) {
	f := readBytes(t, jxlContainer, atom("ftyp", "jxl ", be32(0), "jxl "), atom("jxlc", jxlStream([2]int{1, 1})),
		atom("Exif", be32(0), exifBlock(be, []field{ascii(0x010F, "prompt:{}")}, nil)), atom("xml ", xmpPacket))
	wantChunks(t, f, Chunk{Place: "jxl:exif", Key: "Make", Text: "prompt:{}"}, Chunk{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`})
	if packed := readBytes(t, jxlContainer, atom("brob", "Exif", "packed")); len(packed.Warnings) != 1 {
		t.Errorf("warnings %q; want one on the packed box", packed.Warnings)
	}
}
