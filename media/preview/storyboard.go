package preview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"os"
	"time"

	"vitrine/library"
	"vitrine/media/blob"
)

// The derived files of a video's storyboard.
const (
	storyboardName     = "storyboard.jpg"
	storyboardJSONName = "storyboard.json"
)

const (
	storyboardEdge    = 160 // of one frame
	storyboardFrames  = 25  // at most
	storyboardColumns = 5
	// storyboardEvery is how close frames are at least.
	storyboardEvery = 200 * time.Millisecond
	// storyboardKeys is from which length on only key frames are decoded: others take too long.
	storyboardKeys = time.Minute
)

// Storyboard describes a picture with frames of a video, row by row.
type Storyboard struct {
	Frames  int     `json:"frames" doc:"How many frames the picture has."`
	Columns int     `json:"columns"`
	Rows    int     `json:"rows"`
	Width   int     `json:"width" doc:"Of one frame, in pixels."`
	Height  int     `json:"height"`
	TimesMS []int64 `json:"times_ms" doc:"Where in the video each frame is, in milliseconds."`
}

// Storyboard returns the picture and the description of frames spread over a video that
// lasts for some time, made now unless they are kept. ErrUnsupported: it is no video.
func (m *Maker) Storyboard(ctx context.Context, tenant library.TenantID, hash library.AssetHash, lasts time.Duration) (picture, description []byte, err error) {
	picture, err = m.kept(ctx, tenant, hash, storyboardName, func(ctx context.Context) ([]byte, error) {
		picture, s, err := m.drawStoryboard(ctx, tenant, hash, lasts)
		if err != nil {
			return nil, err
		}
		described, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		return picture, m.blobs.PutDerived(ctx, tenant, hash, storyboardJSONName, described)
	})
	if err != nil {
		return nil, nil, err
	}
	description, err = m.blobs.GetDerived(ctx, tenant, hash, storyboardJSONName)
	return picture, description, err
}

func (m *Maker) drawStoryboard(ctx context.Context, tenant library.TenantID, hash library.AssetHash, lasts time.Duration) ([]byte, Storyboard, error) {
	object, err := m.blobs.Open(ctx, tenant, hash)
	if err != nil {
		return nil, Storyboard{}, err
	}
	defer object.Close()
	format := videoFormat(file{ctx, object, object.Size()})
	ffmpeg := m.FFmpeg()
	switch {
	case format == "" || lasts <= 0:
		return nil, Storyboard{}, ErrUnsupported
	case ffmpeg == nil:
		return nil, Storyboard{}, ErrNoFFmpeg
	}
	frames, err := storyboardOf(ctx, ffmpeg, object, format, lasts)
	if err != nil {
		return nil, Storyboard{}, err
	}
	return joinFrames(frames, lasts)
}

// storyboardOf returns small frames of a video as ffmpeg reads them.
func storyboardOf(ctx context.Context, ffmpeg *FFmpeg, object blob.Object, format string, lasts time.Duration) ([]image.Image, error) {
	local, done, err := onDisk(ctx, object)
	if err != nil {
		return nil, err
	}
	defer done()
	out, err := ffmpeg.frames(ctx, local, format, lasts, frameCount(lasts))
	if err != nil {
		return nil, err
	}
	var list []image.Image
	for in := bytes.NewReader(out); in.Len() > 0 && len(list) < storyboardFrames; {
		img, err := png.Decode(in)
		if err != nil || img.Bounds().Dx() > storyboardEdge || img.Bounds().Dy() > storyboardEdge {
			return nil, fmt.Errorf("a frame of the storyboard: %w", err)
		}
		list = append(list, img)
	}
	if len(list) == 0 {
		return nil, ErrUnsupported
	}
	return list, nil
}

// frameCount returns how many frames a storyboard of a video has.
func frameCount(lasts time.Duration) int {
	return max(1, min(storyboardFrames, int(lasts/storyboardEvery)))
}

// frames returns n frames spread over a video as PNGs one after another.
func (f *FFmpeg) frames(ctx context.Context, video *os.File, format string, lasts time.Duration, n int) ([]byte, error) {
	args := []string{"-hide_banner", "-nostdin", "-loglevel", "error", "-protocol_whitelist", "file,pipe", "-f", format, "-threads", "1"}
	if lasts > storyboardKeys {
		args = append(args, "-skip_frame", "nokey")
	}
	filter := fmt.Sprintf("fps=fps=%d/%.3f:start_time=0:round=up,scale=w='min(%[3]d,iw*sar)':h='min(%[3]d,ih)':force_original_aspect_ratio=decrease", n, lasts.Seconds(), storyboardEdge)
	return f.run(ctx, video, append(args, "-i", "/dev/fd/3", "-map", "0:v:0", "-vf", filter, "-frames:v", fmt.Sprint(n), "-threads", "1", "-c:v", "png", "-f", "image2pipe", "pipe:1")...)
}

// joinFrames draws frames into one picture.
func joinFrames(frames []image.Image, lasts time.Duration) ([]byte, Storyboard, error) {
	b := frames[0].Bounds()
	s := Storyboard{Frames: len(frames), Columns: min(len(frames), storyboardColumns), Width: b.Dx(), Height: b.Dy(), TimesMS: []int64{}}
	s.Rows = (s.Frames + s.Columns - 1) / s.Columns
	sheet := image.NewRGBA(image.Rect(0, 0, s.Columns*s.Width, s.Rows*s.Height))
	n := frameCount(lasts)
	for i, f := range frames {
		at := image.Pt(i%s.Columns*s.Width, i/s.Columns*s.Height)
		draw.Draw(sheet, image.Rectangle{at, at.Add(b.Size())}, f, f.Bounds().Min, draw.Src)
		s.TimesMS = append(s.TimesMS, lasts.Milliseconds()*int64(i)/int64(n))
	}
	var out bytes.Buffer
	err := jpeg.Encode(&out, sheet, &jpeg.Options{Quality: 75})
	return out.Bytes(), s, err
}
