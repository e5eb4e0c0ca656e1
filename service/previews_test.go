package service_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"vitrine/library"
	"vitrine/media/preview"
	"vitrine/service"
	"vitrine/service/servicetest"
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
	servicetest.Eventually(t, 30*time.Second, "the preview is made", func() error {
		if left := waitingJobs(t, e); !previewOf(t, e, stored.Asset.AssetH) || left != "" {
			return fmt.Errorf("no preview; jobs: %s", left)
		}
		return nil
	})
}

func TestPreviews_DetailedHitsAndDetailsHaveThePlaceholder(t *testing.T) {
	e := servicetest.Start(t, servicetest.Options{})
	stored := e.StoreFile("", "fox.png", "image/png", picture(8), "placeholders")
	type placed struct {
		Placeholder []byte `json:"placeholder"`
	}
	var details placed
	servicetest.Eventually(t, 30*time.Second, "the details have a placeholder", func() error {
		e.Call(http.MethodGet, "/api/v1/assets/"+stored.Asset.AssetH, nil, &details)
		if n := len(details.Placeholder); n < 5 || n > 25 {
			return fmt.Errorf("%d bytes", n)
		}
		return nil
	})
	for format, want := range map[string]string{"detailed": string(details.Placeholder), "concise": ""} {
		var found struct{ Data []placed }
		e.Call(http.MethodPost, "/api/v1/assets/search", map[string]any{"query": "tag:placeholders", "response_format": format, "min_index_token": stored.IndexToken}, &found)
		if len(found.Data) != 1 || string(found.Data[0].Placeholder) != want {
			t.Errorf("%s hits: %x, want %x", format, found.Data, want)
		}
	}
}

func TestPreviews_AFileThatCannotBeDecodedIsMarkedAndNotTriedAgain(t *testing.T) {
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
	servicetest.Eventually(t, 30*time.Second, "the damaged file is marked", func() error {
		if d := details(damaged.Asset.AssetH); d.PreviewError == "" || d.PreviewFailed != "damaged" {
			return fmt.Errorf("it is not; jobs: %s", waitingJobs(t, e))
		}
		return nil
	})
	servicetest.Eventually(t, 30*time.Second, "no job is left", func() error {
		if left := waitingJobs(t, e); left != "" {
			return fmt.Errorf("jobs: %s", left)
		}
		return nil
	})
	if got := details(text.Asset.AssetH).PreviewError; got != "" {
		t.Errorf("a text is marked: %s", got)
	}
}
