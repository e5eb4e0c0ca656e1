package service_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"vitrine/internal/sample/shape"
	"vitrine/internal/testenv"
	"vitrine/library"
	"vitrine/media/gltf"
	"vitrine/media/preview"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store/storetest"
)

// previewOf returns whether a preview of an asset is kept.
func previewOf(t *testing.T, e *servicetest.Env, hash string) bool {
	t.Helper()
	_, err := e.Blobs.GetDerived(t.Context(), e.Tenant, library.AssetHash(hash), fmt.Sprint(preview.DefaultEdge, ".jpg"))
	return err == nil
}

func waitingJobs(t *testing.T, e *servicetest.Env) string {
	t.Helper()
	counts, err := e.Store.Jobs.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(counts) == 0 {
		return ""
	}
	return fmt.Sprintf("%+v", counts)
}

func TestPreviews_AnAssetIsFoundBeforeItsPreviewExistsWhichARestartMakes(t *testing.T) {
	t.Parallel()
	cfg := servicetest.Config(t)
	var stored servicetest.Stored
	t.Run("without the role work", func(t *testing.T) {
		e := servicetest.StartWith(t, cfg, []service.Role{service.RoleAPI, service.RoleRelay, service.RoleIndex})
		stored = e.StoreFile("", "fox.png", "image/png", picture(5), "winter")
		if f := e.Search("", "tag:winter", stored.IndexToken); f.Total != 1 {
			t.Fatalf("%+v", f)
		}
		if previewOf(t, e, stored.Asset.AssetH) || waitingJobs(t, e) == "" {
			t.Fatalf("a preview was made, or is not to be: %s", waitingJobs(t, e))
		}
	})
	e := servicetest.StartWith(t, cfg, nil)
	servicetest.Eventually(t, "the preview is made", func() error {
		if left := waitingJobs(t, e); !previewOf(t, e, stored.Asset.AssetH) || left != "" {
			return fmt.Errorf("no preview; jobs: %s", left)
		}
		return nil
	})
}

func TestPreviews_DetailedHitsAndDetailsHaveThePlaceholder(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	stored := e.StoreFile("", "fox.png", "image/png", picture(8), "placeholders")
	type placed struct {
		Placeholder []byte `json:"placeholder"`
	}
	var details placed
	servicetest.Eventually(t, "the details have a placeholder", func() error {
		e.Call(http.MethodGet, "/api/v1/assets/"+stored.Asset.AssetH, nil, &details)
		if n := len(details.Placeholder); n < 5 || n > 25 {
			return fmt.Errorf("%d bytes", n)
		}
		return nil
	})
	for format, want := range map[string]string{"detailed": string(details.Placeholder), "concise": ""} {
		var found struct{ Data []placed }
		servicetest.Eventually(t, "the index has the file", func() error {
			found.Data = nil
			e.Call(http.MethodPost, "/api/v1/assets/search", map[string]any{"query": "tag:placeholders", "response_format": format, "min_index_token": stored.IndexToken}, &found)
			if len(found.Data) != 1 {
				return fmt.Errorf("%d hits", len(found.Data))
			}
			return nil
		})
		if string(found.Data[0].Placeholder) != want {
			t.Errorf("%s hits: %x, want %x", format, found.Data, want)
		}
	}
}

// video makes a short one.
func video(t *testing.T) []byte {
	t.Helper()
	to := filepath.Join(t.TempDir(), "a.mp4")
	if out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "ffmpeg"), "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:duration=1", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type previewState struct {
	Placeholder   []byte `json:"placeholder"`
	PreviewError  string `json:"preview_error"`
	PreviewFailed string `json:"preview_failed"`
	ThumbnailURL  string `json:"thumbnail_url"`
	Video         struct {
		FPS        float64 `json:"fps"`
		Frames     int     `json:"frames"`
		Codec      string  `json:"codec"`
		Audio      string  `json:"audio_codec"`
		Storyboard bool    `json:"storyboard"`
	} `json:"video"`
}

