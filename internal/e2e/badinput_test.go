package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/service/servicetest"
)

// TestBadInput_AnsweredWithItsCodeAndFieldAndStoresNothing is the list of what
// clients get wrong, each with the documented answer.
func TestBadInput_AnsweredWithItsCodeAndFieldAndStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.usage()
	asset := "/api/v1/assets/" + string(w.asset.Asset.AssetH)
	for _, c := range slices.Concat(badSearches, badChanges(asset), w.badFiles(), w.badRoutes(asset)) {
		w.answers(c)
	}
	if after := w.usage(); after != before {
		t.Errorf("bad input changed the library from %s to %s", before, after)
	}
}

// badRequest is what a client gets wrong, and the documented answer.
type badRequest struct {
	name, method, path string
	body               any
	status             int
	code, field        string
}

// badSearches are searches that cannot be understood.
var badSearches = []badRequest{
	{"malformed JSON", "POST", "/api/v1/assets/search", []byte(`{"query": `), 400, library.CodeMalformedJSON, ""},
	{"not an object", "POST", "/api/v1/assets/search", []byte(`[1]`), 400, library.CodeMalformedJSON, ""},
	{"two values", "POST", "/api/v1/assets/search", []byte(`{} {}`), 400, library.CodeMalformedJSON, ""},
	{"deep nesting", "POST", "/api/v1/assets/search", []byte(strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)), 400, library.CodeMalformedJSON, ""},
	{"unknown argument", "POST", "/api/v1/assets/search", map[string]any{"qurey": "x"}, 400, library.CodeValidationFailed, "qurey"},
	{"limit 0", "POST", "/api/v1/assets/search", map[string]any{"limit": 0}, 400, library.CodeValidationFailed, "limit"},
	{"limit 101", "POST", "/api/v1/assets/search", map[string]any{"limit": 101}, 400, library.CodeValidationFailed, "limit"},
	{"limit of text", "POST", "/api/v1/assets/search", map[string]any{"limit": "many"}, 400, library.CodeValidationFailed, "limit"},
	{"offset beyond the end", "POST", "/api/v1/assets/search", map[string]any{"offset": 10001}, 400, library.CodeValidationFailed, "offset"},
	{"unknown mode", "POST", "/api/v1/assets/search", map[string]any{"search_mode": "psychic"}, 400, library.CodeValidationFailed, "search_mode"},
	{"unknown status in a filter", "POST", "/api/v1/assets/search", map[string]any{"filters": map[string]any{"status": "Nope"}}, 400, library.CodeValidationFailed, "filters.status"},
	{"query and vector", "POST", "/api/v1/assets/search", map[string]any{"query": "x", "query_vector": []float64{1}, "embedding_configuration_h": "x"}, 400, library.CodeValidationFailed, "query_vector"},
	{"query of 5,000 bytes", "POST", "/api/v1/assets/search", map[string]any{"query": strings.Repeat("x", 5000)}, 400, library.CodeQueryTooComplex, ""},
	{"strict mode and a slip", "POST", "/api/v1/assets/search", map[string]any{"query": "(a OR", "search_mode": "boolean"}, 400, library.CodeQuerySyntax, ""},
	{"unknown facet", "POST", "/api/v1/assets/facets", map[string]any{"facets": []string{"mood"}}, 400, library.CodeValidationFailed, "facets[0]"},
	{"no such asset", "GET", "/api/v1/assets/" + strings.Repeat("e", 40), nil, 404, library.CodeNotFound, ""},
	{"no hash", "GET", "/api/v1/assets/lighthouse", nil, 400, library.CodeValidationFailed, "asset_h"},
}

// badRoutes are requests that no operation takes.
func (w world) badRoutes(asset string) []badRequest {
	return []badRequest{
		{"an unknown operation", "POST", "/api/v1/operations/nope/undo", nil, 404, library.CodeNotFound, ""},
		{"a body of 5 MB", "POST", "/api/v1/assets", bytes.Repeat([]byte("x"), 5<<20), 413, library.CodePayloadTooLarge, ""},
		{"no such route", "GET", "/api/v1/nope", nil, 404, library.CodeNotFound, ""},
		{"no such method", "DELETE", "/api/v1/assets/search", nil, 405, library.CodeMethodNotAllowed, ""},
		{"the key in the URL", "GET", asset + "?api_key=" + w.Key, nil, 400, library.CodeKeyInURL, ""},
	}
}

