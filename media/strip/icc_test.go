package strip_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"vitrine/media/strip"
)

// matrixProfile returns the color profile of a display, with a text in every place that can hold one.
func matrixProfile(text string) []byte {
	tags := [][2]string{
		{"desc", "desc\x00\x00\x00\x00\x00\x00\x00\x40" + text + string(make([]byte, 160))}, {"cprt", "text\x00\x00\x00\x00" + text}, {"dmnd", "text\x00\x00\x00\x00" + text}, {"prvt", "data\x00\x00\x00\x00" + text},
		{"wtpt", "XYZ \x00\x00\x00\x00\x00\x00\xf6\xd6\x00\x01\x00\x00\x00\x00\xd3\x2d" + text},
		{"rXYZ", "XYZ \x00\x00\x00\x00\x00\x00\x6f\xa2\x00\x00\x38\xf5\x00\x00\x03\x90"}, {"gXYZ", "XYZ \x00\x00\x00\x00\x00\x00\x62\x99\x00\x00\xb7\x85\x00\x00\x18\xda"}, {"bXYZ", "XYZ \x00\x00\x00\x00\x00\x00\x24\xa0\x00\x00\x0f\x84\x00\x00\xb6\xcf"},
		{"rTRC", "curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33" + text}, {"gTRC", "curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33"}, {"bTRC", "curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33"},
	}
	b := make([]byte, 128)
	copy(b[4:], "lcms\x02\x10\x00\x00mntrRGB XYZ \x07\xea\x00\x01\x00\x01\x00\x00\x00\x00\x00\x00acspAPPL")
	copy(b[48:], "Tom Ella")
	copy(b[68:], "\x00\x00\xf6\xd6\x00\x01\x00\x00\x00\x00\xd3\x2dMine")
	copy(b[100:], text)
	b = binary.BigEndian.AppendUint32(b, uint32(len(tags)))
	at, data := len(b)+12*len(tags), []byte{}
	for _, x := range tags {
		b = append(b, x[0]...)
		b = binary.BigEndian.AppendUint32(b, uint32(at+len(data)))
		b = binary.BigEndian.AppendUint32(b, uint32(len(x[1])))
		data = append(data, x[1]...)
		data = append(data, make([]byte, -len(data)&3)...)
	}
	b = append(append(b, data...), text...)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

// tagsOf returns the tags of a color profile by which colors are computed: the first 20 bytes of each.
func tagsOf(t *testing.T, icc []byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	if len(icc) < 132 || int(binary.BigEndian.Uint32(icc)) != len(icc) {
		t.Errorf("a profile of %d bytes", len(icc))
		return out
	}
	for i := range binary.BigEndian.Uint32(icc[128:]) {
		e := icc[132+12*i:]
		at, n := binary.BigEndian.Uint32(e[4:]), binary.BigEndian.Uint32(e[8:])
		if kind := string(e[:4]); bytes.Contains([]byte("wtpt rXYZ gXYZ bXYZ rTRC gTRC bTRC"), e[:4]) {
			out[kind] = string(icc[at : at+min(n, 14)])
		}
	}
	return out
}

func sameColors(t *testing.T, a, b []byte) bool {
	t.Helper()
	x, y := tagsOf(t, a), tagsOf(t, b)
	for kind, data := range y {
		if x[kind] != data {
			return false
		}
	}
	return len(x) == 7 && len(y) == 7 && bytes.Equal(a[12:24], b[12:24])
}

func TestWrite_AColorProfileKeepsItsColorsAndNoTexts(t *testing.T) {
	t.Parallel()
	icc := matrixProfile(canary)
	body := bytes.Join([][]byte{riff("VP8X", "\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00"), riff("ICCP", string(icc)), riff("VP8L", "\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00")}, nil)
	file := append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(body))), append([]byte("WEBP"), body...)...)
	got, _, err := write(t, file, strip.Options{})
	at := bytes.Index(got, []byte("ICCP"))
	if err != nil || bytes.Contains(got, []byte(canary)) || bytes.Contains(got, []byte("Tom Ella")) || at < 0 {
		t.Fatalf("%v %q", err, got)
	}
	kept := got[at+8:][:binary.LittleEndian.Uint32(got[at+4:])]
	if !sameColors(t, kept, icc) {
		t.Errorf("the colors changed: %q", kept)
	}
	again, _, err := write(t, got, strip.Options{})
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("writing it once more changes it: %v", err)
	}
}

// riff is a chunk of a WebP file.
func riff(kind, data string) []byte {
	b := append(binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data))), data...)
	return append(b, make([]byte, len(data)&1)...)
}
