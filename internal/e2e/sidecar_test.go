package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/importer"
	"vitrine/service/servicetest"
)

const infotext = "a heron over the marsh\nNegative prompt: people\nSteps: 24, Sampler: Euler a, CFG scale: 6, Seed: 991, Size: 48x32, Model: marshModel"

// video is the beginning of an MP4 file: enough to tell its kind, and no metadata.
func video(n byte) []byte {
	ftyp := "\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp42"
	return append([]byte(ftyp+"\x00\x00\x00\x0cmdat"), 1, 2, 3, n)
}

// TestSidecars_TellWhatAFileDoesNot imports what generators put beside their files.
func TestSidecars_TellWhatAFileDoesNot(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	folder := t.TempDir()
	putSidecars(t, folder)
	dry, err := importer.Run(t.Context(), e.Client(""), []string{folder}, importer.Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	report, err := importer.Run(t.Context(), e.Client(""), []string{folder}, importer.Options{})
	if err != nil || report.Failed > 0 {
		t.Fatalf("%+v %v", report, err)
	}
	if report.Sidecars != 6 || report.Skipped != 1 || dry.Sidecars != report.Sidecars || dry.Stored != report.Stored || report.Stored != 10 {
		t.Errorf("%d sidecars, %d skipped, %d stored; a dry run said %d and %d", report.Sidecars, report.Skipped, report.Stored, dry.Sidecars, dry.Stored)
	}
	for _, f := range report.Files {
		want, listed := map[string]string{"webui.png": "a heron over the marsh", "swarm.png": "a heron of paper", "clip.mp4": "a video of a heron",
			"night_00001-audio.mp4": "a heron at night", "paper.mp4": "a heron folded",
			"caption.png": "", "own.png": "the file's own words", "large.png": ""}[filepath.Base(f.Path)]
		if !listed {
			continue
		}
		var d struct {
			Prompts *struct {
				Positive *string `json:"positive"`
			} `json:"prompts"`
			Raw any `json:"extracted_metadata"`
		}
		e.Call("GET", "/api/v1/assets/"+f.Asset+"?include_raw_metadata=true", nil, &d)
		got := ""
		if d.Prompts != nil && d.Prompts.Positive != nil {
			got = *d.Prompts.Positive
		}
		if got != want {
			t.Errorf("%s: the prompt is %q, want %q", filepath.Base(f.Path), got, want)
		}
		raw := string(servicetest.JSON(d.Raw))
		if beside := strings.Contains(raw, "sidecar:"); beside != (filepath.Base(f.Path) != "large.png") {
			t.Errorf("%s: sidecar among its metadata: %v", filepath.Base(f.Path), beside)
		}
		if filepath.Base(f.Path) == "large.png" && !strings.Contains(f.Reason, "too large") {
			t.Errorf("a sidecar that was left out is not named: %+v", f)
		}
	}
}

// putSidecars writes files with what generators put beside them.
func putSidecars(t *testing.T, folder string) {
	t.Helper()
	first := picture(3, "a video of a heron")
	for name, data := range map[string][]byte{
		"webui.png": picture(1, ""), "webui.txt": []byte(infotext),
		"swarm.png":      picture(2, ""),
		"swarm.png.json": []byte(`{"sui_image_params":{"prompt":"a heron of paper","seed":77,"steps":20,"cfgscale":7,"model":"paper","width":48,"height":32,"swarm_version":"0.9.5"}}`),
		"clip.mp4":       video(1), "CLIP.png": first,
		// VideoHelperSuite's video with sound, whose first frame has the name of the one without; SwarmUI's video.
		"night_00001.png": picture(7, "a heron at night"), "night_00001-audio.mp4": video(2),
		"paper.mp4": video(3), "paper.swarm.json": []byte(`{"sui_image_params":{"prompt":"a heron folded","seed":78,"steps":20,"model":"paper","swarm_version":"0.9.6"}}`),
		"caption.png": picture(4, ""), "caption.txt": []byte("1girl, solo, heron, marsh"),
		"own.png": picture(5, "the file's own words"), "own.TXT": []byte(infotext),
		"alone.txt": []byte("notes about nothing"), "large.png": picture(6, ""), "large.json": bytes.Repeat([]byte(" "), 3<<20),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSidecars_OnesThatCannotBeTakenAreFaults(t *testing.T) {
	t.Parallel()
	e := servicetest.Shared(t)
	for name, sidecars := range map[string][]any{
		"neither text nor data": {map[string]any{"filename": "a.txt"}},
		"both":                  {map[string]any{"filename": "a.txt", "text": "x", "data_base64": "eA=="}},
		"no base64":             {map[string]any{"filename": "a.txt", "data_base64": "***"}},
		"another kind":          {map[string]any{"filename": "a.exe", "text": "x"}},
		"no ending":             {map[string]any{"filename": "..", "text": "x"}},
		"too large":             {map[string]any{"filename": "a.txt", "text": strings.Repeat("x", 2<<20+1)}},
		"six":                   {one, one, one, one, one, one},
	} {
		status, answer, _ := e.Raw("POST", "/api/v1/assets", e.Key, servicetest.JSON(map[string]any{"filename": "a.png", "mime_type": "image/png",
			"asset_data_base64": picture(1, ""), "sidecars": sidecars}), nil)
		if status != 400 || !strings.Contains(string(answer), `"field":"sidecars`) {
			t.Errorf("%s: %d %.300s", name, status, answer)
		}
	}
	if got := e.StoreFile("", "a.png", "image/png", picture(1, "")); !got.Created {
		t.Error("a refused call left its file behind")
	}
}

var one = map[string]any{"filename": "a.txt", "text": "x"}
