package container

import (
	"testing"
)

// riffChunk makes a RIFF chunk, padded to even length.
func riffChunk(kind string, parts ...any) []byte {
	body := join(parts...)
	b := join(kind, le32(len(body)), body)
	return append(b, make([]byte, len(b)&1)...)
}

func riffFile(form string, chunks ...any) []byte {
	body := join(append([]any{form}, chunks...)...)
	return join("RIFF", le32(len(body)), body)
}

func webpCanvas(width, height int) []byte {
	return riffChunk("VP8X", 0, 0, 0, 0, le32(width - 1)[:3], le32(height - 1)[:3])
}

func webpFrame(delayMS int) []byte {
	return riffChunk("ANMF", make([]byte, 12), le32(delayMS)[:3], 0, riffChunk("VP8L", "\x2f\x00\x00\x00\x00"))
}

func TestWebP_EXIFIsReadWithAndWithoutJPEGsPrefix(t *testing.T) {
	block := exifBlock(le, []field{ascii(0x010F, "workflow:{}"), ascii(0x0110, "prompt:{}")}, nil)
	for name, payload := range map[string][]byte{"without": block, "with": join("Exif\x00\x00", block)} {
		t.Run(name, func(t *testing.T) {
			f := readBytes(t, riffFile("WEBP", webpCanvas(3, 2), webpFrame(40), webpFrame(42), riffChunk("EXIF", payload)))
			wantChunks(t, f, Chunk{Place: "webp:exif", Key: "Make", Text: "workflow:{}"},
				Chunk{Place: "webp:exif", Key: "Model", Text: "prompt:{}"})
			if f.MIME != "image/webp" || f.Width != 3 || f.Height != 2 || f.Frames != 2 || f.DurationMS != 82 {
				t.Errorf("got %+v; want 3×2, 2 frames, 82 ms", f)
			}
		})
	}
}

func TestWebP_SizeIsReadOfEveryBitstream(t *testing.T) {
	cases := map[string][]byte{
		"lossy":    riffChunk("VP8 ", 0, 0, 0, "\x9d\x01\x2a", le16(3), le16(2)),
		"lossless": riffChunk("VP8L", 0x2F, le32(2|1<<14), 0),
		"extended": join(webpCanvas(3, 2), riffChunk("VP8 ", 0, 0, 0, "\x9d\x01\x2a", le16(9), le16(9))),
	}
	for name, chunks := range cases {
		t.Run(name, func(t *testing.T) {
			if f := readBytes(t, riffFile("WEBP", chunks)); f.Width != 3 || f.Height != 2 {
				t.Errorf("got %d×%d; want 3×2", f.Width, f.Height)
			}
		})
	}
}

func TestWebP_WithFalseSizesIsRead(t *testing.T) {
	want := []Chunk{{Place: "c2pa", Key: "webp:C2PA", Data: []byte("odd")},
		{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`}}
	whole := riffFile("WEBP", webpCanvas(3, 2), riffChunk("C2PA", "odd"), riffChunk("XMP ", xmpPacket))
	cases := map[string]struct {
		file      []byte
		truncated bool
	}{
		"the header says too little": {join("RIFF", le32(30), whole[8:]), false},
		"the header says too much":   {join("RIFF", le32(len(whole)+100), whole[8:]), true},
		"a padding byte is missing": {riffFile("WEBP", webpCanvas(3, 2),
			"C2PA", le32(3), "odd", riffChunk("XMP ", xmpPacket)), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := readBytes(t, c.file)
			wantChunks(t, f, want...)
			if f.Truncated != c.truncated {
				t.Errorf("truncated %v, want %v", f.Truncated, c.truncated)
			}
		})
	}
}

// TestWebP_CutWebPKeepsWholeEXIFFields: a cut EXIF chunk still gives its whole fields.
func TestWebP_CutWebPKeepsWholeEXIFFields(t *testing.T) {
	block := exifBlock(le, []field{ascii(0x010F, "workflow:{}"), ascii(0x0110, "prompt:{}")}, nil)
	b := riffFile("WEBP", webpCanvas(3, 2), riffChunk("EXIF", block))
	f := readBytes(t, b[:len(b)-4])
	wantChunks(t, f, Chunk{Place: "webp:exif", Key: "Make", Text: "workflow:{}"})
	if !f.Truncated {
		t.Error("not reported as truncated")
	}
}
