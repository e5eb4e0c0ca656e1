package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/op"
	"vitrine/service/servicetest"
)

// isProblem reads an answer that must be one.
func isProblem(t *testing.T, what string, status int, body []byte, h http.Header) op.Problem {
	t.Helper()
	var p op.Problem
	if err := json.Unmarshal(body, &p); err != nil || h.Get("Content-Type") != "application/problem+json" || p.Status != status || p.Code == "" || p.Detail == "" {
		t.Errorf("%s: no problem: %d %s %.200s", what, status, h.Get("Content-Type"), body)
	}
	return p
}

// TestREST_MethodsOfAPathAreRefusedAndListedTruly: a path with a route of its own is not
// taken for one with a placeholder by the methods that only the latter has.
func TestREST_MethodsOfAPathAreRefusedAndListedTruly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ method, path, allow string }{
		{"PATCH", "/api/v1/assets/search", "POST, OPTIONS"},
		{"GET", "/api/v1/assets/facets", "POST, OPTIONS"},
		{"HEAD", "/api/v1/assets/bulk-tag", "PATCH, OPTIONS"},
		{"DELETE", "/api/v1/assets/" + w.asset.Asset.AssetH, "GET, HEAD, PATCH, OPTIONS"},
		{"QUERY", "/api/v1/assets/search", "POST, OPTIONS"},
		{"TRACE", "/healthz", "GET, HEAD, OPTIONS"},
		{"POST", "/openapi.json", "GET, HEAD, OPTIONS"},
		{"PUT", "/mcp", "HEAD, POST, DELETE, OPTIONS"},
		{"QUERY", "/mcp", "HEAD, POST, DELETE, OPTIONS"},
	} {
		status, body, h := w.Raw(c.method, c.path, w.Key, nil, nil)
		if status != http.StatusMethodNotAllowed || h.Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q, want %q", c.method, c.path, status, h.Get("Allow"), c.allow)
		}
		if c.method != http.MethodHead {
			isProblem(t, c.method+" "+c.path, status, body, h)
		}
		if status, _, h = w.Raw("OPTIONS", c.path, w.Key, nil, nil); status != http.StatusNoContent || h.Get("Allow") != c.allow {
			t.Errorf("OPTIONS %s: %d, Allow %q, want %q", c.path, status, h.Get("Allow"), c.allow)
		}
	}
	for _, c := range []struct{ method, path string }{{"GET", "/nowhere"}, {"GET", "/api/v1/nowhere"}, {"OPTIONS", "/api/v1/nowhere"}, {"QUERY", "/nowhere"}, {"POST", "/"}, {"GET", "/api/v1/assets/search/more"}} {
		if status, body, h := w.Raw(c.method, c.path, w.Key, nil, nil); status != http.StatusNotFound {
			t.Errorf("%s %s: %d", c.method, c.path, status)
		} else {
			isProblem(t, c.method+" "+c.path, status, body, h)
		}
	}
}

// TestREST_WhatWasReadIsMovedAndDeleted: a move and deletions of what has changed since it was
// read are refused, and change nothing.
func TestREST_WhatWasReadIsMovedAndDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runs()
	collection := "/api/v1/collections/" + w.collection
	for _, c := range []struct{ read, method, path string }{
		{collection, "POST", collection + "/move"},
		{collection + "/cards/" + w.card, "DELETE", collection + "/cards/" + w.card},
		{collection, "DELETE", collection},
		{"/api/v1/prompts/" + w.prompt, "DELETE", "/api/v1/prompts/" + w.prompt},
		{"/api/v1/annotations/" + w.annotation, "DELETE", "/api/v1/annotations/" + w.annotation},
	} {
		tag := func() string {
			status, _, h := w.Raw("GET", c.read, w.Key, nil, nil)
			if status != 200 {
				t.Fatalf("GET %s: %d", c.read, status)
			}
			return h.Get("ETag")
		}
		send := func(match string) int {
			status, _, _ := w.Raw(c.method, c.path, w.Key, []byte("{}"), http.Header{"If-Match": {match}})
			return status
		}
		before := tag()
		if status := send(`"other"`); status != http.StatusPreconditionFailed {
			t.Errorf("%s %s of another version: %d", c.method, c.path, status)
		}
		if after := tag(); after != before {
			t.Errorf("%s %s was refused and changed it", c.method, c.path)
		}
		if status := send(before); status != 200 {
			t.Errorf("%s %s of the version that was read: %d", c.method, c.path, status)
		}
	}
}

