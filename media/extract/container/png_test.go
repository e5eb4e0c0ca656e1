package container

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

const graph = `{"3":{"class_type":"KSampler"}}`

func TestPNG_TextIsReadInEveryForm(t *testing.T) {
	cases := map[string]struct {
		chunk []byte
		want  Chunk
	}{
		"tEXt": {pngChunk("tEXt", "prompt\x00", graph), Chunk{Place: "png:tEXt", Key: "prompt", Text: graph}},
		"tEXt in Latin-1": {pngChunk("tEXt", "Author\x00", "Ren\xe9"),
			Chunk{Place: "png:tEXt", Key: "Author", Text: "René"}},
		"tEXt that is UTF-8 against the rules": {pngChunk("tEXt", "prompt\x00", "テスト"),
			Chunk{Place: "png:tEXt", Key: "prompt", Text: "テスト"}},
		"zTXt": {pngChunk("zTXt", "prompt\x00\x00", zipped(graph)),
			Chunk{Place: "png:zTXt", Key: "prompt", Text: graph}},
		"iTXt": {pngChunk("iTXt", "workflow\x00\x00\x00en\x00Ablauf\x00", "テスト"),
			Chunk{Place: "png:iTXt", Key: "workflow", Text: "テスト"}},
		"compressed iTXt": {pngChunk("iTXt", "workflow\x00\x01\x00\x00\x00", zipped("テスト")),
			Chunk{Place: "png:iTXt", Key: "workflow", Text: "テスト"}},
		"EXIF chunk": {pngChunk("eXIf", exifBlock(le, []field{ascii(0x010F, "workflow:{}")}, nil)),
			Chunk{Place: "png:exif", Key: "Make", Text: "workflow:{}"}},
		"content credentials": {pngChunk("caBX", "boxes"),
			Chunk{Place: "c2pa", Key: "png:caBX", Data: []byte("boxes")}},
		"XMP": {pngChunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00", xmpPacket),
			Chunk{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`}},
		"EXIF as hexadecimal text": {pngChunk("zTXt", "Raw profile type exif\x00\x00", zipped(rawProfileText())),
			Chunk{Place: "png:exif", Key: "Software", Text: "Fooocus v2"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := readBytes(t, pngFile(c.chunk))
			wantChunks(t, f, c.want)
			if f.MIME != "image/png" || f.Width != 3 || f.Height != 2 || f.Truncated {
				t.Errorf("got %+v; want a whole PNG of 3×2", f)
			}
		})
	}
}

func rawProfileText() string {
	b := join("Exif\x00\x00", exifBlock(be, []field{ascii(0x0131, "Fooocus v2")}, nil))
	return fmt.Sprintf("\nexif\n%8d\n%s\n", len(b), hex.EncodeToString(b))
}

func TestPNG_TextAfterThePixelsIsRead(t *testing.T) {
	b := join("\x89PNG\r\n\x1a\n", pngHeader(3, 2), pngChunk("IDAT", "pixels"),
		pngChunk("tEXt", "parameters\x00a cat"), pngChunk("IEND"))
	wantChunks(t, readBytes(t, b), Chunk{Place: "png:tEXt", Key: "parameters", Text: "a cat"})
}

// TestPNG_CutPNGKeepsWhatWasRead cuts a file at every byte: whatever is whole counts.
func TestPNG_CutPNGKeepsWhatWasRead(t *testing.T) {
	text := pngChunk("tEXt", "prompt\x00", graph)
	b := pngFile(text)
	end := 8 + len(pngHeader(3, 2)) + len(text) - 4 // the checksum is not needed
	for n := 8; n < len(b)-8; n++ {
		f := readBytes(t, b[:n])
		if !f.Truncated || len(f.Warnings) == 0 {
			t.Fatalf("cut at %d: not reported as truncated", n)
		}
		if got := len(f.Chunks) == 1; got != (n >= end) {
			t.Fatalf("cut at %d: text read %v; it is whole from byte %d on", n, got, end)
		}
	}
}

func TestPNG_ThatUnpacksToTooMuchIsLeftOut(t *testing.T) {
	f := readBytes(t, pngFile(pngChunk("zTXt", "prompt\x00\x00", zipped(strings.Repeat("a", 2<<20)))))
	wantChunks(t, f)
	if len(f.Warnings) != 1 {
		t.Errorf("warnings %q; want one on the value that was left out", f.Warnings)
	}
}

func TestPNG_AnimatedPNGGivesFramesAndDuration(t *testing.T) {
	frame := func(num, den int) []byte {
		return pngChunk("fcTL", bytes.Repeat([]byte{0}, 20), be16(num), be16(den), 0, 0)
	}
	f := readBytes(t, pngFile(pngChunk("acTL", be32(2), be32(0)), frame(1, 10), frame(10, 0)))
	if f.Frames != 2 || f.DurationMS != 200 || f.FPS != 10 {
		t.Errorf("got %d frames, %d ms, %g fps; want 2, 200, 10", f.Frames, f.DurationMS, f.FPS)
	}
}
