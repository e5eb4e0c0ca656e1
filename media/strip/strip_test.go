package strip_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/image/webp"

	"vitrine/internal/testenv"
	"vitrine/media/strip"
)

// canary stands in every text that is written into the files of these tests.
const canary = "zebrafinch-canary"

const (
	promptGraph = `{"3":{"class_type":"KSampler","inputs":{"seed":42,"steps":20,"cfg":7,"sampler_name":"euler","scheduler":"normal","denoise":1,"model":["4",0],"positive":["6",0],"negative":["7",0],"latent_image":["5",0]}},"4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"` + canary + `.safetensors"}},"5":{"class_type":"EmptyLatentImage","inputs":{"width":64,"height":64,"batch_size":1}},"6":{"class_type":"CLIPTextEncode","inputs":{"text":"` + canary + `","clip":["4",1]}},"7":{"class_type":"CLIPTextEncode","inputs":{"text":"` + canary + `","clip":["4",1]}},"8":{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["4",2]}},"9":{"class_type":"SaveImage","inputs":{"images":["8",0],"filename_prefix":"` + canary + `"}}}`
	editorGraph = `{"nodes":[{"id":1,"type":"Note","widgets_values":["` + canary + `"]}],"links":[],"version":0.4}`
)

var (
	writeFiles sync.Once
	fileBytes  = map[string][]byte{} // by their names, once written
)

// writtenFiles returns the files of writeAll, which are written once.
func writtenFiles(t *testing.T) map[string][]byte {
	t.Helper()
	writeFiles.Do(func() {
		for _, path := range writeAll(t) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fileBytes[filepath.Base(path)] = b
		}
	})
	return fileBytes
}

// writeAll writes one file per kind and independent program, and adds with exiftool what
// it can: EXIF with a thumbnail and a position, XMP, IPTC, comments.
func writeAll(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"prompt.json": promptGraph, "workflow.json": editorGraph} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exiftool := testenv.Tool(t, "exiftool")
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "writers"), filepath.Join("..", "extract", "container", "testdata", "writers.py"), dir, testenv.Tool(t, "ffmpeg"), exiftool)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the script that writes the files failed: %v", err)
	}
	var files []string
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var w struct{ Kind, Program, File, Failed string }
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil || w.Failed != "" {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		files = append(files, filepath.Join(dir, w.File))
	}
	thumbnail := filepath.Join(dir, "thumbnail.jpg")
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 16, 16)), nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(thumbnail, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-q", "-q", "-m", "-overwrite_original", "-XMP-dc:Description=" + canary, "-EXIF:Artist=" + canary, "-GPSLatitude=48.2", "-GPSLatitudeRef=N",
		"-GPSLongitude=16.3", "-GPSLongitudeRef=E", "-Keys:Title=" + canary, "-UserData:Title=" + canary, "-Comment=" + canary, "-ThumbnailImage<=" + thumbnail}, files...)
	_ = exec.CommandContext(t.Context(), exiftool, args...).Run() // kinds that it cannot write stay as they are
	return files
}

// write strips a file and verifies it.
func write(t *testing.T, file []byte, o strip.Options) ([]byte, strip.Result, error) {
	t.Helper()
	var out bytes.Buffer
	res, err := strip.Write(t.Context(), &out, bytes.NewReader(file), int64(len(file)), o)
	if err != nil {
		return nil, res, err
	}
	if int64(out.Len()) != res.Size {
		t.Errorf("%d bytes were written, and the result says %d", out.Len(), res.Size)
	}
	return out.Bytes(), res, strip.Verify(t.Context(), bytes.NewReader(out.Bytes()), res.Size, o)
}

// disclosure is one that no file of the tests has.
var disclosure = &strip.Disclosure{SourceType: strip.SourceTypes + "trainedAlgorithmicMedia", AISystem: "ComfyUI", Creator: "Ada <&> Lovelace", Rights: "© Ada"}

// described are the groups of exiftool's tags that tell of the bytes alone, and other tags
// that are no metadata.
var structural = []string{"System", "File", "ExifTool", "Composite", "ICC_Profile", "ICC-header", "ICC-view", "ICC-meas", "ICC-chrm", "JFIF", "PNG-pHYs", "GIF", "RIFF", "Track", "QuickTime", "Meta", "Matroska", "Info", "MPEG", "Vorbis", "Opus"}

