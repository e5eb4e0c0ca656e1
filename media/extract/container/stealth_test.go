package container

import (
	"bytes"
	"compress/gzip"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gzipped compresses as hidden text is.
func gzipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.Bytes()
}

// hide makes a picture whose lowest bits, down the columns, are the message's.
// Channels are indices into the four bytes of a pixel.
func hide(width, height int, message []byte, channels ...int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	bit := 0
	for x := range width {
		for y := range height {
			m.SetNRGBA(x, y, color.NRGBA{R: byte(x * 2), G: byte(y * 2), B: byte(x * y * 2), A: 0xFE})
			for _, c := range channels {
				if bit < 8*len(message) {
					m.Pix[m.PixOffset(x, y)+c] |= message[bit/8] >> (7 - bit%8) & 1
				}
				bit++
			}
		}
	}
	return m
}

// opaque drops the alpha channel from what the encoder sees.
type opaque struct{ *image.NRGBA }

func (o opaque) ColorModel() color.Model { return color.RGBAModel }
func (o opaque) Opaque() bool            { return true }
func (o opaque) At(x, y int) color.Color {
	c := o.NRGBAAt(x, y)
	return color.RGBA{c.R, c.G, c.B, 255}
}

func encodePNG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// hidden reads a file and looks for hidden text.
func hidden(t *testing.T, b []byte) File {
	t.Helper()
	f := readBytes(t, b)
	if err := ReadStealth(bytes.NewReader(b), int64(len(b)), &f, nil); err != nil {
		t.Fatal(err)
	}
	return f
}

func message(word, text string) []byte {
	b := []byte(text)
	if strings.HasSuffix(word, "comp") {
		b = gzipped(text)
	}
	return join(word, be32(8*len(b)), b)
}

func TestStealth_HiddenTextIsReadInEveryForm(t *testing.T) {
	const text = "a cat, テスト\nSteps: 20"
	for _, word := range append(alphaMagics, rgbMagics...) {
		channels := []int{3}
		if strings.Contains(word, "rgb") {
			channels = []int{0, 1, 2}
		}
		for name, size := range map[string][2]int{"tall": {20, 300}, "lower than the first word": {300, 20}} {
			t.Run(word+" in a picture "+name, func(t *testing.T) {
				m := hide(size[0], size[1], message(word, text), channels...)
				wantChunks(t, hidden(t, encodePNG(t, m)), Chunk{Place: "png:stealth", Key: word, Text: text})
				if len(channels) == 3 {
					wantChunks(t, hidden(t, encodePNG(t, opaque{m})), Chunk{Place: "png:stealth", Key: word, Text: text})
				}
			})
		}
	}
}

func TestStealth_PictureWithoutHiddenTextGivesNone(t *testing.T) {
	cases := map[string][]byte{
		"nothing":          nil,
		"word only":        []byte("stealth_pngcomp"),
		"length too large": join("stealth_pngcomp", be32(1<<30), "xx"),
		"not compressed":   join("stealth_pngcomp", be32(80), "0123456789"),
		"a bomb":           message("stealth_pngcomp", strings.Repeat("a", 4<<20)),
	}
	for name, b := range cases {
		t.Run(name, func(t *testing.T) { wantChunks(t, hidden(t, encodePNG(t, hide(200, 300, b, 3)))) })
	}
}

// TestStealth_PNGWithoutHiddenTextIsHardlyRead: a few rows tell.
func TestStealth_PNGWithoutHiddenTextIsHardlyRead(t *testing.T) {
	m := hide(500, 2000, nil, 3)
	noise := rand.New(rand.NewPCG(1, 2)) // which does not compress
	for i := range m.Pix {
		m.Pix[i] = byte(noise.Uint32())
	}
	b := encodePNG(t, m)
	s := &sparse{head: b, size: int64(len(b))}
	f := File{MIME: "image/png"}
	if err := ReadStealth(s, s.size, &f, nil); err != nil {
		t.Fatal(err)
	}
	if s.read > 512<<10 || len(b) < 3<<20 {
		t.Errorf("read %d bytes of %d; 120 rows of 2000 are enough", s.read, len(b))
	}
}

// TestStealth_HiddenTextOfTheCorpusIsRead reads what real writers hid, WebP among them.
func TestStealth_HiddenTextOfTheCorpusIsRead(t *testing.T) {
	corpusFiles(t)
	want := map[string]string{
		"sd-webui/d3x-at__AUTOMATIC1111__automatic1111_stealth.png": "a circle\nNegative prompt: a square\n",
		"forge/enslo__png__forge.png":                               "general, masterpiece, best quality",
		"novelai/enslo__png__novelai-curated.png":                   `{"Description": "1girl, solo`,
		"novelai/enslo__webp__novelai-curated.webp":                 `{"Description": "1girl, solo`,
	}
	for file, start := range want {
		b, err := os.ReadFile(filepath.Join(corpus, file))
		if err != nil {
			t.Fatal(err)
		}
		f := hidden(t, b)
		if last := f.Chunks[len(f.Chunks)-1]; !strings.HasSuffix(last.Place, ":stealth") || !strings.HasPrefix(last.Text, start) {
			t.Errorf("%s: last chunk %s %.40q; want hidden text that starts with %q", file, last.Place, last.Text, start)
		}
	}
}

// TestStealth_TinyFileWithHugePixelsIsNotDecoded: 30 bytes may announce 16384×16384 pixels.
func TestStealth_TinyFileWithHugePixelsIsNotDecoded(t *testing.T) {
	huge := riffChunk("VP8L", 0x2F, le32(16383|16383<<14), 0x88, 0x88, 8)
	cases := map[string][]byte{
		"announced":              riffFile("WEBP", huge),
		"hidden behind a canvas": riffFile("WEBP", webpCanvas(3, 2), huge),
		"PNG":                    join("\x89PNG\r\n\x1a\n", pngHeader(1<<20, 1<<20), pngChunk("IDAT", zipped("x")), pngChunk("IEND")),
	}
	for name, b := range cases {
		t.Run(name, func(t *testing.T) {
			if n := allocated(func() { hidden(t, b) }); n > 4<<20 {
				t.Errorf("allocated %d MiB", n>>20)
			}
		})
	}
}
