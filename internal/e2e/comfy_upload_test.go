package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/api/client"
	"vitrine/library"
	"vitrine/service/servicetest"
)

// node is a save node of ComfyUI: it knows the server and a key.
type node struct {
	world
	key string
}

// post sends JSON as the published node does, with the key as a bearer.
func (n node) post(path string, body map[string]any) (int, map[string]any) {
	n.T.Helper()
	status, answer, _ := n.Raw("POST", path, "", servicetest.JSON(body), http.Header{"Authorization": {"Bearer " + n.key}})
	var out map[string]any
	if err := json.Unmarshal(answer, &out); err != nil {
		n.T.Fatalf("%s answers %d %s", path, status, answer)
	}
	return status, out
}

// comfyUpload sends the 1,024 bytes of the example of ConfirmComfyUpload, and returns where they wait.
func (w world) comfyUpload() string {
	w.T.Helper()
	signed, err := w.Client("").CreateComfyUpload(w.T.Context(), client.CreateComfyUploadInput{Filename: "fox.png", ContentType: "image/png"})
	if err != nil {
		w.T.Fatal(err)
	}
	data := append(picture(8300, ""), make([]byte, 1024)...)[:1024]
	if status, body, _ := w.Raw("PUT", strings.TrimPrefix(signed.SignedURL, w.URL), "", data, http.Header{"Content-Type": {"image/png"}}); status != http.StatusOK {
		w.T.Fatalf("the PUT answers %d %s", status, body)
	}
	return signed.Path
}

// save runs the three steps of the node.
func (n node) save(name, mime string, data []byte) (int, map[string]any) {
	n.T.Helper()
	status, signed := n.post("/api/v1/comfy-lineage/asset/signed-url", map[string]any{"filename": name, "contentType": mime})
	if status != http.StatusOK || signed["token"] == "" {
		return status, signed
	}
	url, path := signed["signedUrl"].(string), signed["path"].(string)
	if status, body, _ := n.Raw("PUT", strings.TrimPrefix(url, n.URL), "", data, http.Header{"Content-Type": {mime}}); status != http.StatusOK {
		n.T.Fatalf("the PUT answers %d %s", status, body)
	}
	return n.post("/api/v1/import/comfyui/confirm-upload", map[string]any{"path": path, "filename": name, "fileSize": len(data), "mimeType": mime})
}

// TestComfyUpload_ThePublishedSaveNodeStoresWithAKeyThatMayDoNothingElse follows the
// node's contract with a key that has comfy-ingest alone.
func TestComfyUpload_ThePublishedSaveNodeStoresWithAKeyThatMayDoNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	n := node{w, w.NewKey(w.Tenant, library.PermIngest)}
	data, err := os.ReadFile(comfyPNG(t))
	if err != nil {
		t.Fatal(err)
	}
	status, out := n.save("ComfyUI_00001_.png", "image/png", data)
	asset, _ := out["asset"].(map[string]any)
	if status != http.StatusOK || out["success"] != true || asset["toolName"] != "ComfyUI" || asset["fileSize"] != float64(len(data)) || out["warning"] != nil {
		t.Fatalf("saving answers %d %v", status, out)
	}
	hash := asset["assetH"].(string)
	if url := out["url"].(string); !strings.HasPrefix(url, n.URL+"/?q=asset_h:"+hash) {
		t.Errorf("the gallery link is %q", url)
	}
	if status, again := n.save("ComfyUI_00002_.png", "image/png", data); status != http.StatusOK || again["asset"].(map[string]any)["created"] != false {
		t.Errorf("saving again answers %d %v", status, again)
	}
	if status, plain := n.save("plain.png", "image/png", picture(8200, "")); status != http.StatusOK || plain["warning"] == nil {
		t.Errorf("a file without a workflow is answered %d %v", status, plain)
	}
	for path, body := range map[string]map[string]any{
		"/api/v1/assets/search": {"query": "x"}, "/api/v1/assets": {"filename": "x.png", "mime_type": "image/png", "asset_data_base64": "Zm94"}, "/api/v1/trash": {"asset_hs": []any{hash}, "operation": "trash"},
	} {
		if status, out := n.post(path, body); status != http.StatusForbidden || codeOf(out) != library.CodePermissionRequired {
			t.Errorf("POST %s with the key is answered %d %v", path, status, out)
		}
	}
	for _, path := range []string{"/api/v1/assets/" + hash, "/api/v1/assets/" + hash + "/download", "/api/v1/events", "/api/v1/trash"} {
		if status, _, _ := n.Raw("GET", path, n.key, nil, nil); status != http.StatusForbidden {
			t.Errorf("GET %s with the key is answered %d", path, status)
		}
	}
	if status, out := n.post("/api/v1/import/comfyui/confirm-upload", map[string]any{"path": string(n.Tenant) + "/uploads/x/y.png", "filename": "y.png", "fileSize": 1, "mimeType": "image/png"}); status != http.StatusNotFound {
		t.Errorf("a path of no upload is answered %d %v", status, out)
	}
	other := node{w, w.NewKey(w.NewTenant("other comfy"), library.PermIngest)}
	_, signed := n.post("/api/v1/comfy-lineage/asset/signed-url", map[string]any{"filename": "x.png", "contentType": "image/png"})
	if status, out := other.post("/api/v1/import/comfyui/confirm-upload", map[string]any{"path": signed["path"], "filename": "x.png", "fileSize": 1, "mimeType": "image/png"}); status != http.StatusNotFound {
		t.Errorf("another tenant's path is answered %d %v", status, out)
	}
	if status, _ := (node{w, w.NewKey(w.Tenant, library.PermSearch)}).save("x.png", "image/png", data); status != http.StatusForbidden {
		t.Errorf("a key without the permission is answered %d", status)
	}
	if status, out := (node{w, w.NewKey(w.Tenant, library.PermWrite)}).save("w.png", "image/png", picture(8201, "")); status != http.StatusOK {
		t.Errorf("a key with write is answered %d %v", status, out)
	}
	if status, _ := (node{w, "napi_mistyped"}).save("x.png", "image/png", data); status != http.StatusUnauthorized {
		t.Errorf("no key of this service is answered %d", status)
	}
	if f := w.Search("", "asset_h:"+hash, w.StoreFile("", "z.png", "image/png", picture(8202, ""), "z").IndexToken); !f.Has(hash) {
		t.Error("what the node saved is not found")
	}
}

// comfyPNG writes a picture as ComfyUI does, with the graph that was executed.
func comfyPNG(t *testing.T) string {
	t.Helper()
	graph := `{"3":{"class_type":"KSampler","inputs":{"seed":5,"steps":20,"cfg":7.0,"sampler_name":"euler","scheduler":"normal","denoise":1.0,"model":["4",0],"positive":["6",0],"negative":["7",0],"latent_image":["5",0]}},` +
		`"4":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"lighthouse.safetensors"}},"5":{"class_type":"EmptyLatentImage","inputs":{"width":512,"height":512,"batch_size":1}},` +
		`"6":{"class_type":"CLIPTextEncode","inputs":{"text":"a comfy lighthouse","clip":["4",1]}},"7":{"class_type":"CLIPTextEncode","inputs":{"text":"blur","clip":["4",1]}},` +
		`"8":{"class_type":"VAEDecode","inputs":{"samples":["3",0],"vae":["4",2]}},"9":{"class_type":"SaveImage","inputs":{"images":["8",0],"filename_prefix":"ComfyUI"}}}`
	path := filepath.Join(t.TempDir(), "ComfyUI_00001_.png")
	if err := os.WriteFile(path, withText(picture(8203, ""), "prompt", graph), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
