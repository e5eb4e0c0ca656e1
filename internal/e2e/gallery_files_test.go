package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/internal/sample/shape"
	"vitrine/internal/testenv"
	"vitrine/service"
	"vitrine/service/servicetest"
)

// TestGallery_PlaysVideosAndDescribesModels opens a video, which Chromium plays, and a 3D model.
func TestGallery_PlaysVideosAndDescribesModels(t *testing.T) {
	ffmpeg := testenv.Tool(t, "ffmpeg")
	e := servicetest.Start(t, servicetest.Options{Adjust: func(cfg *service.Config) { cfg.FFmpeg = ffmpeg }})
	film := filepath.Join(t.TempDir(), "a.webm")
	if out, err := exec.CommandContext(t.Context(), ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:duration=2", "-c:v", "libvpx", film).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(film)
	if err != nil {
		t.Fatal(err)
	}
	e.StoreFile("", "a.webm", "video/webm", data)
	e.Search("", "media:model3d", e.StoreFile("", "knot.glb", "model/gltf-binary", shape.Knot(2, 3, 80)).IndexToken)
	g := openGallery(t, e.URL, e.Key)
	g.do(chromedp.Click(`.shot:has(img[alt="a.webm"])`))
	g.await("the video plays", `(() => { const v = document.querySelector("#detail-video"); v.muted = true; v.play?.().catch(() => {}); return !v.hidden && v.readyState >= 2 && Math.round(v.duration) === 2; })()`)
	g.await("what the video says", `document.querySelector("#detail-text").innerText.includes("2.0 s")`)
	g.do(chromedp.Click("#close"), chromedp.Click(`.shot:has(img[alt="knot.glb"])`))
	g.await("the model's picture and facts", `document.querySelector("#detail-video").hidden && document.querySelector("#detail-image").naturalWidth === 1024 && /vertices\s+1,920/.test(document.querySelector("#detail-text").innerText)`)
}