// badChanges are changes that an asset cannot take.
func badChanges(asset string) []badRequest {
	hashes := make([]string, 101)
	for i := range hashes {
		hashes[i] = fmt.Sprintf("%040x", i)
	}
	return []badRequest{
		{"unknown status", "PATCH", asset, map[string]any{"status": "Nope"}, 400, library.CodeValidationFailed, "status"},
		{"nothing to update", "PATCH", asset, map[string]any{}, 400, library.CodeValidationFailed, "title"},
		{"a title of 501 characters", "PATCH", asset, map[string]any{"title": strings.Repeat("ä", 501)}, 400, library.CodeValidationFailed, "title"},
		{"a description of 5,001 characters", "PATCH", asset, map[string]any{"description": strings.Repeat("x", 5001)}, 400, library.CodeValidationFailed, "description"},
		{"a tag of 101 characters", "PATCH", asset, map[string]any{"tags": []string{"ok", strings.Repeat("x", 101)}}, 400, library.CodeValidationFailed, "tags[1]"},
		{"a tag of blanks", "PATCH", asset, map[string]any{"tags": []string{"  "}}, 400, library.CodeValidationFailed, "tags[0]"},
		{"501 tags", "PATCH", asset, map[string]any{"tags": hashes5(501)}, 400, library.CodeValidationFailed, "tags"},
		{"101 asset hashes", "PATCH", "/api/v1/assets/bulk-tag", map[string]any{"asset_hs": hashes, "operation": "add", "tags": []string{"x"}}, 400, library.CodeValidationFailed, "asset_hs"},
		{"51 tags", "PATCH", "/api/v1/assets/bulk-tag", map[string]any{"asset_hs": hashes[:1], "operation": "add", "tags": hashes5(51)}, 400, library.CodeValidationFailed, "tags"},
		{"an unknown tag operation", "PATCH", "/api/v1/assets/bulk-tag", map[string]any{"asset_hs": hashes[:1], "operation": "toggle", "tags": []string{"x"}}, 400, library.CodeValidationFailed, "operation"},
	}
}

// badFiles are files that cannot be stored.
func (w world) badFiles() []badRequest {
	foreign := string(w.NewTenant("other")) + "/uploads/0198c5a0-0000-7000-8000-000000000000/x.png"
	dot := base64.StdEncoding.EncodeToString(w.data)
	store := func(changes map[string]any) map[string]any {
		in := map[string]any{"filename": "x.png", "mime_type": "image/png"}
		for k, v := range changes {
			in[k] = v
		}
		return in
	}
	return []badRequest{
		{"no data", "POST", "/api/v1/assets", store(nil), 400, library.CodeValidationFailed, "asset_data_base64"},
		{"two kinds of data", "POST", "/api/v1/assets", store(map[string]any{"asset_data_base64": dot, "storagePath": "x"}), 400, library.CodeValidationFailed, "storage_path"},
		{"bad base64", "POST", "/api/v1/assets", store(map[string]any{"asset_data_base64": "?!*"}), 400, library.CodeValidationFailed, "asset_data_base64"},
		{"an empty file", "POST", "/api/v1/assets", store(map[string]any{"asset_data_base64": "===="}), 400, library.CodeEmptyFile, ""},
		{"a wrong type that must not be", "POST", "/api/v1/assets", map[string]any{"filename": "x.mp4", "mime_type": "video/mp4", "asset_data_base64": dot, "allow_content_type_mismatch": false}, 400, library.CodeValidationFailed, "mime_type"},
		{"no MIME type", "POST", "/api/v1/assets", map[string]any{"filename": "x", "mime_type": "picture", "asset_data_base64": dot}, 400, library.CodeValidationFailed, "mime_type"},
		{"a file name of dots", "POST", "/api/v1/assets", map[string]any{"filename": "../..", "mime_type": "image/png", "asset_data_base64": dot}, 400, library.CodeValidationFailed, "filename"},
		{"a poster for a picture", "POST", "/api/v1/assets", store(map[string]any{"asset_data_base64": dot, "poster_image_base64": dot}), 400, library.CodeValidationFailed, "poster_image_base64"},
		{"another tenant's storage path", "POST", "/api/v1/assets", store(map[string]any{"asset_storage_ref": map[string]any{"storagePath": foreign}}), 400, library.CodeValidationFailed, "asset_storage_ref.storagePath"},
		{"a storage path without bytes", "POST", "/api/v1/assets", store(map[string]any{"storagePath": string(w.Tenant) + "/uploads/0198c5a0-0000-7000-8000-000000000000/x.png"}), 400, library.CodeValidationFailed, "asset_storage_ref.storagePath"},
	}
}