func TestPreviews_AVideoHasOneWhereThereIsFFmpeg(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{Adjust: func(cfg *service.Config) { cfg.FFmpeg = testenv.Tool(t, "ffmpeg") }})
	stored := e.StoreFile("", "a.mp4", "video/mp4", video(t))
	var got previewState
	servicetest.Eventually(t, "the video has a preview", func() error {
		e.Call(http.MethodGet, "/api/v1/assets/"+stored.Asset.AssetH+"?response_format=detailed", nil, &got)
		if len(got.Placeholder) == 0 || !got.Video.Storyboard {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	if v := got.Video; got.PreviewError+got.PreviewFailed != "" || v.FPS != 25 || v.Frames != 25 || v.Codec != "avc1" || v.Audio != "" {
		t.Errorf("%+v", got)
	}
	checkStoryboard(t, strings.TrimSuffix(got.ThumbnailURL, ".jpg"))
	var board preview.Storyboard
	e.Call(http.MethodGet, "/api/v1/assets/"+stored.Asset.AssetH+"/storyboard.json", nil, &board)
	if board.Frames != 5 {
		t.Errorf("with a key it is %+v", board)
	}
	still := e.StoreFile("", "still.png", "image/png", picture(8))
	if status, _, _ := e.Raw(http.MethodGet, "/api/v1/assets/"+still.Asset.AssetH+"/storyboard", e.Key, nil, nil); status != http.StatusNotFound {
		t.Errorf("the storyboard of a picture is %d", status)
	}
	for request, want := range map[string]int{"": http.StatusOK, "bytes=0-9": http.StatusPartialContent, "bytes=99999999-": http.StatusRequestedRangeNotSatisfiable} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, got.ThumbnailURL+"?size=256", nil)
		if err != nil {
			t.Fatal(err)
		}
		if request != "" {
			req.Header.Set("Range", request)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		h := res.Header
		if res.StatusCode != want || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("Range %q: %s, %v", request, res.Status, h)
		}
		if want < 300 && (h.Get("Content-Type") != "image/jpeg" || !strings.Contains(h.Get("Cache-Control"), "immutable") || !strings.HasPrefix(h.Get("Content-Security-Policy"), "sandbox")) {
			t.Errorf("Range %q: %v", request, h)
		}
	}
}

func TestPreviews_WhatIsMissingToMakeOneIsNamed(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{Adjust: func(cfg *service.Config) { cfg.FFmpeg, cfg.Vips = "/nowhere/ffmpeg", "/nowhere/vipsthumbnail" }})
	for want, stored := range map[string]servicetest.Stored{
		"no_ffmpeg":   e.StoreFile("", "a.mp4", "video/mp4", video(t)),
		"no_libvips":  e.StoreFile("", "a.jxl", "image/jxl", []byte("\xff\x0a\xff\x07\x08\x83\x04\x0c\x00\x4b\x20\x18")),
		"no_renderer": e.StoreFile("", "a.glb", "model/gltf-binary", []byte("glTF\x02\x00\x00\x00\x1c\x00\x00\x00\x08\x00\x00\x00JSON{}      ")),
	} {
		servicetest.Eventually(t, "the reason", func() error {
			var got previewState
			e.Call(http.MethodGet, "/api/v1/assets/"+stored.Asset.AssetH, nil, &got)
			if got.PreviewFailed != want || got.PreviewError == "" {
				return fmt.Errorf("%+v, want %s", got, want)
			}
			return nil
		})
	}
}

func TestPreviews_A3DModelIsDrawnAndDescribed(t *testing.T) {
	e := servicetest.Start(t, servicetest.Options{})
	stored := e.StoreFile("", "knot.glb", "model/gltf-binary", shape.Knot(2, 3, 60))
	var got struct {
		previewState
		Model *gltf.Facts `json:"model_3d"`
	}
	servicetest.Eventually(t, "the model has a picture", func() error {
		e.Call(http.MethodGet, "/api/v1/assets/"+stored.Asset.AssetH+"?response_format=detailed", nil, &got)
		if len(got.Placeholder) == 0 || got.Model == nil {
			return fmt.Errorf("%+v", got)
		}
		return nil
	})
	if got.PreviewFailed+got.PreviewError != "" || got.Model.Vertices != 60*24 || got.Model.Generator != shape.Generator || got.Model.Animations != 1 || got.Model.Size == nil {
		t.Errorf("%+v, model %+v", got, got.Model)
	}
	servicetest.Eventually(t, "searches find the model by what its file says", func() error {
		query := fmt.Sprintf("triangles:%d materials:%d animations:1 extent:>0", got.Model.Triangles, got.Model.Materials)
		if found := e.Search("", query, ""); len(found.Data) != 1 {
			return fmt.Errorf("%s finds %d assets", query, len(found.Data))
		}
		return nil
	})
	res, err := http.Get(got.ThumbnailURL + "?size=256")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	picture, err := jpeg.Decode(res.Body)
	if err != nil || picture.Bounds().Dx() != 256 {
		t.Fatalf("%s %v", res.Status, err)
	}
	if r, _, b, _ := picture.At(128, 20).RGBA(); r>>8 > 140 || b>>8 > 140 {
		t.Errorf("the ground above the model is %v", picture.At(128, 20))
	}
}