// TestREST_ARepeatedRequestReturnsTheETagOfTheFirst repeats writes with their idempotency keys.
func TestREST_ARepeatedRequestReturnsTheETagOfTheFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for path, body := range map[string]string{
		"/api/v1/collections/" + w.collection + "/cards": `{"heading":"repeated"}`,
		"/api/v1/prompts":     `{"prompt_text":"a prompt that is repeated"}`,
		"/api/v1/experiments": `{"display_name":"Repeated"}`,
	} {
		var tags []string
		for range 2 {
			status, answer, h := w.Raw("POST", path, w.Key, []byte(body), http.Header{"Idempotency-Key": {"again" + strings.ReplaceAll(path, "/", "-")}})
			if status != http.StatusCreated || (len(tags) == 1) != (h.Get("Idempotency-Replayed") == "true") {
				t.Fatalf("%s: %d %s", path, status, answer)
			}
			tags = append(tags, h.Get("ETag"))
		}
		if tags[0] == "" || tags[0] != tags[1] {
			t.Errorf("%s has the ETags %q", path, tags)
		}
	}
}

// TestREST_WhatIsCreatedIsNamedByLocation: 201 for what is new, 200 for what was there.
func TestREST_WhatIsCreatedIsNamedByLocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asset := servicetest.JSON(map[string]any{"filename": "new.png", "mime_type": "image/png", "asset_data_base64": picture(77, "")})
	for i, want := range []struct {
		status int
		stored bool
	}{{http.StatusCreated, false}, {http.StatusOK, true}} {
		status, body, h := w.Raw("POST", "/api/v1/assets", w.Key, asset, nil)
		var out struct {
			Stored *bool `json:"already_stored"`
			Asset  struct {
				Hash string `json:"asset_h"`
			}
		}
		if err := json.Unmarshal(body, &out); err != nil || status != want.status || out.Stored == nil || *out.Stored != want.stored {
			t.Errorf("StoreAsset, time %d: %d %.200s", i+1, status, body)
		}
		if location := h.Get("Location"); (location != "") != (i == 0) || i == 0 && location != "/api/v1/assets/"+out.Asset.Hash {
			t.Errorf("StoreAsset, time %d: Location %q", i+1, location)
		}
	}
	status, _, h := w.Raw("POST", "/api/v1/saved-searches", w.Key, servicetest.JSON(map[string]any{"name": "Foxes", "query": "fox"}), nil)
	location := h.Get("Location")
	if status != http.StatusCreated || !strings.HasPrefix(location, "/api/v1/saved-searches/") {
		t.Fatalf("CreateSavedSearch: %d, Location %q", status, location)
	}
	if status, _, _ := w.Raw("GET", location, w.Key, nil, nil); status != 200 {
		t.Errorf("GET %s: %d", location, status)
	}
}

// TestREST_ListsLinkTheirNextPage follows Link to the end.
func TestREST_ListsLinkTheirNextPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 4 {
		w.save("", fmt.Sprint("search ", i), "fox")
	}
	for path, field := range map[string]string{"/api/v1/operations?limit=2&tool=CreateSavedSearch": "operation_id", "/api/v1/saved-searches?limit=2": "saved_search_id"} {
		seen, pages := map[string]bool{}, 0
		for next := path; next != ""; pages++ {
			status, body, h := w.Raw("GET", next, w.Key, nil, nil)
			var page struct{ Data []map[string]any }
			if err := json.Unmarshal(body, &page); err != nil || status != 200 || pages > 5 {
				t.Fatalf("%s: %d %v %.200s", next, status, err, body)
			}
			for _, x := range page.Data {
				seen[fmt.Sprint(x[field])] = true
			}
			next = ""
			if link := h.Get("Link"); link != "" {
				target, rel, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
				if rel != `; rel="next"` {
					t.Fatalf("Link %q", link)
				}
				if u, err := url.Parse(target); err != nil || u.Query().Get("limit") != "2" {
					t.Fatalf("Link %q leads elsewhere", link)
				}
				next = target
			}
		}
		if pages != 3 || len(seen) != 5 {
			t.Errorf("%s: %d things on %d pages, want 5 on 3", path, len(seen), pages)
		}
	}
}

