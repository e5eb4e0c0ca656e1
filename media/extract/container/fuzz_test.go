package container

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"vitrine/media/extract/extracttest"
)

// fuzz runs the reader over variations of small files of one family. It holds the
// reader's promises for any input: no panic, no error, text that can be stored,
// bounded numbers, bounded memory and time.
func fuzz(f *testing.F, seeds ...string) {
	kinds := everyKind()
	for _, name := range seeds {
		if len(kinds[name]) == 0 {
			f.Fatalf("no fixture named %s", name)
		}
		f.Add(kinds[name])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		var file File
		extracttest.Bounded(t, len(b), func() {
			if err := read(bytes.NewReader(b), int64(len(b)), &file); err != nil {
				t.Fatal(err)
			}
		})
		if file.Width < 0 || file.Height < 0 || file.Frames < 0 || file.DurationMS < 0 || !(file.FPS >= 0) {
			t.Errorf("negative sizes: %+v", file)
		}
		for _, w := range file.Warnings {
			if len(w) > maxKey || !utf8.ValidString(w) {
				t.Errorf("warning that cannot be shown: %q", w)
			}
		}
		for _, c := range file.Chunks {
			for _, s := range []string{c.Place, c.Key, c.Text} {
				if !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0 {
					t.Errorf("text that cannot be stored: %q", s)
				}
			}
		}
	})
}

func FuzzPNG(f *testing.F)   { fuzz(f, "png") }
func FuzzJPEG(f *testing.F)  { fuzz(f, "jpeg") }
func FuzzWebP(f *testing.F)  { fuzz(f, "webp") }
func FuzzImage(f *testing.F) { fuzz(f, "gif", "tiff", "psd", "jxl") }
func FuzzISO(f *testing.F)   { fuzz(f, "mp4", "avif") }
func FuzzEBML(f *testing.F)  { fuzz(f, "mkv") }
func FuzzAudio(f *testing.F) { fuzz(f, "flac", "ogg", "mp3", "wav", "avi") }
func FuzzJSON(f *testing.F)  { fuzz(f, "glb", "gltf", "safetensors") }
func FuzzXML(f *testing.F)   { fuzz(f, "svg") }

// FuzzEXIF and FuzzXMP reach the readers that stand behind checksums and packing.
func FuzzEXIF(f *testing.F) {
	f.Add(exifBlock(le, []field{ascii(0x010F, "workflow:{}")}, []field{{0x9286, 7, join("UNICODE\x00", utf16Bytes(be, "a cat"))}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		extracttest.Bounded(t, len(b), func() { readBytes(t, riffFile("WEBP", riffChunk("EXIF", b))) })
	})
}

func FuzzXMP(f *testing.F) {
	f.Add([]byte(xmpPacket))
	f.Fuzz(func(t *testing.T, b []byte) {
		extracttest.Bounded(t, len(b), func() { readBytes(t, riffFile("WEBP", riffChunk("XMP ", b))) })
	})
}

// FuzzStealth varies pictures with hidden text.
func FuzzStealth(f *testing.F) {
	f.Add(pngFile())
	f.Add(riffFile("WEBP", riffChunk("VP8L", "\x2f\x00\x00\x00\x00\x88\x88\x08")))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, mime := range []string{"image/png", "image/webp"} {
			file := File{MIME: mime, Width: 100, Height: 100}
			extracttest.Bounded(t, len(b), func() {
				if err := ReadStealth(bytes.NewReader(b), int64(len(b)), &file, nil); err != nil {
					t.Fatal(err)
				}
			})
		}
	})
}
