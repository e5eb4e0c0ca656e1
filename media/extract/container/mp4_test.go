package container

import (
	"io"
	"strings"
	"testing"
)

// atom makes a box: length, type, body.
func atom(kind string, parts ...any) []byte {
	body := join(parts...)
	return join(be32(len(body)+8), kind, body)
}

// fullAtom makes a box with version 0 and no flags.
func fullAtom(kind string, parts ...any) []byte { return atom(kind, be32(0), join(parts...)) }

var ftyp = atom("ftyp", "isom", be32(512), "isommp42")

// item makes an item of an item list with one UTF-8 value.
func item(kind string, text string) []byte { return atom(kind, atom("data", be32(1), be32(0), text)) }

// keyed makes the two boxes of an item list with free names.
func keyed(pairs ...string) []byte {
	var names, items []byte
	for i := 0; i < len(pairs); i += 2 {
		names = append(names, join(be32(len(pairs[i])+8), "mdta", pairs[i])...)
		items = append(items, item(string(be32(i/2+1)), pairs[i+1])...)
	}
	return join(fullAtom("keys", be32(len(pairs)/2), names), atom("ilst", items))
}

var mdtaHandler = fullAtom("hdlr", be32(0), "mdta", make([]byte, 13))

// movieHeader states 2 seconds; track is a picture of 64×48 with 16 frames of an
// eighth of a second.
var (
	movieHeader = fullAtom("mvhd", be32(0), be32(0), be32(1000), be32(2000), make([]byte, 80))
	videoTrack  = atom("trak",
		fullAtom("tkhd", make([]byte, 72), be32(64<<16), be32(48<<16)),
		atom("mdia", fullAtom("mdhd", be32(0), be32(0), be32(8), be32(16), be32(0)),
			fullAtom("hdlr", be32(0), "vide", make([]byte, 13)),
			atom("minf", atom("stbl", fullAtom("stsz", be32(0), be32(16))))))
)

func movieBox(extra ...any) []byte {
	return atom("moov", movieHeader, videoTrack, join(extra...))
}

func TestMP4_TagsAreReadInEveryForm(t *testing.T) {
	want := []Chunk{{Place: "mp4:ilst", Key: "prompt", Text: graph}, {Place: "mp4:ilst", Key: "WORKFLOW", Text: "テスト"}}
	long := strings.Repeat("x", 70_000) // above what the length field can say
	tags := keyed("prompt", graph, "WORKFLOW", "テスト")
	free := func(text string) []byte {
		return atom("----", fullAtom("mean", "com.apple.iTunes"), fullAtom("name", "prompt"), atom("data", be32(1), be32(0), text))
	}
	cases := map[string]struct {
		file []byte
		want []Chunk
	}{
		"keys in user data":                    {join(ftyp, movieBox(atom("udta", fullAtom("meta", mdtaHandler, tags)))), want},
		"keys in the movie":                    {join(ftyp, movieBox(fullAtom("meta", mdtaHandler, tags))), want},
		"QuickTime's meta box without version": {join(ftyp, movieBox(atom("meta", mdtaHandler, tags))), want},
		"movie behind the pixels":              {join(ftyp, atom("mdat", make([]byte, 999)), movieBox(atom("udta", fullAtom("meta", mdtaHandler, tags)))), want},
		"64-bit size":                          {join(ftyp, be32(1), "mdat", be64(16+5), "12345", movieBox(fullAtom("meta", mdtaHandler, tags))), want},
		"last box without a size":              {join(ftyp, be32(0), movieBox(fullAtom("meta", mdtaHandler, tags))[4:]), want},
		"comment": {join(ftyp, movieBox(atom("udta", fullAtom("meta", mdtaHandler, atom("ilst", item("\xa9cmt", graph)))))),
			[]Chunk{{Place: "mp4:ilst", Key: "©cmt", Text: graph}}},
		"UTF-16 value": {join(ftyp, movieBox(fullAtom("meta", mdtaHandler, atom("ilst", atom("\xa9cmt", atom("data", be32(2), be32(0), utf16Bytes(be, "テスト"))))))),
			[]Chunk{{Place: "mp4:ilst", Key: "©cmt", Text: "テスト"}}},
		"free-form item": {join(ftyp, movieBox(fullAtom("meta", mdtaHandler, atom("ilst", free(graph))))),
			[]Chunk{{Place: "mp4:ilst", Key: "prompt", Text: graph}}},
		"QuickTime user data": {join(ftyp, movieBox(atom("udta", atom("\xa9des", be16(len(graph)), be16(0x55C4), graph), be32(0)))),
			[]Chunk{{Place: "mp4:udta", Key: "©des", Text: graph}}},
		"long QuickTime user data": {join(ftyp, movieBox(atom("udta", atom("\xa9cmt", be16(len(long)), be16(0x55C4), long), be32(0)))),
			[]Chunk{{Place: "mp4:udta", Key: "©cmt", Text: long}}},
		"QuickTime user data in two languages": {join(ftyp, movieBox(atom("udta", atom("\xa9des", be16(5), be16(0), "a cat", be16(3), be16(1), "cat")))),
			[]Chunk{{Place: "mp4:udta", Key: "©des", Text: "a cat"}}},
		"XMP in a uuid box": {join(ftyp, movieBox(), atom("uuid", uuidXMP, xmpPacket)),
			[]Chunk{{Place: "xmp", Key: "exif:UserComment", Text: `{"c":"a cat"}`}}},
		"content credentials": {join(ftyp, atom("uuid", uuidC2PA, be32(0), "manifest\x00", be64(0), "boxes"), movieBox()),
			[]Chunk{{Place: "c2pa", Key: "mp4:uuid", Data: []byte("boxes")}}},
		"picture and number": {join(ftyp, movieBox(fullAtom("meta", mdtaHandler, atom("ilst",
			atom("covr", atom("data", be32(13), be32(0), "JFIF")), atom("tmpo", atom("data", be32(21), be32(0), be16(9))))))), nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := readBytes(t, c.file)
			wantChunks(t, f, c.want...)
			if f.MIME != "video/mp4" || f.Width != 64 || f.Height != 48 || f.DurationMS != 2000 || f.Frames != 16 || f.FPS != 8 {
				t.Errorf("got %+v; want 64×48, 2 s, 16 frames at 8 per second", f)
			}
			if f.Truncated || len(f.Warnings) > 0 {
				t.Errorf("truncated %v, warnings %q; the file is whole", f.Truncated, f.Warnings)
			}
		})
	}
}

