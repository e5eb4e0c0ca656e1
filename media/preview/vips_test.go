package preview

import (
	"bytes"
	"errors"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/media/memory"
)

// halves writes a picture of 640×360 pixels, red on the left and blue on the right, with Pillow.
const halves = `
import sys
from PIL import Image
import pillow_heif
pillow_heif.register_heif_opener()
img = Image.new("RGB", (640, 360), (220, 20, 20))
img.paste((20, 20, 220), (320, 0, 640, 360))
img.save(sys.argv[1], quality=90)
`

// still returns the picture halves as a file of the type of its name.
func still(t *testing.T, name string) []byte {
	t.Helper()
	to := filepath.Join(t.TempDir(), name)
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "writers"), "-c", halves, to)
	if filepath.Ext(name) == ".jxl" { // Pillow writes none
		from := filepath.Join(t.TempDir(), "a.png")
		if out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "writers"), "-c", halves, from).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		cmd = exec.CommandContext(t.Context(), testenv.Tool(t, "vips"), from, "--size", "640", "-o", to)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func withVips(t *testing.T, m *Maker) *Maker {
	t.Helper()
	v, err := FindVips(t.Context(), testenv.Tool(t, "vips"))
	if err != nil {
		t.Fatal(err)
	}
	m.Vips = func() *Vips { return v }
	return m
}

func TestVips_PreviewsShowAVIFHEICAndJPEGXL(t *testing.T) {
	for _, name := range []string{"a.avif", "a.heic", "a.jxl"} {
		m, _, hash := keeper(t, still(t, name), memory.Config{})
		withVips(t, m)
		got, err := m.Picture(t.Context(), tenant, hash, 256)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		img, err := jpeg.Decode(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		left, _, _, _ := img.At(60, 72).RGBA()
		_, _, right, _ := img.At(200, 72).RGBA()
		if img.Bounds().Dx() != 256 || img.Bounds().Dy() != 144 || left < 0xc000 || right < 0xc000 {
			t.Errorf("%s: %v, %x on the left, %x on the right", name, img.Bounds(), left, right)
		}
		m.Vips = func() *Vips { return nil } // the picture is kept
		if _, err := m.Picture(t.Context(), tenant, hash, 512); err != nil {
			t.Errorf("%s, another size: %v", name, err)
		}
	}
}

func TestVips_WhatCannotBeReadIsToldApart(t *testing.T) {
	whole := still(t, "a.avif")
	m, _, hash := keeper(t, whole[:len(whole)/2], memory.Config{})
	if _, err := withVips(t, m).Picture(t.Context(), tenant, hash, 256); !errors.Is(err, ErrDamaged) {
		t.Errorf("cut off: %v", err)
	}
	m, _, hash = keeper(t, whole, memory.Config{})
	if _, err := m.Picture(t.Context(), tenant, hash, 256); !errors.Is(err, ErrNoVips) || library.AsError(err).Code != library.CodeNotFound || !strings.Contains(library.AsError(err).Detail, "libvips") {
		t.Errorf("without libvips: %v", err)
	}
}
