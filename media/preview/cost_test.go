package preview

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"vitrine/media/preview/previewtest"
)

// testPictures returns the pictures that Go and golang.org/x/image test their
// decoders with, by their paths.
func testPictures(t *testing.T) map[string][]byte {
	t.Helper()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/image").Output()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, dir := range []string{filepath.Join(strings.TrimSpace(string(goroot)), "src/image"), filepath.Join(strings.TrimSpace(string(module)), "testdata")} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.Contains(path, "testdata") {
				return err
			}
			data, err := os.ReadFile(path)
			if f := (file{t.Context(), bytes.NewReader(data), int64(len(data))}); err == nil {
				if _, err := open(f); err == nil {
					out[path] = data
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(out) < 150 {
		t.Fatalf("only %d pictures found", len(out))
	}
	return out
}

// largePictures are small files that take much memory, and plain ones of each kind.
func largePictures(t *testing.T) map[string][]byte {
	t.Helper()
	const edge = 1600
	out := map[string][]byte{
		"png 16 bit rgba":             previewtest.PNG(edge, edge, 16, 6, false),
		"png 8 bit rgb":               previewtest.PNG(edge, edge, 8, 2, false),
		"png 1 bit":                   previewtest.PNG(edge, edge, 1, 0, false),
		"png palette":                 previewtest.PNG(edge, edge, 2, 3, false),
		"png wide":                    previewtest.PNG(1<<20, 2, 16, 6, false),
		"png interlaced 16 bit":       previewtest.PNG(edge, edge, 16, 6, true),
		"jpeg progressive 4:4:4":      previewtest.ProgressiveJPEG(edge, edge, 0x11, 0x11, 0x11),
		"jpeg progressive 4:2:0":      previewtest.ProgressiveJPEG(edge, edge, 0x22, 0x11, 0x11),
		"jpeg progressive 4:1:0":      previewtest.ProgressiveJPEG(edge, edge, 0x42, 0x11, 0x11),
		"jpeg progressive 1":          previewtest.ProgressiveJPEG(edge, edge, 0x22),
		"jpeg progressive one column": previewtest.ProgressiveJPEG(1, 60000, 0x42, 0x11, 0x11),
		"webp lossless":               previewtest.LosslessWebP(edge, edge, false),
		"webp of many codes":          previewtest.WebPOfManyCodes(),
		"webp lossless palette":       previewtest.LosslessWebP(edge, edge, true),
	}
	plain := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"tiff":         func(b *bytes.Buffer) error { return tiff.Encode(b, plain, nil) },
		"tiff deflate": func(b *bytes.Buffer) error { return tiff.Encode(b, plain, &tiff.Options{Compression: tiff.Deflate}) },
		"tiff 16 bit": func(b *bytes.Buffer) error {
			return tiff.Encode(b, image.NewNRGBA64(plain.Rect), &tiff.Options{Compression: tiff.Deflate, Predictor: true})
		},
		"bmp": func(b *bytes.Buffer) error { return bmp.Encode(b, plain) },
		"gif": func(b *bytes.Buffer) error {
			return gif.Encode(b, image.NewPaletted(plain.Rect, color.Palette{color.Black, color.White}), nil)
		},
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(name, err)
		}
		out[name] = b.Bytes()
	}
	return out
}

// TestCost_IsNeverLessThanWhatDecodingAllocates compares what a header is read to
// ask for with all that decoding then allocates, collected or not.
func TestCost_IsNeverLessThanWhatDecodingAllocates(t *testing.T) {
	const small = 1 << 20 // tables, names, errors
	check := func(name string, data []byte) (used int64) {
		f := file{t.Context(), bytes.NewReader(data), int64(len(data))}
		s, err := open(f)
		if err != nil || s.width <= 0 || s.height <= 0 {
			return 0
		}
		promised := s.cost + reducerCost(s.width, s.height, DefaultEdge)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = s.preview(f, DefaultEdge) // damaged ones allocate too
		runtime.ReadMemStats(&after)
		used = int64(after.TotalAlloc - before.TotalAlloc)
		if used > promised+small {
			t.Errorf("%s (%s, %d×%d) asks for %d bytes and takes %d", name, s.kind, s.width, s.height, promised, used)
		}
		return used
	}
	for path, data := range testPictures(t) {
		check(path, data)
	}
	for name, data := range largePictures(t) {
		if _, err := made(t, data, DefaultEdge); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%-28s %8d bytes of file, %10d of memory", name, len(data), check(name, data))
	}
}

// TestMake_EqualsTheStandardDecoders compares the rows that previews are made of
// with those of the decoders that read the picture as a whole.
func TestMake_EqualsTheStandardDecoders(t *testing.T) {
	compared := 0
	for path, data := range testPictures(t) {
		f := file{t.Context(), bytes.NewReader(data), int64(len(data))}
		s, err := open(f)
		if err != nil {
			continue
		}
		whole, _, wantErr := image.Decode(bytes.NewReader(data))
		got, err := s.read(f, 1<<20)
		if wantErr != nil {
			// What lacks only its end, or the checksum of a chunk, is shown.
			if err == nil && !slices.Contains([]string{"invalid-crc32.png", "invalid-noend.png", "invalid-trunc.png"}, filepath.Base(path)) {
				t.Errorf("%s was decoded, and the standard decoder says: %v", path, wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		b := whole.Bounds()
		r := newReducer(b.Dx(), b.Dy(), 1<<20)
		passRows(whole, r)
		if got.Rect != r.out.Rect {
			t.Errorf("%s has the size %v, want %v", path, got.Rect, r.out.Rect)
			continue
		}
		compared++
		for i := range got.Pix {
			if d := int(got.Pix[i]) - int(r.out.Pix[i]); d < -1 || d > 1 {
				t.Errorf("%s: pixel %d is off by %d", path, i/4, d)
				break
			}
		}
	}
	if compared < 120 {
		t.Errorf("only %d pictures were compared", compared)
	}
}
