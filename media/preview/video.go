package preview

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
)

// ErrNoFFmpeg reports a video that cannot be read because there is no ffmpeg.
var ErrNoFFmpeg = errors.New("there is no ffmpeg to read a frame of the video with")

// frameName is the derived file that holds the picture which previews are made of where a
// program must read the file: a frame of a video, or the picture itself.
const frameName = "frame.jpg"

// frameAt is where in a video its frame is taken: not at its beginning, which often is black.
const frameAt = 500 * time.Millisecond

// stills are the brands of files that have the form of MP4 and hold a still.
var stills = []string{"avif", "avis", "heic", "heix", "hevc", "mif1", "msf1"}

// videoFormat returns ffmpeg's name of the format that a file begins like, "" where it is no
// video that is known here.
func videoFormat(f file) string {
	b := f.head(0, 12)
	switch {
	case b == nil:
		return ""
	case string(b[4:8]) == "ftyp" && !slices.Contains(stills, string(b[8:12])):
		return "mov"
	case starts(b, "\x1a\x45\xdf\xa3"):
		return "matroska"
	case starts(b, "RIFF") && string(b[8:]) == "AVI ":
		return "avi"
	case starts(b, "FLV\x01"):
		return "flv"
	}
	return ""
}

// video returns the kept frame of a video as a JPEG of at most PosterEdge.
func (m *Maker) video(ctx context.Context, tenant library.TenantID, hash library.AssetHash, f blob.Object, format string) ([]byte, error) {
	ffmpeg := m.FFmpeg()
	var lacks error
	if ffmpeg == nil {
		lacks = ErrNoFFmpeg
	}
	return m.frame(ctx, tenant, hash, f, lacks, func(local *os.File) ([]byte, error) {
		png, err := ffmpeg.frame(ctx, local, format, frameAt)
		if err == nil && len(png) == 0 { // it is shorter than that
			png, err = ffmpeg.frame(ctx, local, format, 0)
		}
		return png, err
	})
}

// frame returns the kept picture of a file that a program reads, as a JPEG of at most PosterEdge.
// read runs the program and returns a PNG; lacks is the error where there is no such program.
func (m *Maker) frame(ctx context.Context, tenant library.TenantID, hash library.AssetHash, f blob.Object, lacks error, read func(*os.File) ([]byte, error)) ([]byte, error) {
	if kept, err := m.blobs.GetDerived(ctx, tenant, hash, frameName); err == nil {
		return kept, nil
	}
	if lacks != nil {
		return nil, lacks
	}
	local, done, err := onDisk(ctx, f)
	if err != nil {
		return nil, err
	}
	defer done()
	png, err := read(local)
	if err != nil {
		return nil, err
	}
	frame, err := Make(ctx, m.budget, bytes.NewReader(png), int64(len(png)), PosterEdge)
	if err != nil {
		return nil, err
	}
	return frame, m.blobs.PutDerived(ctx, tenant, hash, frameName, frame)
}

// onDisk returns an object as a file that another process can open: its own, or a copy
// that done removes.
func onDisk(ctx context.Context, f blob.Object) (local *os.File, done func(), err error) {
	if own, is := f.(interface{ Local() *os.File }); is {
		return own.Local(), func() {}, nil
	}
	temp, err := os.CreateTemp("", "vitrine-preview-")
	if err != nil {
		return nil, nil, err
	}
	done = func() {
		_ = temp.Close()
		_ = os.Remove(temp.Name())
	}
	if _, err := io.Copy(temp, file{ctx, f, f.Size()}.whole()); err != nil {
		done()
		return nil, nil, err
	}
	return temp, done, nil
}
