package preview

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
)

// CanEncodeWebP reports whether the program brings an encoder of lossy WebP.
func (f *FFmpeg) CanEncodeWebP(ctx context.Context) bool {
	list, err := f.run(ctx, nil, "-hide_banner", "-encoders")
	return err == nil && strings.Contains(string(list), " libwebp ")
}

// WebP encodes a PNG as a lossy WebP of a quality of 100, within the same limits as frames
// of videos are read.
func (f *FFmpeg) WebP(ctx context.Context, png io.Reader, quality int) ([]byte, error) {
	temp, err := os.CreateTemp("", "vitrine-webp-")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = temp.Close()
		_ = os.Remove(temp.Name())
	}()
	if _, err := io.Copy(temp, png); err != nil {
		return nil, err
	}
	return f.run(ctx, temp, "-hide_banner", "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,pipe", "-f", "png_pipe", "-i", "/dev/fd/3",
		"-frames:v", "1", "-threads", "1", "-c:v", "libwebp", "-quality", fmt.Sprint(quality), "-compression_level", "4", "-f", "image2pipe", "pipe:1")
}
