package extract

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"vitrine/library"
	"vitrine/media/extract/container"
	"vitrine/media/extract/extracttest"
)

// pngFile builds a PNG file of one grey pixel with text chunks.
func pngFile(texts ...string) []byte {
	out := []byte("\x89PNG\r\n\x1a\n")
	add := func(kind string, data []byte) { out = append(out, pngChunk(kind, data)...) }
	add("IHDR", []byte{0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0})
	for i := 0; i+1 < len(texts); i += 2 {
		add("tEXt", []byte(texts[i]+"\x00"+texts[i+1]))
	}
	add("IDAT", []byte{0x78, 0x9c, 0x63, 0x60, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01})
	add("IEND", nil)
	return out
}

func pngChunk(kind string, data []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

const infotext = "a fox\nNegative prompt: ugly\nSteps: 20, Sampler: Euler, CFG scale: 7, Seed: 42, Size: 512x512, Model: fox"

func read(t *testing.T, data []byte, opts Options) Result {
	t.Helper()
	res, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), opts)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestExtract_ReadGivesLineageChunksAndReport(t *testing.T) {
	res := read(t, pngFile("parameters", infotext), Options{})
	if res.MIMEType != "image/png" || res.Width != 1 || len(res.Chunks) != 1 {
		t.Errorf("the file reads as %s, %d wide, %d chunks", res.MIMEType, res.Width, len(res.Chunks))
	}
	if res.Lineage.Positive == nil || *res.Lineage.Positive != "a fox" || *res.Lineage.Parameters.Width != 512 {
		t.Errorf("lineage is %+v", res.Lineage)
	}
	if res.Report.State != StateFull || res.Report.Reason != ReasonOK {
		t.Errorf("report is %+v", res.Report)
	}
}

func TestExtract_StoredChunksGiveTheSameLineage(t *testing.T) {
	res := read(t, pngFile("parameters", infotext, "Software", "x"), Options{})
	again, report := FromChunks(container.File{MIME: res.MIMEType, Width: res.Width, Height: res.Height, Chunks: res.Chunks}, Options{})
	if again.Positive == nil || *again.Positive != *res.Lineage.Positive || report.State != res.Report.State {
		t.Errorf("read again as %+v", again)
	}
}

func TestExtract_SidecarsFillWhatTheFileDoesNotSay(t *testing.T) {
	bare := pngFile()
	for name, s := range map[string]Sidecar{
		"a text":                {"a.txt", []byte(infotext)},
		"a text with a mark":    {"a.txt", []byte("\xef\xbb\xbf" + infotext)},
		"a text in UTF-16":      {"a.txt", utf16Text(infotext)},
		"a record":              {"a.json", []byte(`{"sui_image_params":{"prompt":"a fox","seed":42,"negativeprompt":"ugly"}}`)},
		"the first frame":       {"a.png", pngFile("parameters", infotext)},
		"an unlabelled picture": {"a", pngFile("parameters", infotext)},
	} {
		res := read(t, bare, Options{Sidecars: []Sidecar{s}})
		if res.Lineage.Positive == nil || *res.Lineage.Positive != "a fox" || *res.Lineage.Parameters.Seed != 42 {
			t.Errorf("%s: lineage is %+v", name, res.Lineage)
		}
	}
	res := read(t, pngFile("parameters", infotext), Options{Sidecars: []Sidecar{{"a.txt", []byte("a cat\nSteps: 5, Sampler: DDIM, Seed: 7")}}})
	if *res.Lineage.Positive != "a fox" || *res.Lineage.Parameters.Seed != 42 {
		t.Error("the file itself is believed before its sidecar")
	}
}

