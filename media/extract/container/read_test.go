package container

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"vitrine/library"
)

// allocated returns the bytes that f allocates in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestRead_EmptyFileIsAFault(t *testing.T) {
	_, err := Read(bytes.NewReader(nil), 0)
	if f := library.AsError(err); err == nil || f.Code != library.CodeEmptyFile {
		t.Errorf("got %v, want %s", err, library.CodeEmptyFile)
	}
}

var errDisk = errors.New("disk on fire")

// failing reads up to a byte, and fails from there on.
type failing struct {
	data []byte
	from int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, errDisk
	}
	return copy(p, f.data[off:]), nil
}

// TestRead_ReadersFailureIsAnError: it must not pass for a file without metadata.
func TestRead_ReadersFailureIsAnError(t *testing.T) {
	for name, b := range everyKind() {
		b := append(bytes.Clone(b), make([]byte, 2*sniffLen)...)
		_, err := Read(failing{b, 4}, int64(len(b)))
		if !errors.Is(err, errDisk) {
			t.Errorf("%s: got %v, want the reader's own error", name, err)
		}
	}
	b := pngFile(pngChunk("tEXt", "a\x00", strings.Repeat("x", 5000)))
	if _, err := Read(failing{b, sniffLen + 1}, int64(len(b))); !errors.Is(err, errDisk) {
		t.Errorf("behind the start: got %v, want the reader's own error", err)
	}
}

// TestRead_FileShorterThanItsSizeIsCut: the size came from elsewhere and may be wrong.
func TestRead_FileShorterThanItsSizeIsCut(t *testing.T) {
	b := pngFile(pngChunk("tEXt", "prompt\x00", graph))
	f, err := Read(bytes.NewReader(b), int64(len(b))+1000)
	if err != nil || len(f.Chunks) != 1 || !f.Truncated {
		t.Errorf("got %+v, %v; want the text of a cut file", f, err)
	}
}

// TestRead_EveryKindIsReadCutAnywhere cuts a file of every kind at every byte: no panic,
// no error, and no more chunks than in the whole file.
func TestRead_EveryKindIsReadCutAnywhere(t *testing.T) {
	for name, b := range everyKind() {
		t.Run(name, func(t *testing.T) {
			whole := readBytes(t, b)
			if len(whole.Chunks) == 0 {
				t.Fatal("the whole file gives no chunks; the fixture is wrong")
			}
			for n := 1; n < len(b); n++ {
				if f := readBytes(t, b[:n]); len(f.Chunks) > len(whole.Chunks) {
					t.Fatalf("cut at %d: %d chunks, %d in the whole file", n, len(f.Chunks), len(whole.Chunks))
				}
			}
		})
	}
}

// TestRead_TextIsStorable: whatever a file holds, its text is UTF-8 without NUL.
func TestRead_TextIsStorable(t *testing.T) {
	f := readBytes(t, pngFile(pngChunk("tEXt", "k\x00a\x00b\x00"), pngChunk("iTXt", "k\x00\x00\x00\x00\x00\xff\xfe")))
	wantChunks(t, f, Chunk{Place: "png:tEXt", Key: "k", Text: "a b"}, Chunk{Place: "png:iTXt", Key: "k", Text: "ÿþ"})
}

// TestRead_MillionsOfChunksAreCountedNotKept bounds what a hostile file costs.
func TestRead_MillionsOfChunksAreCountedNotKept(t *testing.T) {
	b := pngFile(bytes.Repeat(pngChunk("tEXt", "k\x00v"), 20_000))
	f := readBytes(t, b)
	if len(f.Chunks) != maxChunks || len(f.Warnings) == 0 || len(f.Warnings) > maxWarnings {
		t.Errorf("got %d chunks, %d warnings; want %d chunks and a few warnings", len(f.Chunks), len(f.Warnings), maxChunks)
	}
}

