package preview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"vitrine/library"
	"vitrine/media/blob"
)

// ErrNoVips reports a picture that cannot be read because there is no libvips.
var ErrNoVips = errors.New("there is no libvips to read the picture with")

// Vips is the program of libvips that reads pictures of the kinds which have no decoder here:
// AVIF, HEIC and JPEG XL.
type Vips struct{ Program }

// FindVips looks for vipsthumbnail at a path, or in PATH where that is empty, and runs it once.
// The error says why there is none that works.
func FindVips(ctx context.Context, path string) (*Vips, error) {
	if path == "" {
		path = "vipsthumbnail"
	}
	p, err := find(ctx, path, []string{"VIPS_CONCURRENCY=1"}, "--vips-version")
	if err != nil {
		return nil, err
	}
	return &Vips{p}, nil
}

// picture returns a picture as a PNG of at most PosterEdge, in the colors of sRGB.
func (v *Vips) picture(ctx context.Context, f *os.File) ([]byte, error) {
	return v.run(ctx, f, "stdin", "--size", fmt.Sprintf("%[1]dx%[1]d>", PosterEdge), "--no-rotate", "--export-profile", "srgb", "-o", ".png[compression=1,strip]")
}

// VipsTypes are the media types of the pictures that libvips is needed for.
var VipsTypes = []string{"image/avif", "image/heic", "image/heif", "image/jxl"}

// forVips reports whether a file begins like a picture that libvips is needed for.
func forVips(f file) bool {
	b := f.head(0, 12)
	return b != nil && (string(b[4:8]) == "ftyp" && slices.Contains(stills, string(b[8:12])) || starts(b, "\xff\x0a") || starts(b, "\x00\x00\x00\x0cJXL \r\n\x87\n"))
}

// converted returns the kept form, a JPEG of at most PosterEdge, of a picture that libvips reads.
func (m *Maker) converted(ctx context.Context, tenant library.TenantID, hash library.AssetHash, f blob.Object) ([]byte, error) {
	vips := m.Vips()
	var lacks error
	if vips == nil {
		lacks = ErrNoVips
	}
	return m.frame(ctx, tenant, hash, f, lacks, func(local *os.File) ([]byte, error) { return vips.picture(ctx, local) })
}
