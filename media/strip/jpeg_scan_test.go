package strip_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/media/strip"
)

// encodings are what Pillow is asked for: how colors are sampled, whether the picture comes in passes, and how
// often the coding starts anew.
const encodings = `
import itertools, sys
from PIL import Image
img = Image.effect_noise((61, 47), 90).convert("RGB")
img.paste(Image.linear_gradient("L").resize((40, 30)), (5, 9))
n = 0
for sub, prog, restart, mode, q in itertools.product((0, 1, 2), (False, True), (0, 1, 7), ("RGB", "L", "CMYK"), (30, 95)):
    n += 1
    img.convert(mode).save(f"{sys.argv[1]}/{n}.jpg", quality=q, subsampling=sub, progressive=prog, optimize=n % 2 == 0, restart_marker_blocks=restart)
`

func TestWrite_BytesAmongTheCodedDataOfAJPEGAreCutOutAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "writers"), "-c", encodings, dir).CombinedOutput(); err != nil {
		t.Fatalf("Pillow: %v %s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.jpg"))
	if len(files) < 100 {
		t.Fatalf("Pillow wrote only %d files", len(files))
	}
	compared := 0
	for _, path := range files {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		clean, res, err := write(t, file, strip.Options{})
		if err != nil || slices.Contains(res.Removed, "bytes among the coded data") {
			t.Errorf("%s: removed %q of a picture that has no such bytes: %v", path, res.Removed, err)
			continue
		}
		end := len(clean) - 2
		planted := append(append(bytes.Clone(clean[:end]), canary...), clean[end:]...)
		if at := bytes.Index(clean, []byte{0xff, 0xd3}); at > 0 {
			planted = append(append(append(bytes.Clone(clean[:at]), canary...), clean[at:end]...), planted[end:]...)
		}
		got, _, err := write(t, planted, strip.Options{})
		if err != nil || !bytes.Equal(got, clean) {
			t.Errorf("%s: the text is not all that went: %v; %d bytes, want %d", path, err, len(got), len(clean))
			continue
		}
		before, err := jpeg.Decode(bytes.NewReader(file))
		if err != nil {
			continue // Go's decoder does not read all of them
		}
		after, err := jpeg.Decode(bytes.NewReader(got))
		if compared++; err != nil || !samePixels(before, after) {
			t.Errorf("%s: pixels changed: %v", path, err)
		}
	}
	if compared < 40 {
		t.Errorf("only the pixels of %d pictures were compared", compared)
	}
}

func samePixels(a, b image.Image) bool {
	if a.Bounds() != b.Bounds() {
		return false
	}
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			if a.At(x, y) != b.At(x, y) {
				return false
			}
		}
	}
	return true
}