func TestPreviews_AFileThatCannotBeDecodedIsMarkedAndNotTriedAgain(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{})
	whole := picture(6)
	damaged := e.StoreFile("", "damaged.png", "image/png", whole[:len(whole)/2])
	text := e.StoreFile("", "notes.txt", "text/plain", []byte("A kind of file that has no preview."))
	details := func(hash string) (out struct {
		PreviewError  string `json:"preview_error"`
		PreviewFailed string `json:"preview_failed"`
	}) {
		t.Helper()
		e.Call(http.MethodGet, "/api/v1/assets/"+hash, nil, &out)
		return out
	}
	servicetest.Eventually(t, "the damaged file is marked", func() error {
		if d := details(damaged.Asset.AssetH); d.PreviewError == "" || d.PreviewFailed != "damaged" {
			return fmt.Errorf("it is not; jobs: %s", waitingJobs(t, e))
		}
		return nil
	})
	servicetest.Eventually(t, "no job is left", func() error {
		if left := waitingJobs(t, e); left != "" {
			return fmt.Errorf("jobs: %s", left)
		}
		return nil
	})
	if got := details(text.Asset.AssetH).PreviewError; got != "" {
		t.Errorf("a text is marked: %s", got)
	}
}

// TestPreviews_OfAnOlderLibraryAreMade takes away what versions before did not make: of a
// picture, of a video and of a file that has no preview.
func TestPreviews_OfAnOlderLibraryAreMade(t *testing.T) {
	t.Parallel()
	e := servicetest.Start(t, servicetest.Options{Adjust: func(cfg *service.Config) { cfg.FFmpeg = testenv.Tool(t, "ffmpeg") }})
	e.StoreFile("", "a.png", "image/png", picture(7))
	e.StoreFile("", "a.mp4", "video/mp4", video(t))
	e.StoreFile("", "a.svg", "image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>`))
	owner := storetest.Owner(t, e.Cfg.PostgresURL)
	made := func() (prints, placeholders int) {
		err := owner.QueryRow(t.Context(), `SELECT (SELECT count(phash) FROM asset_fingerprints), (SELECT count(placeholder) FROM asset_previews)`).Scan(&prints, &placeholders)
		if err != nil {
			t.Fatal(err)
		}
		return prints, placeholders
	}
	servicetest.Eventually(t, "the jobs are done", func() error {
		if left := waitingJobs(t, e); left != "" {
			return fmt.Errorf("jobs: %s", left)
		}
		return nil
	})
	prints, placeholders := made()
	if prints != 2 || placeholders != 2 {
		t.Fatalf("there are %d hashes and %d placeholders", prints, placeholders)
	}
	for _, gone := range []string{`DELETE FROM asset_fingerprints`, `DELETE FROM asset_previews`} {
		if _, err := owner.Exec(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		e.BackfillPreviews(t.Context())
		if p, q := made(); p != prints || q != placeholders {
			t.Errorf("after %s there are %d hashes and %d placeholders", gone, p, q)
		}
	}
	var left int
	if err := owner.QueryRow(t.Context(), `SELECT count(*) FROM assets a WHERE NOT EXISTS (SELECT FROM asset_fingerprints p WHERE p.asset_h = a.asset_h)`).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d files are looked at again and again, %v", left, err)
	}
}

// checkStoryboard reads the storyboard of the video of a second by a preview's link: five
// different frames, in order.
func checkStoryboard(t *testing.T, base string) {
	t.Helper()
	get := func(path string) (*http.Response, []byte) {
		res, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Fatalf("%s: %s %v %v", path, res.Status, res.Header, err)
		}
		return res, data
	}
	var board preview.Storyboard
	_, data := get("/storyboard.json")
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	if want := (preview.Storyboard{Frames: 5, Columns: 5, Rows: 1, Width: 160, Height: 90, TimesMS: []int64{0, 200, 400, 600, 800}}); !reflect.DeepEqual(board, want) {
		t.Errorf("the storyboard is %+v, want %+v", board, want)
	}
	_, data = get("/storyboard.jpg")
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil || img.Bounds().Dx() != 5*160 || img.Bounds().Dy() != 90 {
		t.Fatalf("the picture is %v, %v", img, err)
	}
	for i := 1; i < board.Frames; i++ {
		differ := 0
		for p := range 160 * 90 {
			a, _, _, _ := img.At(p%160+(i-1)*160, p/160).RGBA()
			b, _, _, _ := img.At(p%160+i*160, p/160).RGBA()
			if a>>8 > b>>8+24 || b>>8 > a>>8+24 {
				differ++
			}
		}
		if differ < 50 {
			t.Errorf("frames %d and %d are the same but for %d pixels", i-1, i, differ)
		}
	}
}