func TestWrite_IndependentReadersFindNothingThatWasInTheFilesOfManyWriters(t *testing.T) {
	files := writtenFiles(t)
	kinds := map[string]bool{}
	dir := t.TempDir()
	var written []string
	var mu sync.Mutex
	work := make(chan struct{}, 2)
	var all sync.WaitGroup
	for path, file := range files {
		all.Go(func() {
			work <- struct{}{}
			defer func() { <-work }()
			for i, o := range []strip.Options{{}, {Disclosure: disclosure}, {Format: strip.JPEG, MaxEdge: 32}, {Format: strip.PNG}, {Format: strip.WebP, EncodeWebP: encodeWebP(t), Disclosure: disclosure}} {
				got, res, err := write(t, file, o)
				var why *strip.Error
				if errors.As(err, &why) && why.Code == strip.CodeUnsupported {
					continue
				}
				if err != nil {
					t.Errorf("%s, options %d: %v", path, i, err)
					continue
				}
				if bytes.Contains(got, []byte(canary)) || bytes.Contains(got, utf16(canary)) {
					t.Errorf("%s, options %d: the text is still in the file; left out: %v", path, i, res.Removed)
				}
				target := filepath.Join(dir, strings.ReplaceAll(path, ".", "_")+string(rune('a'+i))+res.Extension)
				if err := os.WriteFile(target, got, 0o600); err != nil {
					t.Error(err)
				}
				mu.Lock()
				written, kinds[res.MIMEType] = append(written, target), true
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(written) < 100 || len(kinds) < 10 {
		t.Errorf("only %d files of %d kinds were written: %v", len(written), len(kinds), kinds)
	}
	readWithExifTool(t, dir)
	readWithMagick(t, dir)
	probeAndDecode(t, written)
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
			case strings.Contains(s, canary), strings.HasPrefix(group, "GPS"), group == "ExifIFD", group == "IFD1", group == "IPTC", group == "JUMBF", group == "ItemList", group == "UserData", group == "Keys", field == "Comment", field == "Error",
				field == "Warning" && !strings.Contains(s, "xtension"),
				(field == "CreateDate" || field == "ModifyDate" || strings.HasPrefix(field, "Media") && strings.HasSuffix(field, "Date")) && !strings.HasPrefix(s, "0000"):
				t.Errorf("%s: exiftool reads %s = %.80v", name, tag, value)
			case strings.HasPrefix(group, "XMP-"):
				if !slices.Contains([]string{"Creator", "Rights", "DigitalSourceType", "AISystemUsed", "XMPToolkit"}, field) && !strings.Contains(field, "ISystem") {
					t.Errorf("%s: exiftool reads %s = %.80v", name, tag, value)
				}
			case group == "IFD0":
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
			out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "ffprobe"), "-v", "error", "-show_format", "-show_streams", "-of", "json", path).CombinedOutput()
			var probed struct {
				Format  struct{ Tags map[string]string }
				Streams []struct{ Tags map[string]string }
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
			for k, v := range probed.Format.Tags {
				if !slices.Contains([]string{"major_brand", "minor_version", "compatible_brands"}, k) && !(k == "encoder" && v == "") && k != "xmp" {
					t.Errorf("%s: ffprobe reads the tag %s = %.60s", filepath.Base(path), k, v)
				}
			}
			if out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "ffmpeg"), "-v", "error", "-xerror", "-i", path, "-f", "null", "-").CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s: ffmpeg does not play it: %v %.300s", filepath.Base(path), err, out)
			}
		}
	}
}

func utf16(s string) (b []byte) {
	for _, r := range s {
		b = append(b, byte(r), 0)
	}
	return b
}

// encodeWebP is ffmpeg's encoder.
func encodeWebP(t *testing.T) strip.WebPEncoder {
	program := testenv.Tool(t, "ffmpeg")
	return func(ctx context.Context, r io.Reader, quality int) ([]byte, error) {
		cmd := exec.CommandContext(ctx, program, "-hide_banner", "-loglevel", "error", "-f", "png_pipe", "-i", "pipe:0", "-frames:v", "1", "-c:v", "libwebp", "-f", "image2pipe", "pipe:1")
		cmd.Stdin = r
		return cmd.Output()
	}
}

func TestWrite_PixelsStayAsTheyAre(t *testing.T) {
	src := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	for i := range src.Pix {
		src.Pix[i] = byte(i * 7)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, src); err != nil {
		t.Fatal(err)
	}
	got, _, err := write(t, b.Bytes(), strip.Options{Disclosure: disclosure})
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(got))
	if err != nil || !bytes.Equal(img.(*image.NRGBA).Pix, src.Pix) {
		t.Errorf("pixels changed: %v", err)
	}
	small, res, err := write(t, b.Bytes(), strip.Options{Format: strip.WebP, MaxEdge: 20, EncodeWebP: encodeWebP(t), Disclosure: disclosure})
	if err != nil || !res.Embedded {
		t.Fatal(err, res)
	}
	cfg, err := webp.DecodeConfig(bytes.NewReader(small))
	if err != nil || cfg.Width != 20 || cfg.Height != 15 {
		t.Errorf("%+v %v", cfg, err)
	}
}