// TestREST_TheDocumentIsCompressedAndCached: it has some hundred kilobytes.
func TestREST_TheDocumentIsCompressedAndCached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	status, plain, h := w.Raw("GET", "/openapi.json", "", nil, http.Header{"Accept-Encoding": {"gzip;q=0"}})
	tag := h.Get("ETag")
	if status != 200 || h.Get("Content-Encoding") != "" || tag == "" || !strings.Contains(h.Get("Cache-Control"), "max-age") || !json.Valid(plain) {
		t.Fatalf("plain: %d %v", status, h)
	}
	status, packed, h := w.Raw("GET", "/openapi.json", "", nil, http.Header{"Accept-Encoding": {"br, gzip"}})
	if status != 200 || h.Get("Content-Encoding") != "gzip" || h.Get("ETag") == tag || !strings.Contains(h.Get("Vary"), "Accept-Encoding") || len(packed)*3 > len(plain) {
		t.Fatalf("gzip: %d, %d of %d bytes %v", status, len(packed), len(plain), h)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if back, err := io.ReadAll(z); err != nil || !bytes.Equal(back, plain) {
		t.Errorf("unpacked it is another document: %v", err)
	}
	for _, known := range []string{tag, "*", `"x", ` + tag} {
		if status, body, _ := w.Raw("GET", "/openapi.json", "", nil, http.Header{"Accept-Encoding": {"identity"}, "If-None-Match": {known}}); status != http.StatusNotModified || len(body) > 0 {
			t.Errorf("If-None-Match %s: %d", known, status)
		}
	}
}

// TestREST_WhatTheServerRefusesByItselfIsAProblemToo: answers that no route of ours makes.
func TestREST_WhatTheServerRefusesByItselfIsAProblemToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	status, body, h := w.Raw("GET", "/api/v1/assets/"+w.asset.Asset.AssetH+"/download", w.Key, nil, http.Header{"Range": {"bytes=999999999-"}})
	if isProblem(t, "a range beyond the end", status, body, h); status != http.StatusRequestedRangeNotSatisfiable || h.Get("Content-Range") != fmt.Sprintf("bytes */%d", len(w.data)) {
		t.Errorf("a range beyond the end: %d %v", status, h)
	}
	status, body, _ = w.Raw("GET", "/api/v1/assets/"+w.asset.Asset.AssetH+"/download", w.Key, nil, http.Header{"Range": {"bytes=3-9"}})
	if status != http.StatusPartialContent || !bytes.Equal(body, w.data[3:10]) {
		t.Errorf("a range: %d, %d bytes", status, len(body))
	}
	address := strings.TrimPrefix(w.URL, "http://")
	for what, c := range map[string]struct {
		request string
		status  int
	}{
		"large headers":       {"GET /healthz HTTP/1.1\r\nHost: " + address + "\r\nX-Large: " + strings.Repeat("x", 40<<10) + "\r\n\r\n", 431},
		"very large headers":  {"GET /healthz HTTP/1.1\r\nHost: " + address + "\r\nX-Large: " + strings.Repeat("x", 400<<10) + "\r\n\r\n", 431},
		"a long URL":          {"GET /healthz?" + strings.Repeat("x", 40<<10) + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n", 431},
		"no host":             {"GET /healthz HTTP/1.1\r\n\r\n", 400},
		"no HTTP":             {"hello\r\n\r\n", 400},
		"a bad header":        {"GET /healthz HTTP/1.1\r\nHost: " + address + "\r\nX Y: 1\r\n\r\n", 400},
		"a body of no length": {"POST /api/v1/assets/search HTTP/1.1\r\nHost: " + address + "\r\nContent-Length: x\r\n\r\n", 400},
		"another host":        {"POST /mcp HTTP/1.1\r\nHost: evil.example\r\nX-API-Key: " + w.Key + "\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", 403},
	} {
		status, body, h := raw(t, address, c.request)
		if isProblem(t, what, status, body, h); status != c.status {
			t.Errorf("%s: %d, want %d", what, status, c.status)
		}
	}
}

// raw sends bytes over a connection and reads one answer.
func raw(t *testing.T, address, request string) (int, []byte, http.Header) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go io.WriteString(conn, request) // the server may answer before it has read all
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Errorf("%.40q: %v", request, err)
		return 0, nil, http.Header{}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Errorf("%.40q: %v", request, err)
	}
	return res.StatusCode, body, res.Header
}

// TestTexts_WhatNobodyShouldSendIsRefusedOnBothSurfaces: bytes that are no text, characters
// that a reader does not see, and two values for one name.
func TestTexts_WhatNobodyShouldSendIsRefusedOnBothSurfaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hash := w.asset.Asset.AssetH
	c := w.mcp(echo.Modern, w.Key)
	for what, title := range map[string]string{
		"bytes that are not UTF-8": `"a` + "\xff\xfe" + `"`, "U+0000": `"a\u0000b"`, "a control character": `"a\u0007b"`, "C1": "\"a\u0085b\"",
		"a bidi override": "\"a\u202efdp.exe\"", "a bidi isolate": `"a\u2066b"`, "DEL": `"a\u007fb"`, "twice": `"a","title":"b"`,
	} {
		status, body, h := w.Raw("PATCH", "/api/v1/assets/"+hash, w.Key, []byte(`{"title":`+title+`}`), nil)
		if p := isProblem(t, what, status, body, h); status != 400 || p.Code != library.CodeValidationFailed && p.Code != library.CodeMalformedJSON {
			t.Errorf("%s over REST: %d %s", what, status, body)
		}
		message, headers := c.Message("tools/call", map[string]any{"name": "UpdateAsset", "arguments": map[string]any{"asset_h": hash, "title": "MARK"}})
		sent := bytes.Replace(servicetest.JSON(message), []byte(`"MARK"`), []byte(title), 1)
		header := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			header.Set(headers[i], headers[i+1])
		}
		if status, body, _ = w.Raw("POST", "/mcp", w.Key, sent, header); status == 200 && !bytes.Contains(body, []byte(`"isError":true`)) && !bytes.Contains(body, []byte(`"error":{`)) {
			t.Errorf("%s over MCP: %d %s", what, status, body)
		}
	}
	if got := w.Search("", `title:*`, w.asset.IndexToken); got.Total != 0 {
		t.Errorf("a title was kept: %+v", got.Data)
	}
}

