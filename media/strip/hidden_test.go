package strip_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"vitrine/internal/randtest"
	"vitrine/internal/testenv"
	"vitrine/media/extract"
	"vitrine/media/strip"
	"vitrine/media/strip/striptest"
)

// chunk is a chunk of a PNG.
func chunk(kind, data string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

func encodePNG(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWrite_TextsBehindThePixelsAndBehindTheEndOfAPNGAreLeftOut(t *testing.T) {
	file := encodePNG(t, image.NewGray(image.Rect(0, 0, 8, 8)))
	end := chunk("IEND", "")
	body := bytes.TrimSuffix(file, end)
	file = bytes.Join([][]byte{body, chunk("tEXt", "parameters\x00"+canary), chunk("prVt", canary), chunk("tIME", "\x07\xea\x01\x01\x01\x01\x01"), end, chunk("tEXt", "parameters\x00"+canary), []byte(canary)}, nil)
	got, res, err := write(t, file, strip.Options{})
	if err != nil || bytes.Contains(got, []byte(canary)) || len(res.Removed) != 4 {
		t.Errorf("%v %v", res.Removed, err)
	}
	if !bytes.Equal(got, append(body, end...)) {
		t.Error("more changed than the texts")
	}
}

// hide writes a text into the lowest bits of a picture's transparency, column by column, as
// NovelAI and others do.
func hide(m *image.NRGBA, word, text string) {
	bits := []byte(word)
	bits = binary.BigEndian.AppendUint32(bits, uint32(len(text)*8))
	bits = append(bits, text...)
	h := m.Rect.Dy()
	for i := range len(bits) * 8 {
		bit := bits[i/8] >> (7 - i%8) & 1
		at := m.PixOffset(i/h, i%h) + 3
		m.Pix[at] = m.Pix[at]&^1 | bit
	}
}

func TestWrite_TextHiddenInPixelsIsRemovedInEveryFormat(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 128, 128))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	hide(m, "stealth_pnginfo", canary+"\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1, Size: 128x128, Model: x")
	file := encodePNG(t, m)
	before, err := extract.Read(t.Context(), bytes.NewReader(file), int64(len(file)), extract.Options{})
	if err != nil || before.Lineage.Positive == nil {
		t.Fatalf("the extractor does not find the text that is to go: %v", err)
	}
	for _, o := range []strip.Options{{}, {Format: strip.PNG}, {Format: strip.JPEG}, {Format: strip.WebP, EncodeWebP: striptest.WebP(t), Quality: 100}} {
		got, _, err := write(t, file, o)
		if err != nil {
			t.Fatal(err)
		}
		img, _, err := image.Decode(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		if o, ok := img.(interface{ Opaque() bool }); !ok || !o.Opaque() {
			t.Errorf("%s: the picture still has the transparency that the text was in", o)
		}
	}
}

func TestWrite_PicturesStandUprightAndKeepTheirColorProfile(t *testing.T) {
	dir := t.TempDir()
	m := image.NewNRGBA(image.Rect(0, 0, 48, 24))
	for y := range 24 {
		for x := range 48 {
			c := color.NRGBA{255, 0, 0, 255}
			if x >= 24 {
				c = color.NRGBA{0, 0, 255, 255}
			}
			m.SetNRGBA(x, y, c)
		}
	}
	icc := matrixProfile(canary)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 100}); err != nil {
		t.Fatal(err)
	}
	path, profile := filepath.Join(dir, "a.jpg"), filepath.Join(dir, "a.icc")
	if err := errors.Join(os.WriteFile(path, b.Bytes(), 0o600), os.WriteFile(profile, icc, 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "exiftool"), "-overwrite_original", "-n", "-Orientation=6", "-ICC_Profile<="+profile, path).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []strip.Options{{}, {Format: strip.PNG}, {Format: strip.WebP, EncodeWebP: striptest.WebP(t)}, {MaxEdge: 24}} {
		got, res, err := write(t, file, o)
		if err != nil {
			t.Fatal(err)
		}
		img, _, err := image.Decode(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		size := img.Bounds().Size()
		if size.Y != 2*size.X {
			t.Errorf("%s: the picture has %v pixels and does not stand upright", res.MIMEType, size)
		}
		if r, _, blue, _ := img.At(size.X/2, size.Y/8).RGBA(); r < blue {
			t.Errorf("%s: what was left is not above", res.MIMEType)
		}
		target := filepath.Join(dir, "out"+res.Extension)
		if err := os.WriteFile(target, got, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "exiftool"), "-b", "-ICC_Profile", target).Output(); err != nil || !sameColors(t, out, icc) || bytes.Contains(out, []byte(canary)) {
			t.Errorf("%s: exiftool reads a color profile of %d bytes: %v", res.MIMEType, len(out), err)
		}
		clean, _, err := write(t, file, strip.Options{Keep: strip.Keep{NoICC: true}, Format: o.Format})
		if err != nil || bytes.Contains(clean, []byte("acsp")) {
			t.Errorf("the color profile stays: %v", err)
		}
	}
}