func TestMP4_BrandTellsTheKindOfISOFile(t *testing.T) {
	cases := map[string]string{
		"isom\x00\x00\x02\x00": "video/mp4", "qt  \x00\x00\x00\x00": "video/quicktime",
		"mif1\x00\x00\x00\x00mif1avif": "image/avif", "M4A \x00\x00\x00\x00": "audio/mp4",
		"mif1\x00\x00\x00\x00heic": "image/heic", "mif1\x00\x00\x00\x00miaf": "image/heif", "xxxx\x00\x00\x00\x00": "video/mp4",
	}
	for brands, want := range cases {
		if f := readBytes(t, atom("ftyp", brands), movieBox()); f.MIME != want {
			t.Errorf("brands %q: got %s, want %s", brands, f.MIME, want)
		}
	}
	if f := readBytes(t, movieBox()); f.MIME != "video/quicktime" {
		t.Errorf("without brands: got %s, want video/quicktime", f.MIME)
	}
}

func TestMP4_CutMP4SaysSo(t *testing.T) {
	b := join(ftyp, movieBox(fullAtom("meta", mdtaHandler, keyed("prompt", graph))), atom("mdat", make([]byte, 100)))
	f := readBytes(t, b[:len(b)-50])
	wantChunks(t, f, Chunk{Place: "mp4:ilst", Key: "prompt", Text: graph})
	if !f.Truncated {
		t.Error("not reported as truncated")
	}
}

// sparse is a file of which only the first and last bytes exist; those between
// read as zero. It counts what is read.
type sparse struct {
	head, tail []byte
	size       int64
	read       int64
}

func (s *sparse) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), max(s.size-off, 0)))
	for i := range n {
		p[i] = 0
		if at := off + int64(i); at < int64(len(s.head)) {
			p[i] = s.head[at]
		} else if at >= s.size-int64(len(s.tail)) {
			p[i] = s.tail[at-(s.size-int64(len(s.tail)))]
		}
	}
	s.read += int64(n)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// TestMP4_LargeMP4IsNotReadWhole holds the promise on speed: of a video of 4 GiB whose
// movie box is its last, less than a mebibyte is read.
func TestMP4_LargeMP4IsNotReadWhole(t *testing.T) {
	tail := movieBox(atom("udta", fullAtom("meta", mdtaHandler, keyed("prompt", graph))))
	const pixels = 4 << 30
	s := &sparse{head: join(ftyp, be32(1), "mdat", be64(pixels)), tail: tail}
	s.size = int64(len(ftyp)) + pixels + int64(len(tail))
	f, err := Read(s, s.size)
	if err != nil {
		t.Fatal(err)
	}
	wantChunks(t, f, Chunk{Place: "mp4:ilst", Key: "prompt", Text: graph})
	if s.read > 16<<10 {
		t.Errorf("read %d bytes of %d; 16 KiB are enough", s.read, s.size)
	}
}

// TestMP4_BoxesWithinBoxesEnd: nesting is bounded, or the stack would overflow.
func TestMP4_BoxesWithinBoxesEnd(t *testing.T) {
	const levels = 1 << 20
	var b []byte
	for i := range levels {
		b = append(append(b, be32(8*(levels-i))...), "minf"...)
	}
	readBytes(t, ftyp, atom("moov", atom("trak", b)))
}
