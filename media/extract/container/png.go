package container

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"
)

// readPNG walks the chunks of a PNG file (PNG specification, third edition).
// Pixel data is skipped; text counts wherever it stands: after the pixels, and in
// chunks that programs append behind the end, where other bytes are passed over.
// Checksums are not looked at, because such programs leave them wrong.
func readPNG(s source) {
	var p pngReader
	ended := false
	for off := int64(8); ; {
		if !s.step() {
			return
		}
		h := s.peek(off, 8)
		if h == nil {
			if !ended {
				s.cut("the PNG's chunks")
			}
			break
		}
		n, kind := int64(binary.BigEndian.Uint32(h)), string(h[4:])
		if ended && (!isTextChunk(kind) || off+8+n > s.size) {
			break
		}
		ended = ended || kind == "IEND"
		if !isFourCC(h[4:]) {
			s.warn("the PNG is broken after byte %d; the rest was not read", off)
			s.file.Truncated = true
			break
		}
		if off+8+n > s.size {
			s.cut("the PNG's " + kind + " chunk")
			break
		}
		p.chunk(s, kind, off+8, n)
		off += n + 12 // length, type and checksum besides the data
	}
	p.timing(s.file)
}

func isTextChunk(kind string) bool { return kind == "tEXt" || kind == "zTXt" || kind == "iTXt" }

// pngReader keeps what is known only after the last chunk.
type pngReader struct {
	frames  int
	delayMS float64
}

func (p *pngReader) chunk(s source, kind string, off, n int64) {
	switch kind {
	case "IHDR":
		if b := s.peek(off, min(n, 8)); len(b) == 8 {
			s.file.Width = dimension(binary.BigEndian.Uint32(b))
			s.file.Height = dimension(binary.BigEndian.Uint32(b[4:]))
		}
	case "acTL":
		if b := s.peek(off, min(n, 8)); len(b) == 8 {
			p.frames = dimension(binary.BigEndian.Uint32(b))
		}
	case "fcTL":
		if b := s.peek(off, min(n, 26)); len(b) == 26 {
			p.delayMS += fcTLDelay(b)
		}
	case "tEXt", "zTXt", "iTXt":
		if b, ok := s.value("the PNG's "+kind+" chunk", off, n); ok {
			pngText(s, kind, b)
		}
	case "eXIf":
		readEXIF(s.part(off, n), "png:exif")
	case "caBX":
		if b, ok := s.value("the content credentials", off, n); ok {
			s.addCredentials("png:caBX", b)
		}
	}
}

// timing sets the frames of an animation, of which a plain PNG has none.
func (p *pngReader) timing(f *File) {
	if p.frames < 2 {
		return
	}
	f.Frames = p.frames
	f.setDuration(p.delayMS)
}

// fcTLDelay returns one frame's delay in milliseconds: a fraction of seconds whose
// denominator 0 means hundredths.
func fcTLDelay(b []byte) float64 {
	num, den := binary.BigEndian.Uint16(b[20:]), binary.BigEndian.Uint16(b[22:])
	if den == 0 {
		den = 100
	}
	return 1000 * float64(num) / float64(den)
}

// pngText keeps one text chunk: keyword, NUL, then the value in the kind's layout.
func pngText(s source, kind string, b []byte) {
	key, rest, ok := bytes.Cut(b, []byte{0})
	if !ok {
		key, rest = nil, b
	}
	text := rest
	switch kind {
	case "zTXt":
		if len(rest) < 1 {
			return
		}
		text = inflate(s, "the PNG's "+utf8OrLatin1(key)+" text", rest[1:])
	case "iTXt":
		if text, ok = iTXtValue(s, key, rest); !ok {
			s.warn("a PNG text chunk is broken and was left out")
			return
		}
	}
	pngKeyword(s, "png:"+kind, utf8OrLatin1(key), text)
}

// iTXtValue takes the value out of an iTXt chunk: compression flag and method,
// language, NUL, translated keyword, NUL, UTF-8 text.
func iTXtValue(s source, key, b []byte) ([]byte, bool) {
	if len(b) < 2 {
		return nil, false
	}
	compressed, b := b[0] != 0, b[2:]
	_, b, lang := bytes.Cut(b, []byte{0})
	_, b, translated := bytes.Cut(b, []byte{0})
	if !lang || !translated {
		return nil, false
	}
	if compressed {
		b = inflate(s, "the PNG's "+utf8OrLatin1(key)+" text", b)
	}
	return b, true
}

// pngKeyword keeps a text under its keyword, and looks into the texts that wrap
// other metadata: XMP packets and the hex dumps that ImageMagick writes.
func pngKeyword(s source, place, key string, text []byte) {
	profile, isProfile := strings.CutPrefix(key, "Raw profile type ")
	switch {
	case key == "XML:com.adobe.xmp":
		readXMP(s, text)
	case isProfile:
		rawProfile(s, profile, text)
	default:
		s.add(place, key, utf8OrLatin1(text))
	}
}

// rawProfile unpacks ImageMagick's "Raw profile type" text: a name line, a length
// line, then the profile in hexadecimal.
func rawProfile(s source, name string, text []byte) {
	fields := bytes.Fields(text)
	if len(fields) < 3 {
		return
	}
	dump := bytes.Join(fields[2:], nil)
	b := make([]byte, len(dump)/2)
	n, _ := hex.Decode(b, dump[:len(dump)&^1]) // what precedes a bad digit counts
	b = b[:n]
	switch strings.ToLower(name) {
	case "exif", "app1":
		if xmp, ok := bytes.CutPrefix(b, []byte(xmpHeader)); ok {
			readXMP(s, xmp)
			return
		}
		readEXIF(s.memory(b), "png:exif")
	case "xmp":
		readXMP(s, b)
	case "iptc":
		readPhotoshop(s, b, "png")
	}
}

// inflate decompresses a zlib stream within the limits. A stream that breaks off
// gives what it held: the checksum at its end is often missing or wrong.
func inflate(s source, what string, b []byte) []byte {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		s.warn("%s is not compressed as it says", what)
		return nil
	}
	return s.expand(what, z, int64(len(b)))
}

// expand reads a decompressor to its end, at most maxValue bytes and at most
// maxRatio times as much as went in.
func (l *ledger) expand(what string, z io.Reader, packed int64) []byte {
	limit := min(maxValue, packed*maxRatio+1024, maxHeld-l.held, maxHeld-l.inflated)
	out, err := readUpTo(z, limit+1)
	n := int64(len(out))
	l.inflated += n
	if n > limit {
		l.warn("%s unpacks to more than is allowed and was left out", what)
		return nil
	}
	if err != nil {
		l.warn("%s breaks off", what)
	}
	l.held += n
	return out
}

// readUpTo reads at most limit bytes. Unlike a buffer of the library's it never
// has room for twice as many.
func readUpTo(r io.Reader, limit int64) ([]byte, error) {
	b := make([]byte, 0, max(min(limit, 32<<10), 0))
	for int64(len(b)) < limit {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, min(2*int64(cap(b)), limit)), b...)
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// maxRatio is how many times longer than its packed form a value may be. Deflate
// reaches 1032; a workflow's JSON stays below 50.
const maxRatio = 200

// isFourCC reports whether b can be a chunk type: four ASCII letters.
func isFourCC(b []byte) bool {
	for _, c := range b {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			return false
		}
	}
	return true
}

// dimension returns a declared number of pixels or frames, 0 when it is absurd.
func dimension(n uint32) int {
	if n > 1<<30 {
		return 0
	}
	return int(n)
}