// TestRead_HostileFilesCostLittle reads files that try to make the reader allocate.
func TestRead_HostileFilesCostLittle(t *testing.T) {
	manyAttributes := `<x:xmpmeta xmlns:x="adobe:ns:meta/"><a ` + strings.Repeat("a ", 4<<20) + "/></x:xmpmeta>"
	deep := strings.Repeat("<a>", 2<<20)
	cases := map[string][]byte{
		"attributes without end":   pngFile(pngChunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00", manyAttributes)),
		"elements within elements": pngFile(pngChunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00", deep)),
		"many bombs":               pngFile(bytes.Repeat(pngChunk("zTXt", "k\x00\x00", zipped(strings.Repeat("a", 10<<20))), 100)),
		"texts of 30 MiB":          pngFile(bytes.Repeat(pngChunk("tEXt", "k\x00", bytes.Repeat([]byte("a"), 15<<20)), 4)),
		"JSON within JSON":         []byte(`{"asset":{"version":"2.0","extras":` + strings.Repeat("[", 4<<20)),
	}
	for name, b := range cases {
		t.Run(name, func(t *testing.T) {
			if n := allocated(func() { readBytes(t, b) }); n > 160<<20 {
				t.Errorf("allocated %d MiB for a file of %d MiB", n>>20, len(b)>>20)
			}
		})
	}
}

// everyKind returns a small file of every kind that is read.
func everyKind() map[string][]byte {
	exif := exifBlock(le, []field{ascii(0x010F, "workflow:{}")}, []field{{0x9286, 7, join("UNICODE\x00", utf16Bytes(be, "a cat"))}})
	header := `{"__metadata__":{"prompt":"{}"}}`
	return map[string][]byte{
		"png": pngFile(pngChunk("tEXt", "prompt\x00", graph), pngChunk("zTXt", "z\x00\x00", zipped(graph)),
			pngChunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00", xmpPacket), pngChunk("eXIf", exif)),
		"jpeg":        jpegFile(segment(0xE1, "Exif\x00\x00", exif), segment(0xE1, xmpHeader, xmpPacket), segment(0xFE, "a cat")),
		"webp":        riffFile("WEBP", webpCanvas(3, 2), webpFrame(40), riffChunk("EXIF", exif), riffChunk("XMP ", xmpPacket)),
		"jxl":         join(jxlContainer, atom("jxlc", jxlOf3x2), atom("Exif", be32(0), exif), atom("xml ", xmpPacket), manifestStore),
		"gif":         gifFile(0x21, 0xFE, gifBlock("a cat"), gifFrame(10), gifFrame(10)),
		"tiff":        exifBlock(be, []field{{tagWidth, 3, be16(3)}, {tagHeight, 3, be16(2)}, ascii(0x010E, "a cat")}, nil),
		"svg":         []byte(`<svg width="3" height="2"><metadata><prompt>{}</prompt></metadata></svg>`),
		"avif":        avifFile("avif", join(be32(0), exif), []byte(xmpPacket)),
		"mp4":         join(ftyp, movieBox(atom("udta", fullAtom("meta", mdtaHandler, keyed("prompt", graph)))), atom("mdat", "pixels")),
		"mkv":         join(mkvHeader("webm"), ebml(idSegment, mkvInfo, mkvTrack, mkvTags, ebml(idCluster, mkvBlock))),
		"flac":        join("fLaC", flacMetadata(0, streamInfo), flacMetadata(0x84, vorbisBlock("prompt="+graph))),
		"ogg":         join(oggPages(2, 0, join("OpusHead", 1, 2, le16(0), le32(44100), 0, 0, 0)), oggPages(0, 0, join("OpusTags", vorbisBlock("prompt="+graph))), oggPages(4, 960, []byte("a"))),
		"mp3":         id3Tagged(4, 0, id3Frame(4, "TXXX", 3, "prompt\x00", graph), id3Frame(4, "COMM", 1, "eng\xff\xfe\x00\x00", utf16Bytes(le, "a cat"))),
		"wav":         riffFile("WAVE", riffChunk("fmt ", le16(1), le16(1), le32(8000), le32(16000), le32(16)), riffChunk("LIST", "INFO", riffChunk("ICMT", graph))),
		"avi":         riffFile("AVI ", riffChunk("LIST", "hdrl", riffChunk("avih", make([]byte, 56))), riffChunk("LIST", "INFO", riffChunk("ICMT", graph))),
		"glb":         glbFile(`{"asset":{"version":"2.0","extras":{"prompt":"{}"}}}`, " "),
		"gltf":        []byte(`{"asset":{"version":"2.0","extras":{"prompt":"{}"}}}`),
		"safetensors": join(le32(len(header)), le32(0), header),
		"psd": join("8BPS", be16(1), make([]byte, 6), be16(3), be32(2), be32(3), be16(8), be16(3), be32(0),
			be32(12+len(xmpPacket)), "8BIM", be16(0x0424), 0, 0, be32(len(xmpPacket)), xmpPacket),
	}
}