// TestTexts_ExtractedOnesAreShownWithoutUnseenCharacters and kept as they were found.
func TestTexts_ExtractedOnesAreShownWithoutUnseenCharacters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stored := w.StoreFile("", "bidi.png", "image/png", pictureOf(91, "a quiet\u202e harbour\u2066, oil\u0007 paint", "mod\u202eel"))
	w.Search("", "harbour", stored.IndexToken)
	path := "/api/v1/assets/" + stored.Asset.AssetH
	c := w.mcp(echo.Modern, w.Key)
	details := c.Call(t, "GetAssetDetails", map[string]any{"asset_h": stored.Asset.AssetH}, nil)
	_, overREST, _ := w.Raw("GET", path, w.Key, nil, nil)
	_, searched, _ := w.Raw("POST", "/api/v1/assets/search", w.Key, servicetest.JSON(map[string]any{"query": "harbour", "highlight": true}), nil)
	found := c.Call(t, "SearchAssets", map[string]any{"query": "harbour"}, nil)
	for what, text := range map[string]string{"details": string(overREST), "details over MCP": details.Content[0].Text, "a search": string(searched), "a search over MCP": found.Content[0].Text} {
		if !strings.Contains(text, "a quiet harbour, oil paint") || !json.Valid([]byte(text)) && text[0] == '{' {
			t.Errorf("%s has another prompt: %.600s", what, text)
		}
		if i := strings.IndexFunc(text, library.Unseen); i >= 0 || strings.Contains(text, `\u0007`) {
			t.Errorf("%s has characters that nobody sees: %.600s", what, text)
		}
	}
	if _, raw, _ := w.Raw("GET", path+"?include_raw_metadata=true", w.Key, nil, nil); !strings.Contains(string(raw), "quiet\u202e harbour") && !strings.Contains(string(raw), `quiet\u202e harbour`) {
		t.Errorf("the metadata is not as it was found: %.2000s", raw)
	}
}

// TestSearch_ATokenThatNoWriteReturnedIsRefused, over both surfaces; one of a write that
// changed nothing in the index is fine.
func TestSearch_ATokenThatNoWriteReturnedIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := worldOf(servicetest.Shared(t))
	for what, token := range map[string]string{"nonsense": "nonsense", "of no write": "0198c5a0-0000-7000-8000-00000000dead", "of another tenant": other.asset.IndexToken} {
		for _, path := range []string{"/api/v1/assets/search", "/api/v1/assets/facets"} {
			status, body, h := w.Raw("POST", path, w.Key, servicetest.JSON(map[string]any{"query": "fog", "min_index_token": token}), nil)
			if p := isProblem(t, what, status, body, h); status != 400 || len(p.Errors) != 1 || p.Errors[0].Field != "min_index_token" {
				t.Errorf("%s: %s: %d %s", path, what, status, body)
			}
		}
		if r := w.mcp(echo.Modern, w.Key).Call(t, "SearchAssets", map[string]any{"query": "fog", "min_index_token": token}, nil); !r.IsError {
			t.Errorf("%s over MCP is accepted", what)
		}
	}
	var saved struct {
		OperationID string `json:"operation_id"`
	}
	w.Call("POST", "/api/v1/saved-searches", map[string]any{"name": "Wolves", "query": "wolf"}, &saved)
	for _, token := range []string{saved.OperationID, strings.ToUpper(w.asset.IndexToken), ""} {
		var out struct{ Degraded []string }
		w.Call("POST", "/api/v1/assets/search", map[string]any{"query": "fog", "min_index_token": token}, &out)
		if len(out.Degraded) > 0 && out.Degraded[0] == "index_behind" {
			t.Errorf("token %q: degraded %v", token, out.Degraded)
		}
	}
}
