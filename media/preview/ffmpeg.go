package preview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// FFmpeg is the program that reads frames of videos.
type FFmpeg struct{ Program }

// FindFFmpeg looks for ffmpeg at a path, or in PATH where that is empty, and runs it once.
// The error says why there is none that works.
func FindFFmpeg(ctx context.Context, path string) (*FFmpeg, error) {
	if path == "" {
		path = "ffmpeg"
	}
	p, err := find(ctx, path, nil, "-hide_banner", "-version")
	if err != nil {
		return nil, err
	}
	p.Version, _, _ = strings.Cut(p.Version, " Copyright")
	return &FFmpeg{p}, nil
}

// frame returns a frame of a video as a PNG of at most PosterEdge, upright and with square
// pixels. The file must be of the given format: the demuxer is named, so that none is chosen
// that follows references to other files, and the program may open files alone. Of sound
// alone there is no frame: ErrUnsupported.
func (f *FFmpeg) frame(ctx context.Context, video *os.File, format string, at time.Duration) ([]byte, error) {
	scale := fmt.Sprintf("scale=w='min(%[1]d,iw*sar)':h='min(%[1]d,ih)':force_original_aspect_ratio=decrease", PosterEdge)
	png, err := f.run(ctx, video, "-hide_banner", "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,pipe", "-f", format, "-threads", "1",
		"-ss", fmt.Sprintf("%.3f", at.Seconds()), "-i", "/dev/fd/3", "-map", "0:v:0", "-frames:v", "1", "-vf", scale, "-threads", "1", "-c:v", "png", "-f", "image2pipe", "pipe:1")
	var failed *programError
	if errors.As(err, &failed) && strings.Contains(failed.said, "matches no streams") {
		return nil, ErrUnsupported
	}
	return png, err
}
