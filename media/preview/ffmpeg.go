package preview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"vitrine/internal/sandbox"
)

// Limits of one run of ffmpeg. The program decodes what strangers have made, so it runs as a child
// process that can take no more than this, whatever the file claims.
const (
	ffmpegMemory = 768 << 20        // bytes of data
	ffmpegTime   = 20 * time.Second // of the clock, and of a processor
	maxFrame     = 32 << 20         // bytes of the frame that it returns
)

// errFrame reports output that is no frame of the size asked for.
var errFrame = errors.New("ffmpeg writes more than a frame takes")

// FFmpeg is the program that reads frames of videos.
type FFmpeg struct {
	Path     string
	Version  string // its first line, such as "ffmpeg version 5.1.9"
	Isolated bool   // whether it runs without a network, which needs a kernel that lets processes make namespaces

	turn chan struct{} // one runs at a time, so that their memory is bounded too
}

// FindFFmpeg looks for ffmpeg at a path, or in PATH where that is empty, and runs it once.
// The error says why there is none that works.
func FindFFmpeg(ctx context.Context, path string) (*FFmpeg, error) {
	if path == "" {
		path = "ffmpeg"
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return nil, err
	}
	f := &FFmpeg{Path: found, Isolated: true, turn: make(chan struct{}, 1)}
	version, err := f.run(ctx, nil, "-hide_banner", "-version")
	if err != nil {
		f.Isolated = false
		version, err = f.run(ctx, nil, "-hide_banner", "-version")
	}
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(version), "\n")
	f.Version, _, _ = strings.Cut(first, " Copyright")
	return f, nil
}

// frame returns a frame of a video as a PNG of at most PosterEdge, upright and with square
// pixels. The file must be of the given format: the demuxer is named, so that none is chosen
// that follows references to other files, and the program may open files alone.
func (f *FFmpeg) frame(ctx context.Context, video *os.File, format string, at time.Duration) ([]byte, error) {
	scale := fmt.Sprintf("scale=w='min(%[1]d,iw*sar)':h='min(%[1]d,ih)':force_original_aspect_ratio=decrease", PosterEdge)
	return f.run(ctx, video, "-hide_banner", "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,pipe", "-f", format, "-threads", "1",
		"-ss", fmt.Sprintf("%.3f", at.Seconds()), "-i", "/dev/fd/3", "-map", "0:v:0", "-frames:v", "1", "-vf", scale, "-threads", "1", "-c:v", "png", "-f", "image2pipe", "pipe:1")
}

// run runs the program on a file, its descriptor 3, and returns what it writes.
func (f *FFmpeg) run(ctx context.Context, video *os.File, args ...string) ([]byte, error) {
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, ffmpegTime)
	defer cancel()
	cmd := exec.CommandContext(limited, f.Path, args...)
	out, said := &sandbox.Output{Left: maxFrame, Full: errFrame}, &sandbox.Output{Left: 4 << 10}
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = []string{}, "/", out, said, time.Second
	if video != nil {
		cmd.ExtraFiles = []*os.File{video}
	}
	sandbox.Confine(cmd, f.Isolated)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := sandbox.Bound(cmd.Process.Pid, sandbox.Limits{Memory: ffmpegMemory, CPU: ffmpegTime}); err != nil {
		cancel()
		_ = cmd.Wait()
		return nil, err
	}
	err := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("ffmpeg took longer than %s", ffmpegTime)
	case err != nil && strings.Contains(said.String(), "matches no streams"):
		return nil, ErrUnsupported // sound alone
	case err != nil:
		return nil, fmt.Errorf("ffmpeg: %w: %s", err, strings.TrimSpace(said.String()))
	}
	return out.Bytes(), nil
}
