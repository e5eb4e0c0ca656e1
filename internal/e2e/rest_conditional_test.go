package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vitrine/library"
	"vitrine/service/servicetest"
)

// TestREST_ChangesAreMadeToTheVersionThatIfMatchNames: of two who read the same version, one
// changes it, and the other learns of that.
func TestREST_ChangesAreMadeToTheVersionThatIfMatchNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runs()
	for path, body := range map[string]func(n int) []byte{
		"/api/v1/assets/" + w.asset.Asset.AssetH: func(n int) []byte { return servicetest.JSON(map[string]any{"title": fmt.Sprint("title ", n)}) },
		"/api/v1/saved-searches/" + w.saved:      func(n int) []byte { return servicetest.JSON(map[string]any{"description": fmt.Sprint("text ", n)}) },
		"/api/v1/collections/" + w.collection:    func(n int) []byte { return servicetest.JSON(map[string]any{"description": fmt.Sprint("words ", n)}) },

		"/api/v1/collections/" + w.collection + "/cards/" + w.card: func(n int) []byte { return servicetest.JSON(map[string]any{"heading": fmt.Sprint("heading ", n)}) },
		"/api/v1/prompts/" + w.prompt: func(n int) []byte {
			return servicetest.JSON(map[string]any{"labels": []string{fmt.Sprint("label", n)}})
		},
		"/api/v1/experiments/" + w.lab.experiment: func(n int) []byte { return servicetest.JSON(map[string]any{"hypothesis": fmt.Sprint("text ", n)}) },
		"/api/v1/annotations/" + w.annotation:     func(n int) []byte { return servicetest.JSON(map[string]any{"content": fmt.Sprint("note ", n)}) },
	} {
		w.conditional(t, path, body)
	}
	status, answer, h := w.Raw("PATCH", "/api/v1/assets/bulk-tag", w.Key, servicetest.JSON(map[string]any{"asset_hs": []string{w.asset.Asset.AssetH}, "operation": "add", "tags": []string{"never"}}),
		http.Header{"If-Match": {`"v1"`}})
	if status != http.StatusPreconditionFailed || isProblem(t, "bulk-tag", status, answer, h).Code != library.CodePreconditionFailed {
		t.Errorf("a write of many things does not refuse the condition: %d %s", status, answer)
	}
}

// conditional reads and changes the thing at a path, with each condition on its version; body returns the n-th change of it.
func (w world) conditional(t *testing.T, path string, body func(n int) []byte) {
	t.Helper()
	at := path
	if strings.Contains(path, "/experiments/") {
		at += "/summary"
	}
	read := func() string {
		status, _, h := w.Raw("GET", at, w.Key, nil, nil)
		if tag := h.Get("ETag"); status == 200 && strings.HasPrefix(tag, `"`) {
			return tag
		}
		t.Fatalf("%s: %d, ETag %q", path, status, h.Get("ETag"))
		return ""
	}
	change := func(n int, match string) (int, http.Header) {
		status, answer, h := w.Raw("PATCH", path, w.Key, body(n), http.Header{"If-Match": {match}})
		if status == http.StatusPreconditionFailed && isProblem(t, path, status, answer, h).Code != library.CodePreconditionFailed {
			t.Errorf("%s: %s", path, answer)
		}
		return status, h
	}
	first := read()
	status, h := change(1, first)
	if second := h.Get("ETag"); status != 200 || second == "" {
		t.Errorf("%s: the version that was read: %d, ETag %q", path, status, second)
	} else if status, _ := change(2, `"other", `+second); status != 200 {
		t.Errorf("%s: the version that the change returned: %d", path, status)
	}
	for _, match := range []string{first, `"other"`, "W/" + read(), "nonsense"} {
		if status, _ := change(3, match); status != http.StatusPreconditionFailed {
			t.Errorf("%s: If-Match %s: %d", path, match, status)
		}
	}
	before := read()
	if status, _ := change(4, "*"); status != 200 {
		t.Errorf("%s: any version: %d", path, status)
	}
	if after := read(); after == before {
		t.Errorf("%s: the ETag is %s before and after a change", path, before)
	}
	if status, _, _ := w.Raw("GET", at, w.Key, nil, http.Header{"If-None-Match": {read()}}); status != http.StatusNotModified {
		t.Errorf("%s: unchanged: %d", path, status)
	}
	if status, _, _ := w.Raw("GET", at, w.Key, nil, http.Header{"If-Match": {first}}); status != http.StatusPreconditionFailed {
		t.Errorf("%s: reading a version that is gone: %d", path, status)
	}
}