// utf16Text is a text as Windows' own editor saves it.
func utf16Text(text string) []byte {
	b := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func TestExtract_ReportSaysWhyThereIsNoPrompt(t *testing.T) {
	tests := []struct {
		name   string
		file   container.File
		reason Reason
		by     string
	}{
		{"nothing at all", container.File{MIME: "image/png"}, ReasonNoMetadata, ""},
		{"an editor", container.File{MIME: "image/png", Chunks: []container.Chunk{{Place: "png:tEXt", Key: "Software", Text: "Adobe Photoshop 25.0"}}}, ReasonStripped, "Adobe Photoshop 25.0"},
		{"an editor's comment", container.File{MIME: "image/jpeg", Chunks: []container.Chunk{{Place: "jpeg:comment", Key: "comment", Text: "Created with GIMP"}}}, ReasonStripped, "GIMP"},
		{"text of an unknown form", container.File{MIME: "image/png", Chunks: []container.Chunk{{Place: "png:tEXt", Key: "mystery", Text: strings.Repeat("zork ", 20)}}}, ReasonUnknownWriter, ""},
		{"content credentials", container.File{MIME: "image/png", Chunks: []container.Chunk{{Place: "c2pa", Key: "png:caBX", Data: []byte{1}}}}, ReasonNoMetadata, ""},
		{"a damaged file", container.File{MIME: "image/png", Truncated: true}, ReasonUnreadable, ""},
		{"a kind that is not read", container.File{MIME: "application/zip"}, ReasonUnreadable, ""},
	}
	for _, tt := range tests {
		l, report := FromChunks(tt.file, Options{})
		if report.State != StateNone || report.Reason != tt.reason || report.By != tt.by || !strings.HasSuffix(report.Sentence, ".") {
			t.Errorf("%s: report is %+v", tt.name, report)
		}
		if l.HasGenerationData() {
			t.Errorf("%s: lineage is %+v", tt.name, l)
		}
	}
}

func TestExtract_TextsAreStorable(t *testing.T) {
	l, _ := FromChunks(container.File{Chunks: []container.Chunk{{Place: "jpeg:exif", Key: "UserComment", Text: `{"prompt":"a\u0000 fox","seed":1,"steps":2,"model":"\ud800x","metadata_scheme":"fooocus","n\u0000te":"\u0000"}`}}}, Options{})
	if l.Positive == nil || *l.Positive != "a fox" {
		t.Errorf("prompt is %q", *l.Positive)
	}
	for k, v := range l.Extra {
		if strings.ContainsRune(k+v, 0) {
			t.Errorf("extra %q is %q", k, v)
		}
	}
}

type brokenReader struct{}

func (brokenReader) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

func TestExtract_ErrorsAreThoseOfReading(t *testing.T) {
	if _, err := Read(context.Background(), brokenReader{}, 100, Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a failing reader gave %v", err)
	}
	var libErr *library.Error
	if _, err := Read(context.Background(), bytes.NewReader(nil), 0, Options{}); !errors.As(err, &libErr) || libErr.Code != library.CodeEmptyFile {
		t.Errorf("an empty file gave %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, bytes.NewReader(pngFile()), 1, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context gave %v", err)
	}
	if res := read(t, []byte("neither fish nor fowl"), Options{}); res.Report.State != StateNone {
		t.Errorf("a text file gave %+v", res.Report)
	}
}

func FuzzFromChunks(f *testing.F) {
	f.Add("png:tEXt", "parameters", infotext, "prompt", `{"3":{"class_type":"KSampler","inputs":{"seed":1,"model":["4",0]}},"4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"a"}}}`)
	f.Add("jpeg:exif", "UserComment", `{"prompt":"{\"1\":{\"class_type\":\"X\"}}","workflow":{"nodes":[],"links":[]}}`, "Comment", `"\"{}\""`)
	f.Add("xmp", "dc:description", "a fox --v 6", "Software", "NovelAI")
	f.Add("c2pa", "png:caBX", "x", "workflow", `{"nodes":[{"id":1,"type":"KSampler","widgets_values":[1]}],"links":[]}`)
	f.Fuzz(func(t *testing.T, place, key, text, key2, text2 string) {
		file := container.File{MIME: "image/png", Width: 8, Height: 8, Chunks: []container.Chunk{
			{Place: place, Key: key, Text: text}, {Place: place, Key: key2, Text: text2}, {Place: "c2pa", Key: "x", Data: []byte(text)}}}
		var l library.Lineage
		var report Report
		extracttest.Bounded(t, len(text)+len(text2), func() { l, report = FromChunks(file, Options{Filename: key}) })
		if report.Sentence == "" || report.Reason == "" || report.State == "" {
			t.Errorf("an empty report: %+v", report)
		}
		if report.Reason == ReasonUnreadable && len(l.Warnings) == 1 && l.Warnings[0] == unreadableWarning {
			t.Error("a reader panicked")
		}
		if l.Models == nil {
			t.Error("the list of models must be empty, not null")
		}
	})
}

func TestRead_NamesTheWriterOfMetadataThatNamesNone(t *testing.T) {
	record := container.Chunk{Place: "png:tEXt", Key: "parameters", Text: `{"prompt":"a red fox","seed":1,"steps":20}`}
	for software, want := range map[string]string{"Foxmaker 2": "foxmaker 2", "Adobe Photoshop 25.0": "", "": ""} {
		l, _ := FromChunks(container.File{Chunks: []container.Chunk{record, {Place: "png:tEXt", Key: "Software", Text: software}}}, Options{})
		if l.Tool != want || l.Positive == nil {
			t.Errorf("written by %q: the tool is %q, want %q", software, l.Tool, want)
		}
	}
	if l, _ := FromChunks(container.File{Chunks: []container.Chunk{{Place: "png:tEXt", Key: "Software", Text: "Foxmaker 2"}}}, Options{}); l.Tool != "" {
		t.Errorf("a file without generation metadata is said to be made by %q", l.Tool)
	}
}
