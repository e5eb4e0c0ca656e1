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

// movie makes a video of red frames, or of sound alone where arguments say so.
func movie(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	to := filepath.Join(t.TempDir(), name)
	args = append(append([]string{"-v", "error", "-f", "lavfi", "-i"}, args...), to)
	if out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "ffmpeg"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func withFFmpeg(t *testing.T, m *Maker) *Maker {
	t.Helper()
	f, err := FindFFmpeg(t.Context(), testenv.Tool(t, "ffmpeg"))
	if err != nil {
		t.Fatal(err)
	}
	m.FFmpeg = func() *FFmpeg { return f }
	return m
}

func TestVideo_APreviewShowsAFrameNearItsStart(t *testing.T) {
	for name, args := range map[string][]string{
		"a.mp4": {"color=red:size=640x360:rate=16:duration=2", "-pix_fmt", "yuv420p"}, "a.webm": {"color=red:size=320x180:duration=1"},
		"short.mp4": {"color=red:size=640x360:rate=16:duration=0.1", "-pix_fmt", "yuv420p"}, "a.mkv": {"color=red:size=640x360:duration=1"},
		"a.avi": {"color=red:size=640x360:duration=1"}, "a.mov": {"color=red:size=4096x2304:duration=0.6:rate=10", "-pix_fmt", "yuv420p"},
	} {
		m, d, hash := keeper(t, movie(t, name, args...), memory.Config{})
		withFFmpeg(t, m)
		got, err := m.Picture(t.Context(), tenant, hash, 256)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		img, err := jpeg.Decode(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		if r, g, b, _ := img.At(128, 72).RGBA(); img.Bounds().Dx() != 256 || img.Bounds().Dy() != 144 || r < 0xe000 || g > 0x3000 || b > 0x3000 {
			t.Errorf("%s: %v, its middle is %x %x %x", name, img.Bounds(), r, g, b)
		}
		m.FFmpeg = func() *FFmpeg { return nil } // the frame is kept
		if _, err := m.Picture(t.Context(), tenant, hash, 512); err != nil {
			t.Errorf("%s, another size: %v", name, err)
		}
		if err := d.Remove(t.Context(), tenant, hash); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVideo_WhatCannotBeReadIsToldApart(t *testing.T) {
	whole := movie(t, "a.mp4", "testsrc2=size=640x360:duration=1", "-movflags", "faststart")
	playlist := append([]byte("\x00\x00\x00\x18ftypisom"), "\n#EXTM3U\n#EXTINF:1,\nfile:///etc/hosts\n"...)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"cut off":           {whole[:len(whole)/20], ErrDamaged},
		"a playlist inside": {playlist, ErrDamaged},
		"sound alone":       {movie(t, "a.m4a", "sine=duration=1"), ErrUnsupported},
	} {
		m, _, hash := keeper(t, c.data, memory.Config{})
		withFFmpeg(t, m)
		if _, err := m.Picture(t.Context(), tenant, hash, 256); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	m, _, hash := keeper(t, whole, memory.Config{})
	if _, err := m.Picture(t.Context(), tenant, hash, 256); !errors.Is(err, ErrNoFFmpeg) || library.AsError(err).Code != library.CodeNotFound || !strings.Contains(library.AsError(err).Detail, "ffmpeg") {
		t.Errorf("without ffmpeg: %v", err)
	}
}
