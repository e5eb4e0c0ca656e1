// Package striptest has files with texts in every place that formats have for them, and readers by
// others that look for what is left of those.
package striptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"vitrine/internal/testenv"
)

// Canary stands in every text that is written into the files of these tests.
const Canary = "zebrafinch-canary"

const (
	promptGraph = `{"3":{"class_type":"KSampler","inputs":{"seed":42,"steps":20,"cfg":7,"sampler_name":"euler","scheduler":"normal","denoise":1,"model":["4",0],"positive":["6",0],"negative":["7",0],"latent_image":["5",0]}},"4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"` + Canary + `.safetensors"}},"5":{"class_type":"EmptyLatentImage","inputs":{"width":64,"height":64,"batch_size":1}},"6":{"class_type":"CLIPTextEncode","inputs":{"text":"` + Canary + `","clip":["4",1]}},"7":{"class_type":"CLIPTextEncode","inputs":{"text":"` + Canary + `","clip":["4",1]}},"8":{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["4",2]}},"9":{"class_type":"SaveImage","inputs":{"images":["8",0],"filename_prefix":"` + Canary + `"}}}`
	editorGraph = `{"nodes":[{"id":1,"type":"Note","widgets_values":["` + Canary + `"]}],"links":[],"version":0.4}`
)

var (
	writeFiles sync.Once
	fileBytes  = map[string][]byte{} // by their names, once written
)

// Written returns one file per kind and independent program, by its name. Each holds prompt, workflow and
// what exiftool can add. They are written once.
func Written(t *testing.T) map[string][]byte {
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
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "writers"), filepath.Join(testenv.ModuleRoot(t), "media", "extract", "container", "testdata", "writers.py"), dir, testenv.Tool(t, "ffmpeg"), exiftool)
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
	args := append([]string{"-q", "-q", "-m", "-overwrite_original", "-XMP-dc:Description=" + Canary, "-EXIF:Artist=" + Canary, "-GPSLatitude=48.2", "-GPSLatitudeRef=N",
		"-GPSLongitude=16.3", "-GPSLongitudeRef=E", "-Keys:Title=" + Canary, "-UserData:Title=" + Canary, "-Comment=" + Canary, "-ThumbnailImage<=" + thumbnail}, files...)
	_ = exec.CommandContext(t.Context(), exiftool, args...).Run() // kinds that it cannot write stay as they are
	return files
}
