package pngrow

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// read puts the rows of a picture together as 16-bit values.
func read(data []byte) (map[image.Point]color.NRGBA64, Header, error) {
	p, err := New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, Header{}, err
	}
	out := map[image.Point]color.NRGBA64{}
	for {
		row, err := p.Next()
		if errors.Is(err, io.EOF) {
			return out, p.Header, nil
		}
		if err != nil {
			return nil, p.Header, err
		}
		for i := range row.Width {
			out[image.Pt(row.X+i*row.StepX, row.Y)] = p.pixel(row.Data, i)
		}
	}
}

// sample returns a sample as the file has it.
func (p *Reader) sample(data []byte, i int) uint16 {
	switch p.Depth {
	case 16:
		return uint16(data[2*i])<<8 | uint16(data[2*i+1])
	case 8:
		return uint16(data[i])
	}
	perByte := 8 / p.Depth
	return uint16(data[i/perByte]) >> (8 - p.Depth*(i%perByte+1)) & (1<<p.Depth - 1)
}

func (p *Reader) pixel(data []byte, i int) color.NRGBA64 {
	n := p.Channels()
	var s [4]uint16
	for c := range n {
		s[c] = p.sample(data, i*n+c)
	}
	wide := func(v uint16) uint16 { return uint16(uint32(v) * 0xffff / (1<<p.Depth - 1)) }
	a := uint16(0xffff)
	if p.Transparent != nil {
		same := true
		for c, v := range p.Transparent {
			same = same && s[c] == v
		}
		if same {
			a = 0
		}
	}
	switch p.Color {
	case Palette:
		if int(s[0]) >= len(p.Colors) {
			return color.NRGBA64{A: 0xffff}
		}
		c := p.Colors[s[0]]
		if int(s[0]) < len(p.Alpha) {
			a = uint16(p.Alpha[s[0]]) * 0x101
		}
		return color.NRGBA64{uint16(c[0]) * 0x101, uint16(c[1]) * 0x101, uint16(c[2]) * 0x101, a}
	case Gray:
		return color.NRGBA64{wide(s[0]), wide(s[0]), wide(s[0]), a}
	case GrayAlpha:
		return color.NRGBA64{wide(s[0]), wide(s[0]), wide(s[0]), wide(s[1])}
	case RGB:
		return color.NRGBA64{wide(s[0]), wide(s[1]), wide(s[2]), a}
	}
	return color.NRGBA64{wide(s[0]), wide(s[1]), wide(s[2]), wide(s[3])}
}

// equalsStandard compares every pixel with the decoder of the standard library. Where
// that one refuses a file, this one may read it.
func equalsStandard(t *testing.T, data []byte) (compared bool) {
	t.Helper()
	want, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		_, _, _ = read(data) // must not panic
		return false
	}
	got, h, err := read(data)
	if err != nil {
		t.Errorf("it was refused: %v", err)
		return false
	}
	b := want.Bounds()
	if len(got) != b.Dx()*b.Dy() || h.Width != b.Dx() || h.Height != b.Dy() {
		t.Errorf("%d pixels of %v", len(got), b)
		return false
	}
	for at, c := range got {
		w := color.NRGBA64Model.Convert(want.At(at.X, at.Y)).(color.NRGBA64)
		if w.A != c.A || w.A != 0 && (differ(w.R, c.R, w.A) || differ(w.G, c.G, w.A) || differ(w.B, c.B, w.A)) {
			t.Errorf("%v is %v, want %v", at, c, w)
			return false
		}
	}
	return true
}

// differ allows for the rounding of values that were multiplied by their opacity.
func differ(a, b, alpha uint16) bool {
	d := int(a) - int(b)
	return max(d, -d) > 0xffff/max(1, int(alpha))+1
}

func standardFiles(t testing.TB) map[string][]byte {
	t.Helper()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, pattern := range []string{"src/image/png/testdata/*.png", "src/image/png/testdata/pngsuite/*.png", "src/image/testdata/*.png"} {
		paths, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(goroot)), pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if out[path], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

func TestReader_EqualsTheStandardDecoder(t *testing.T) {
	compared := 0
	for path, data := range standardFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if equalsStandard(t, data) {
				compared++
			}
		})
	}
	if compared < 45 {
		t.Errorf("only %d files were compared", compared)
	}
}

func TestReader_WhatIsCutOffOrChangedIsDamaged(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 60, 60))
	for i := range img.Pix {
		img.Pix[i] = byte(i * i)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	if _, _, err := read(data); err != nil {
		t.Fatal(err)
	}
	for n := 8; n < len(data)-40; n += 97 {
		if _, _, err := read(data[:n]); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for i := 50; i < len(data)-40; i += 97 {
		changed := bytes.Clone(data)
		changed[i] ^= 0x10
		if _, _, err := read(changed); !errors.Is(err, ErrDamaged) {
			t.Errorf("a change at %d: %v", i, err)
		}
	}
	for _, s := range []string{"", "\x89PNG", "GIF89a", "\x89PNG\r\n\x1a"} {
		if _, err := New(strings.NewReader(s), int64(len(s))); !errors.Is(err, ErrNoPNG) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, data := range standardFiles(f) {
		if len(data) < 4<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := ReadHeader(bytes.NewReader(data)); err != nil || h.Width > 1<<12 || h.Height > 1<<8 {
			t.Skip("no header, or a picture that only takes long")
		}
		equalsStandard(t, data)
	})
}
