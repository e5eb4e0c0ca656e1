package strip_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"vitrine/internal/testenv"
)

// magick is what ImageMagick reads in a picture.
type magick struct {
	Width, Height  int
	Comment, Error string
	Said, Profiles map[string]string
}

// ofPixels are the groups of ImageMagick's attributes that tell of the pixels and the format alone.
var ofPixels = []string{"png:", "jpeg:", "webp:", "gif:", "heic:", "icc:", "exif:PixelXDimension", "date:"}

// disclosed reports whether an attribute is part of the disclosure of files that were written with one.
func disclosed(name, key string) bool {
	stem, _, _ := strings.Cut(name, ".")
	with := strings.HasSuffix(stem, "b") || strings.HasSuffix(stem, "e") // the second and the fifth options
	return with && slices.Contains([]string{"Iptc4xmpExt:DigitalSourceType", "Iptc4xmpExt:AISystemUsed", "dc:creator", "dc:rights"}, key)
}

// readWithMagick has ImageMagick read the pictures in a folder, in which nothing but color profiles and
// the disclosure may be found.
func readWithMagick(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "node"), "testdata/magick.mjs", testenv.Tool(t, "imagemagick"), dir).Output()
	var read map[string]magick
	if err == nil {
		err = json.Unmarshal(out, &read)
	}
	if err != nil {
		t.Fatalf("ImageMagick: %v %.300s", err, out)
	}
	if len(read) < 50 {
		t.Errorf("ImageMagick read only %d pictures", len(read))
	}
	for name, m := range read {
		if m.Error != "" || m.Width <= 0 || m.Height <= 0 || m.Comment != "" {
			t.Errorf("%s: ImageMagick reads %d×%d, the comment %.80q, and says %s", name, m.Width, m.Height, m.Comment, m.Error)
		}
		for key, value := range m.Said {
			if !disclosed(name, key) && !slices.ContainsFunc(ofPixels, func(group string) bool { return strings.HasPrefix(key, group) }) || strings.Contains(value, canary) {
				t.Errorf("%s: ImageMagick reads %s = %.80s", name, key, value)
			}
		}
		for kind, profile := range m.Profiles {
			if kind != "icc" && (kind != "xmp" || !strings.Contains(profile, "DigitalSourceType")) || strings.Contains(profile, canary) {
				t.Errorf("%s: ImageMagick reads a profile %s of %d bytes: %.80q", name, kind, len(profile), profile)
			}
		}
	}
}
