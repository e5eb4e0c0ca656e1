package strip_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"testing"

	"vitrine/media/strip"
)

// rebuilt returns a PNG of 8 by 4 pixels whose pixel data and further chunks are given.
func rebuilt(interlaced byte, idat []byte, more ...[]byte) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, 8), 4)
	out := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", string(append(head, 8, 2, 0, 0, interlaced)))...)
	for _, c := range more {
		out = append(out, c...)
	}
	return append(append(out, chunk("IDAT", string(idat))...), chunk("IEND", "")...)
}

func packed(raw []byte) []byte {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(raw)
	_ = z.Close()
	return b.Bytes()
}

func TestWrite_TextAmongThePixelDataOfAPNGIsRemoved(t *testing.T) {
	t.Parallel()
	rows := bytes.Repeat(append([]byte{0}, bytes.Repeat([]byte{200, 100, 50}, 8)...), 4)
	passes := make([]byte, 0)
	for _, p := range [][2]int{{1, 1}, {1, 1}, {2, 1}, {4, 1}, {4, 2}, {8, 2}} { // 8 by 4 pixels; the third pass has none
		for range p[1] {
			passes = append(append(passes, 0), bytes.Repeat([]byte{200, 100, 50}, p[0])...)
		}
	}
	for name, file := range map[string][]byte{
		"behind the compressed bytes": rebuilt(0, append(packed(rows), canary...)),
		"interlaced":                  rebuilt(1, append(packed(passes), canary...)),
		"in a chunk of gamma":         rebuilt(0, packed(rows), chunk("gAMA", "\x00\x00\xb1\x8f"+canary)),
		"in a chunk of transparency":  rebuilt(0, packed(rows), chunk("tRNS", fmt.Sprintf("%0300d", 0)+canary)),
	} {
		got, res, err := write(t, file, strip.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, err := png.Decode(bytes.NewReader(got))
		if err != nil || m.Bounds() != image.Rect(0, 0, 8, 4) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, g, b, _ := m.At(7, 3).RGBA()
		if r>>8 != 200 || g>>8 != 100 || b>>8 != 50 || bytes.Contains(got, []byte(canary)) || len(res.Removed) == 0 {
			t.Errorf("%s: the text is still there, or a pixel is another: %d %d %d, removed %q", name, r>>8, g>>8, b>>8, res.Removed)
		}
		if z, err := zlib.NewReader(bytes.NewReader(got[bytes.Index(got, []byte("IDAT"))+4:])); err != nil || z == nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, res, err := write(t, got, strip.Options{}); err != nil || !bytes.Equal(again, got) || len(res.Removed) > 0 {
			t.Errorf("%s: what was written is written again otherwise: %v, removed %q", name, err, res.Removed)
		}
	}
	for name, file := range map[string][]byte{"whole": rebuilt(0, packed(rows)), "interlaced": rebuilt(1, packed(passes))} {
		if got, res, err := write(t, file, strip.Options{}); err != nil || !bytes.Equal(got, file) || len(res.Removed) > 0 {
			t.Errorf("%s: a picture without such bytes changed: %v, removed %q", name, err, res.Removed)
		}
	}
	var why *strip.Error
	if _, _, err := write(t, rebuilt(0, packed(append(bytes.Clone(rows), canary...))), strip.Options{}); !errors.As(err, &why) || why.Code != strip.CodeDamaged {
		t.Errorf("text behind the rows: %v", err)
	}
	if _, _, err := write(t, rebuilt(0, packed(rows), chunk("PLTE", string(make([]byte, 900)))), strip.Options{}); !errors.As(err, &why) || why.Code != strip.CodeDamaged {
		t.Errorf("a palette of 300 colors: %v", err)
	}
}
