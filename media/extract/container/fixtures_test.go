package container

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// readBytes reads a file made of its parts; a panic or an error fails the test.
func readBytes(t *testing.T, parts ...any) File {
	t.Helper()
	b := join(parts...)
	var f File
	if err := read(bytes.NewReader(b), int64(len(b)), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

// join puts strings, byte slices and single bytes together.
func join(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = append(b, p...)
		case []byte:
			b = append(b, p...)
		case int:
			b = append(b, byte(p))
		default:
			panic("a fixture's part must be a string, []byte or int")
		}
	}
	return b
}

func be16(n int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(n)) }
func be32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
func be64(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
func le16(n int) []byte { return binary.LittleEndian.AppendUint16(nil, uint16(n)) }
func le32(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// zipped compresses as zTXt and iTXt do.
func zipped(text string) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.Bytes()
}

// utf16Bytes encodes text as UTF-16 without a mark.
func utf16Bytes(order binary.AppendByteOrder, text string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

// pngChunk makes a chunk with its length and checksum.
func pngChunk(kind string, parts ...any) []byte {
	body := append([]byte(kind), join(parts...)...)
	return join(be32(len(body)-4), body, be32(int(crc32.ChecksumIEEE(body))))
}

// pngFile makes a PNG of 3×2 pixels around chunks that stand before its pixels.
func pngFile(chunks ...any) []byte {
	return join("\x89PNG\r\n\x1a\n", pngHeader(3, 2), join(chunks...), pngChunk("IDAT", "pixels"), pngChunk("IEND"))
}

func pngHeader(width, height int) []byte {
	return pngChunk("IHDR", be32(width), be32(height), 8, 6, 0, 0, 0)
}

// field is one entry of an EXIF directory.
type field struct {
	tag, kind int
	value     []byte
}

func ascii(tag int, text string) field { return field{tag, 2, []byte(text + "\x00")} }

// exifBlock makes a TIFF structure with the fields of IFD0 and, if any, of the
// Exif directory.
func exifBlock(order binary.AppendByteOrder, ifd0, exif []field) []byte {
	mark := "II*\x00"
	if order.AppendUint16(nil, 1)[0] == 0 {
		mark = "MM\x00*"
	}
	if exif != nil {
		ifd0 = append(ifd0, field{0x8769, 4, order.AppendUint32(nil, uint32(8+directorySize(ifd0)+18))})
	}
	b := order.AppendUint32([]byte(mark), 8)
	b = appendDirectory(b, order, ifd0)
	if exif != nil {
		b = appendDirectory(b, order, exif)
	}
	return b
}

// directorySize is the length of a directory with its values, without the pointer
// to the Exif directory: that entry is 12 bytes, the frame of a directory 6.
func directorySize(fields []field) int {
	n := 0
	for _, f := range fields {
		n += 12
		if len(f.value) > 4 {
			n += len(f.value)
		}
	}
	return n
}

func appendDirectory(b []byte, order binary.AppendByteOrder, fields []field) []byte {
	values := len(b) + 2 + 12*len(fields) + 4
	var tail []byte
	b = order.AppendUint16(b, uint16(len(fields)))
	for _, f := range fields {
		width := map[int]int{3: 2, 4: 4}[f.kind]
		b = order.AppendUint16(b, uint16(f.tag))
		b = order.AppendUint16(b, uint16(f.kind))
		b = order.AppendUint32(b, uint32(len(f.value)/max(width, 1)))
		if len(f.value) <= 4 {
			b = append(b, append(f.value, 0, 0, 0, 0)[:4]...)
			continue
		}
		b = order.AppendUint32(b, uint32(values+len(tail)))
		tail = append(tail, f.value...)
	}
	return append(order.AppendUint32(b, 0), tail...)
}

// wantChunks compares the chunks found with those expected.
func wantChunks(t *testing.T, f File, want ...Chunk) {
	t.Helper()
	if diff := cmp.Diff(want, f.Chunks); diff != "" {
		t.Errorf("chunks (-want +got):\n%s", diff)
	}
}
