package striptest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/internal/testenv"
	"vitrine/media/strip"
)

// structural are the groups of exiftool's tags that tell of the bytes alone, and other tags
// that are no metadata.
var structural = []string{"System", "File", "ExifTool", "Composite", "ICC_Profile", "ICC-header", "ICC-view", "ICC-meas", "ICC-chrm", "JFIF", "PNG-pHYs", "Adobe", "GIF", "RIFF", "Track", "QuickTime", "Meta", "Matroska", "Info", "MPEG", "Vorbis", "Opus"}

// ofPNG are the tags of exiftool's group PNG, where texts are too, that tell of the bytes alone.
var ofPNG = []string{"ImageWidth", "ImageHeight", "BitDepth", "ColorType", "Compression", "Filter", "Interlace", "AnimationFrames", "AnimationPlays", "Palette", "Transparency", "Gamma", "BackgroundColor", "SRGBRendering", "SignificantBits"}

// Check has exiftool, ImageMagick and ffprobe read the written files in a folder, and fails for whatever
// is no fact of the bytes. A name with "-disclosed" before its extension may have a disclosure. Films are decoded.
func Check(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there is nothing to read: %v", err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil || bytes.Contains(b, []byte(Canary)) || bytes.Contains(b, wide(Canary)) {
			t.Errorf("%s: the text is still in the file: %v", filepath.Base(path), err)
		}
	}
	readWithExifTool(t, dir)
	readWithMagick(t, dir)
	probeAndDecode(t, files)
}

// readWithExifTool fails for every tag that is no fact of the bytes.
func readWithExifTool(t *testing.T, dir string) {
	t.Helper()
	out, _ := exec.CommandContext(t.Context(), testenv.Tool(t, "exiftool"), "-j", "-a", "-u", "-G1", "-ee", "-api", "LargeFileSupport=1", dir).Output()
	var list []map[string]any
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("exiftool: %v", err)
	}
	for _, file := range list {
		name := filepath.Base(file["SourceFile"].(string))
		for tag, value := range file {
			group, field, _ := strings.Cut(tag, ":")
			s, _ := value.(string)
			switch {
			case strings.Contains(s, Canary), strings.HasPrefix(group, "GPS"), group == "ExifIFD", group == "IFD1", group == "IPTC", group == "JUMBF", group == "ItemList", group == "UserData", group == "Keys", field == "Comment", field == "Error",
				field == "Warning" && !strings.Contains(s, "xtension"),
				(field == "CreateDate" || field == "ModifyDate" || strings.HasPrefix(field, "Media") && strings.HasSuffix(field, "Date")) && !strings.HasPrefix(s, "0000"):
				t.Errorf("%s: exiftool reads %s = %.80v", name, tag, value)
			case strings.HasPrefix(group, "XMP-"):
				if !slices.Contains([]string{"Creator", "Rights", "DigitalSourceType", "AISystemUsed", "XMPToolkit"}, field) && !strings.Contains(field, "ISystem") {
					t.Errorf("%s: exiftool reads %s = %.80v", name, tag, value)
				}
			case tag != "SourceFile" && !(group == "PNG" && slices.Contains(ofPNG, field)) && !slices.Contains(structural, strings.TrimRight(group, "0123456789")):
				t.Errorf("%s: exiftool reads %s = %.80v", name, tag, value)
			}
		}
	}
}

// probeAndDecode has ffprobe read the tags of films, and decoders the pictures.
func probeAndDecode(t *testing.T, files []string) {
	t.Helper()
	for _, path := range files {
		switch filepath.Ext(path) {
		case ".mp4", ".mov", ".webm", ".mkv", ".m4v", ".gif", ".m4a":
			out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "ffprobe"), "-v", "error", "-show_format", "-show_streams", "-show_frames", "-of", "json", path).CombinedOutput()
			var probed struct {
				Format  struct{ Tags map[string]string }
				Streams []struct{ Tags map[string]string }
				Frames  []struct {
					Tags map[string]string
					Side []struct {
						Kind string `json:"side_data_type"`
					} `json:"side_data_list"`
				}
			}
			if err != nil || json.Unmarshal(out, &probed) != nil || len(probed.Streams) == 0 {
				t.Errorf("%s: ffprobe: %v %.300s", filepath.Base(path), err, out)
				continue
			}
			for _, s := range probed.Streams {
				for k, v := range s.Tags {
					if !slices.Contains([]string{"language", "DURATION", "vendor_id", "handler_name"}, k) {
						t.Errorf("%s: ffprobe reads the tag %s = %s of a stream", filepath.Base(path), k, v)
					}
				}
			}
			for _, f := range probed.Frames {
				for _, side := range f.Side {
					if strings.Contains(side.Kind, "Unregistered") || strings.Contains(side.Kind, "GPS") {
						t.Errorf("%s: ffprobe reads %s beside a picture", filepath.Base(path), side.Kind)
					}
				}
				if len(f.Tags) > 0 {
					t.Errorf("%s: ffprobe reads %v beside a picture", filepath.Base(path), f.Tags)
				}
			}
			for k, v := range probed.Format.Tags {
				if !slices.Contains([]string{"major_brand", "minor_version", "compatible_brands"}, k) && !(k == "encoder" && v == "") && !(k == "xmp" && isDisclosed(path)) {
					t.Errorf("%s: ffprobe reads the tag %s = %.60s", filepath.Base(path), k, v)
				}
			}
			if out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "ffmpeg"), "-v", "error", "-xerror", "-i", path, "-f", "null", "-").CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: ffmpeg does not play it: %v %.300s", filepath.Base(path), err, out)
			}
		}
	}
}

// wide returns a text in UTF-16.
func wide(s string) (b []byte) {
	for _, r := range s {
		b = append(b, byte(r), 0)
	}
	return b
}

// WebP returns ffmpeg's encoder.
func WebP(t *testing.T) strip.WebPEncoder {
	program := testenv.Tool(t, "ffmpeg")
	return func(ctx context.Context, r io.Reader, quality int) ([]byte, error) {
		cmd := exec.CommandContext(ctx, program, "-hide_banner", "-loglevel", "error", "-f", "png_pipe", "-i", "pipe:0", "-frames:v", "1", "-c:v", "libwebp", "-f", "image2pipe", "pipe:1")
		cmd.Stdin = r
		return cmd.Output()
	}
}