// answers sends what a client gets wrong, and compares the answer.
func (w world) answers(c badRequest) {
	t := w.T
	t.Helper()
	raw, ok := c.body.([]byte)
	if !ok && c.body != nil {
		raw = servicetest.JSON(c.body)
	}
	status, answer, _ := w.Raw(c.method, c.path, w.Key, raw, nil)
	var p struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
		Errors []struct{ Field, Message string }
	}
	if err := decode(answer, &p); err != nil || status != c.status || p.Code != c.code || p.Detail == "" {
		t.Errorf("%s: %d %.300s", c.name, status, answer)
		return
	}
	named := c.field == ""
	for _, e := range p.Errors {
		named = named || e.Field == c.field && e.Message != ""
	}
	if !named {
		t.Errorf("%s: no error names the field %s: %+v", c.name, c.field, p.Errors)
	}
	if len(answer) > 4000 || bytes.Contains(answer, []byte(w.Key)) {
		t.Errorf("%s: the answer repeats what was sent (%d bytes)", c.name, len(answer))
	}
}

// TestBadInput_LyingAndBrokenFilesAreStoredForWhatTheyAre: a person's folder holds them, and
// none may be lost, crash the service or pass for something else.
func TestBadInput_LyingAndBrokenFilesAreStoredForWhatTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	whole := picture(50, "a broken lighthouse")
	for name, c := range map[string]struct {
		data []byte
		mime string
	}{
		"truncated.png":     {whole[:len(whole)/2], "image/png"},
		"picture.jpg":       {picture(51, ""), "image/png"},
		"text.png":          {[]byte("no picture at all"), "text/plain"},
		"header only.png":   {whole[:40], "image/png"},
		"zip bomb-ish.webp": {[]byte("RIFF\xff\xff\xff\xffWEBPVP8L\xff\xff\xff\xff\x2f\xff\xff\xff\xff"), "image/webp"},
	} {
		got := w.StoreFile("", name, "image/png", c.data)
		var d struct {
			MIMEType string `json:"mime_type"`
		}
		w.Call(http.MethodGet, "/api/v1/assets/"+string(got.Asset.AssetH)+"?include_image=true&include_raw_metadata=true", nil, &d)
		if d.MIMEType != c.mime {
			t.Errorf("%s is taken for %s, want %s", name, d.MIMEType, c.mime)
		}
		if status, body, _ := w.Raw(http.MethodGet, "/api/v1/assets/"+string(got.Asset.AssetH)+"/download", w.Key, nil, nil); status != 200 || !bytes.Equal(body, c.data) {
			t.Errorf("%s does not come back byte for byte: %d", name, status)
		}
	}
}

// TestBadInput_LargeBodyIsRefusedOverMCPToo: the limit is the endpoint's, not a tool's.
func TestBadInput_LargeBodyIsRefusedOverMCPToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.mcp(echo.Modern, w.Key).Send(t, "tools/call", map[string]any{"name": "StoreAsset", "arguments": map[string]any{"asset_data_base64": strings.Repeat("A", 5<<20)}})
	if a.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d", a.Status)
	}
}

func hashes5(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint("tag", i)
	}
	return out
}