// model is a GLB with a picture in it that has a text.
func model(picture []byte) []byte {
	doc := `{"asset":{"version":"2.0","generator":"` + canary + `","extras":{"prompt":"` + canary + `"}},"extensionsUsed":["KHR_xmp_json_ld"],"extensions":{"KHR_xmp_json_ld":{"packets":[{"dc:title":"` + canary + `"}]}},
		"nodes":[{"extras":"` + canary + `","translation":[0.1,123456789012345678,1e-7]}],"buffers":[{"byteLength":` + itoa(len(picture)) + `}],"bufferViews":[{"buffer":0,"byteLength":` + itoa(len(picture)) + `}],"images":[{"bufferView":0,"mimeType":"image/png"}]}`
	for len(doc)%4 != 0 {
		doc += " "
	}
	bin := bytes.Clone(picture)
	for len(bin)%4 != 0 {
		bin = append(bin, 0)
	}
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("glTF\x02\x00\x00\x00"), uint32(28+len(doc)+len(bin)))
	b = append(append(le.AppendUint32(b, uint32(len(doc))), "JSON"+doc...), le.AppendUint32(nil, uint32(len(bin)))...)
	return append(append(b, "BIN\x00"...), bin...)
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

func TestWrite_AModelsExtrasAndThoseOfItsPicturesAreLeftOut(t *testing.T) {
	picture := encodePNG(t, image.NewGray(image.Rect(0, 0, 8, 8)))
	withText := append(append(bytes.Clone(picture[:33]), chunk("tEXt", "prompt\x00"+canary)...), picture[33:]...)
	got, res, err := write(t, model(withText), strip.Options{})
	if err != nil || bytes.Contains(got, []byte(canary)) {
		t.Fatalf("%v %v", res.Removed, err)
	}
	if !bytes.Contains(got, picture) || !bytes.Contains(got, []byte("[0.1,123456789012345678,1e-7]")) {
		t.Error("the picture or the numbers are not what they were")
	}
}

func TestWrite_ABrokenFileIsRefusedOrClean(t *testing.T) {
	var files [][]byte
	written := striptest.Written(t)
	for _, name := range slices.Sorted(maps.Keys(written)) {
		files = append(files, written[name])
	}
	files = append(files, model(encodePNG(t, image.NewGray(image.Rect(0, 0, 8, 8)))))
	for _, seed := range randtest.Seeds(t) {
		r := randtest.NewRand(seed)
		for range randtest.Cases(t, 30) {
			file := bytes.Clone(files[r.IntN(len(files))])
			for range 1 + r.IntN(6) {
				file[r.IntN(min(len(file), 600))] = byte(r.Uint32())
			}
			if r.IntN(3) == 0 {
				file = file[:1+r.IntN(len(file))]
			}
			var out bytes.Buffer
			res, err := strip.Write(t.Context(), &out, bytes.NewReader(file), int64(len(file)), strip.Options{})
			var why *strip.Error
			if err != nil {
				if !errors.As(err, &why) {
					t.Errorf("a broken file is an error of another kind: %v", err)
				}
				continue
			}
			if err := strip.Verify(t.Context(), bytes.NewReader(out.Bytes()), int64(out.Len()), strip.Options{}); err != nil && !errors.As(err, &why) {
				t.Errorf("%s: %v", res.MIMEType, err)
			}
		}
	}
}
