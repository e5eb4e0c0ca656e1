package preview

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"math/rand/v2"
	"testing"

	"vitrine/internal/randtest"
	"vitrine/internal/sample/shape"
	"vitrine/library"
	"vitrine/media/memory"
	"vitrine/media/preview/previewtest"
)

// animation is a GIF of some frames.
func animation(t *testing.T) []byte {
	t.Helper()
	var g gif.GIF
	for i := range 4 {
		frame := image.NewPaletted(image.Rect(0, 0, 120, 80), palette.Plan9)
		for p := range frame.Pix {
			frame.Pix[p] = byte(p * (i + 1))
		}
		g.Image, g.Delay = append(g.Image, frame), append(g.Delay, 5)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// mutate changes a file as disks, networks and attackers do: bytes, lengths, parts that are gone, doubled or moved.
func mutate(r *rand.Rand, data []byte) []byte {
	out := bytes.Clone(data)
	for range 1 + r.IntN(3) {
		if len(out) < 16 {
			break
		}
		at := r.IntN(len(out) - 8)
		if r.IntN(3) == 0 { // the first bytes say how large things are
			at = r.IntN(min(len(out)-8, 64))
		}
		switch n := min(len(out)-at, 1+r.IntN(64)); r.IntN(7) {
		case 0:
			out[at] ^= 1 << r.IntN(8)
		case 1:
			binary.BigEndian.PutUint32(out[at:], []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, r.Uint32()}[r.IntN(6)])
		case 2:
			binary.LittleEndian.PutUint32(out[at:], []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, r.Uint32()}[r.IntN(6)])
		case 3:
			out = out[:at+8]
		case 4:
			out = append(out[:at:at], out[at+n:]...)
		case 5:
			out = append(out[:at+n:at+n], out[at:]...)
		default:
			for i := at; i < at+n; i++ {
				out[i] = byte(r.Uint32())
			}
		}
	}
	if r.IntN(2) == 0 {
		sumPNG(out)
	}
	if len(out) == 0 {
		return data[:1] // an empty file is not stored
	}
	return out
}

// sumPNG makes the checksums of a PNG's chunks right, so that what is wrong with them is met.
func sumPNG(data []byte) {
	for at := 8; bytes.HasPrefix(data, []byte("\x89PNG")) && at+12 <= len(data); {
		end := at + 8 + int(binary.BigEndian.Uint32(data[at:]))
		if end+4 > len(data) {
			return
		}
		binary.BigEndian.PutUint32(data[end:], crc32.ChecksumIEEE(data[at+4:end]))
		at = end + 4
	}
}

// TestMaker_ChangedFilesHaveAPreviewOrAReason makes previews of damaged files of every kind that it draws. Each
// ends with a picture or with an error that says what is wrong with the file, none with a crash or out of memory. With
// VITRINE_RANDOM_FACTOR=20 these are 2,400 files.
func TestMaker_ChangedFilesHaveAPreviewOrAReason(t *testing.T) {
	files := map[string][]byte{
		"a.png": picture(200, 120, true), "deep.png": previewtest.PNG(90, 70, 16, 6, true), "small.png": previewtest.PNG(60, 50, 4, 3, false),
		"a.jpg": previewtest.ProgressiveJPEG(160, 120, 0x22, 0x11, 0x11), "a.webp": previewtest.LosslessWebP(150, 90, true), "codes.webp": previewtest.WebPOfManyCodes(),
		"a.gif": animation(t), "a.glb": shape.Knot(2, 3, 12),
		"a.mp4": movie(t, "a.mp4", "testsrc2=size=320x180:duration=0.5", "-pix_fmt", "yuv420p"), "a.webm": movie(t, "a.webm", "testsrc2=size=160x90:duration=0.4"),
	}
	for name, data := range files {
		m, _, hash := keeper(t, data, memory.Config{})
		if _, err := withFFmpeg(t, m).Picture(t.Context(), tenant, hash, 256); err != nil {
			t.Fatalf("%s as it was made: %v", name, err)
		}
	}
	before, _ := resident("VmHWM")
	randtest.Run(t, func(t *testing.T, r *rand.Rand) {
		made, refused := 0, 0
		for i := range randtest.Cases(t, 60) {
			name := []string{"a.png", "deep.png", "small.png", "a.jpg", "a.webp", "codes.webp", "a.gif", "a.glb", "a.glb", "a.jpg", "a.png", []string{"a.mp4", "a.webm"}[i/12%2]}[i%12]
			data := mutate(r, files[name])
			m, d, hash := keeper(t, data, memory.Config{})
			withFFmpeg(t, m)
			got, err := m.Picture(t.Context(), tenant, hash, 256)
			switch e := library.AsError(err); {
			case err == nil:
				made++
				if c, err := jpeg.DecodeConfig(bytes.NewReader(got)); err != nil || c.Width > 256 || c.Height > 256 {
					t.Errorf("case %d, a changed %s: the preview is no picture of 256 pixels: %+v %v", i, name, c, err)
				}
			case e.Kind == library.KindNotFound || e.Kind == library.KindUnprocessable:
				refused++
			default:
				t.Errorf("case %d, a changed %s of %d bytes: %v", i, name, len(data), err)
			}
			d.Close()
		}
		if made == 0 || refused == 0 {
			t.Errorf("%d previews were made and %d refused: nothing was tried", made, refused)
		}
		t.Logf("%d previews were made, %d refused", made, refused)
	})
	if after, err := resident("VmHWM"); err == nil {
		t.Logf("the process took at most %d MB, %d MB before", after>>20, before>>20)
		if after > max(before, 256<<20)+256<<20 {
			t.Errorf("small changed files took %d MB", after>>20)
		}
	}
}
