package striptest

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
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

// isDisclosed reports whether a file was written with a disclosure.
func isDisclosed(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, filepath.Ext(path)), "-disclosed")
}

// disclosed reports whether an attribute is part of the disclosure of a file.
func disclosed(name, key string) bool {
	return isDisclosed(name) && slices.Contains([]string{"Iptc4xmpExt:DigitalSourceType", "Iptc4xmpExt:AISystemUsed", "dc:creator", "dc:rights"}, key)
}

// readWithMagick has ImageMagick read the pictures in a folder, in which nothing but color profiles and
// the disclosure may be found.
func readWithMagick(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "node"), filepath.Join(testenv.ModuleRoot(t), "media", "strip", "striptest", "testdata", "magick.mjs"), testenv.Tool(t, "imagemagick"), dir).Output()
	var read map[string]magick
	if err == nil {
		err = json.Unmarshal(out, &read)
	}
	if err != nil {
		t.Fatalf("ImageMagick: %v %.300s", err, out)
	}
	if len(read) == 0 {
		t.Error("ImageMagick read no picture")
	}
	for name, m := range read {
		if m.Error != "" || m.Width <= 0 || m.Height <= 0 || m.Comment != "" {
			t.Errorf("%s: ImageMagick reads %d×%d, the comment %.80q, and says %s", name, m.Width, m.Height, m.Comment, m.Error)
		}
		for key, value := range m.Said {
			if !disclosed(name, key) && !slices.ContainsFunc(ofPixels, func(group string) bool { return strings.HasPrefix(key, group) }) || strings.Contains(value, Canary) {
				t.Errorf("%s: ImageMagick reads %s = %.80s", name, key, value)
			}
		}
		for kind, profile := range m.Profiles {
			if kind != "icc" && (kind != "xmp" || !isDisclosed(name) || !strings.Contains(profile, "DigitalSourceType")) || strings.Contains(profile, Canary) {
				t.Errorf("%s: ImageMagick reads a profile %s of %d bytes: %.80q", name, kind, len(profile), profile)
			}
		}
	}
}
