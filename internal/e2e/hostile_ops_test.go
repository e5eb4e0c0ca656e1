package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/internal/echo"
	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/op"
	"vitrine/service/servicetest"
)

// attack is one request and what it is to be known by.
type attack struct {
	what         string
	method, path string
	header       http.Header
	body         []byte
}

// TestEveryOperation_AnswersHostileInputWithoutAServerError sends every operation, by
// its route and as a tool, what its schema asks for mixed with what nobody should
// send. Nothing may answer 5xx, hang, or leave the service in disorder.
func TestEveryOperation_AnswersHostileInputWithoutAServerError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := []string{w.asset.Asset.AssetH, string(worldModel), w.operation, w.saved, string(w.Tenant), w.asset.IndexToken, "lighthouse.png", "sea", "fog", "*"}
	for _, seed := range randtest.Seeds(t) {
		for n, o := range w.Catalog.Operations {
			h := fuzzer{randtest.NewRand(seed, uint64(n)), known}
			for range randtest.Cases(t, 15) {
				w.attackBoth(h, o, h.object(o.Input, 0))
			}
			for _, name := range sortedNames(o.Input.Properties) { // one wrong argument among right ones gets further
				for range randtest.Cases(t, 6) {
					args := w.args(o)
					delete(args, name)
					w.attackBoth(h, o, strings.Replace(string(servicetest.JSON(args)), "{", "{"+h.plainly(name)+":"+h.value(o.Input.Properties[name], 0)+strings.Repeat(",", min(len(args), 1)), 1))
				}
			}
		}
		h := fuzzer{randtest.NewRand(seed, 10_000), known}
		for range randtest.Cases(t, 100) {
			w.attack(h.plainRoute(w))
		}
	}
	if line := firstLineWith(w.Logs.Tail(1<<26), "panic", "level=ERROR"); line != "" {
		t.Errorf("the service logged a defect: %s", line)
	}
	if err := w.Ready(t.Context()); err != nil {
		t.Errorf("afterwards the service is not ready: %v", err)
	}
	stored := w.StoreFile("", "after.png", "image/png", picture(99, "after the storm"), "calm")
	if f := w.Search("", "tag:calm", stored.IndexToken); f.Total != 1 {
		t.Errorf("afterwards a new file is not found: %+v", f)
	}
}

// worldsImport is logged where the worker reads the import of a test's world before it is
// cancelled: no operator allows its folder.
const worldsImport = "The root samples is not one that the operator allows"

func firstLineWith(text string, words ...string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, worldsImport) {
			continue
		}
		for _, w := range words {
			if strings.Contains(line, w) {
				return line[:min(len(line), 2000)]
			}
		}
	}
	return ""
}

// attackBoth sends arguments to an operation's route, and now and then as a tool.
func (w world) attackBoth(h fuzzer, o op.Operation, args string) {
	w.T.Helper()
	w.attack(h.route(w, o, args))
	if !o.RESTOnly && h.chance(30) {
		w.attackTool(o, args)
	}
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// route makes a request to an operation's route. What goes into the path or the query
// is taken from the arguments as text.
func (h fuzzer) route(w world, o op.Operation, args string) attack {
	var values map[string]json.RawMessage
	_ = json.Unmarshal([]byte(args), &values) // what is no JSON goes nowhere but into a body
	path := placeholder.ReplaceAllStringFunc(o.Path, func(m string) string {
		name := strings.Trim(m, "{}")
		text := plainText(values[name])
		if text == "" || text == "." || text == ".." { // that is another route
			text = h.known[h.IntN(len(h.known))]
		}
		if o.Method != http.MethodGet && o.Method != http.MethodDelete && h.chance(80) {
			args = strings.Replace(args, h.plainly(name)+":", `"ignored_`+name+`":`, 1)
		}
		return url.PathEscape(text[:min(len(text), 3000)])
	})
	a := attack{what: o.Name, method: o.Method, path: path, header: http.Header{}}
	if o.Method == http.MethodGet || o.Method == http.MethodDelete {
		a.path += "?" + h.queryOf(o, values)
	} else {
		a.body = []byte(args)
	}
	if !o.ReadOnly && h.chance(10) {
		a.header.Set("Idempotency-Key", strings.Map(visible, h.word()))
	}
	return a
}

// visible keeps what Go's client sends in a header.
func visible(r rune) rune {
	if r < 0x20 || r == 0x7f {
		return '?'
	}
	return r
}

func plainText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (h fuzzer) queryOf(o op.Operation, values map[string]json.RawMessage) string {
	var parts []string
	for name, raw := range values {
		if strings.Contains(o.Path, "{"+name+"}") {
			continue
		}
		text := plainText(raw)
		parts = append(parts, url.QueryEscape(name)+"="+url.QueryEscape(text[:min(len(text), 20_000)]))
		switch h.IntN(30) {
		case 0:
			parts = append(parts, url.QueryEscape(name)+"=x")
		case 1:
			parts = append(parts, url.QueryEscape(name)+"=%ff%fe")
		case 2:
			parts = append(parts, url.QueryEscape(name)+"=%zz")
		case 3:
			parts = append(parts, url.QueryEscape(name+"[status]")+"="+url.QueryEscape(h.word()))
		}
	}
	return strings.Join(parts, "&")
}

// plainRoute makes a request to what is no operation: files, previews, uploads, the
// pages, the tools' endpoint.
func (h fuzzer) plainRoute(w world) attack {
	segment := func() string { s := h.word(); return url.PathEscape(s[:min(len(s), 2000)]) }
	a := attack{method: http.MethodGet, header: http.Header{}}
	switch h.IntN(7) {
	case 0:
		a.path = "/files/" + segment() + "/" + segment()
	case 1:
		a.path = "/previews/" + segment() + "?size=" + url.QueryEscape(h.word())
	case 2:
		a.method, a.path, a.body = http.MethodPut, "/api/v1/storage/upload/"+segment(), []byte(h.text())
	case 3:
		a.path = "/api/v1/assets/" + segment() + "/thumbnail?size=" + url.QueryEscape(pick(h, numbers))
	case 4:
		a.path = "/api/v1/assets/" + url.PathEscape(pick(h, h.known)) + "/download"
		a.header.Set("Range", "bytes="+strings.Map(visible, pick(h, numbers)+"-"+pick(h, numbers)))
	case 5:
		a.path = "/" + segment() + "?" + url.QueryEscape(h.word())
	default:
		a.method, a.path, a.body = http.MethodPost, "/mcp", []byte(`{"jsonrpc":`+h.anything()+`,"id":`+h.anything()+`,"method":`+h.quoted(pick(h, []string{"tools/call", "tools/list", "resources/read", "prompts/get", "initialize", h.word()}))+`,"params":`+h.anything()+`}`)
		a.header.Set("Accept", "application/json, text/event-stream")
	}
	a.what = a.path[:min(len(a.path), 40)]
	return a
}

// slowest is how long an answer may take. It is far above what any takes, so that a
// busy machine fails nothing, and below what a client waits.
const slowest = 20 * time.Second

// attack sends a request and checks what every answer must be.
func (w world) attack(a attack) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), slowest)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, a.method, w.URL+a.path, bytes.NewReader(a.body))
	if err != nil {
		return // Go's client does not send such a request
	}
	req.Header = a.header
	req.Header.Set("X-API-Key", w.Key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.T.Errorf("%s %s got no answer: %v\n%s", a.method, clip(a.path), err, clip(string(a.body)))
		return
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		w.T.Errorf("%s %s: the answer breaks off: %v", a.method, clip(a.path), err)
	}
	var p struct {
		Code   string `json:"code"`
		Detail string `json:"detail"`
	}
	switch {
	case res.StatusCode >= http.StatusInternalServerError:
		w.T.Errorf("%s: %s %s answered %d %s\n%s\n%s", a.what, a.method, clip(a.path), res.StatusCode, clip(string(answer)), clip(string(a.body)), w.cause(answer))
	case a.what == "" || res.StatusCode < http.StatusBadRequest || a.path == "/mcp" || strings.HasPrefix(res.Header.Get("Content-Type"), "text/"):
	case json.Unmarshal(answer, &p) != nil || p.Code == "" || p.Detail == "":
		w.T.Errorf("%s: %s %s answered %d without a code or a detail: %s", a.what, a.method, clip(a.path), res.StatusCode, clip(string(answer)))
	case len(answer) > 20_000:
		w.T.Errorf("%s: a refusal of %d bytes repeats what was sent", a.what, len(answer))
	}
}

// attackTool sends the same arguments as a call of a tool.
func (w world) attackTool(o op.Operation, args string) {
	w.T.Helper()
	message, headers := w.mcp(echo.Modern, w.Key).Message("tools/call", map[string]any{"name": o.Name, "arguments": "ARGUMENTS"})
	raw, err := json.Marshal(message)
	if err != nil {
		w.T.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(w.T.Context(), slowest)
	defer cancel()
	body := strings.Replace(string(raw), `"ARGUMENTS"`, args, 1)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.T.Errorf("the tool %s gave no answer: %v\n%s", o.Name, err, clip(args))
		return
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusInternalServerError {
		w.T.Errorf("the tool %s answered %d %s, %v\n%s", o.Name, res.StatusCode, clip(string(answer)), err, clip(args))
		return
	}
	list := echo.Answer{Status: res.StatusCode, Header: res.Header, Body: answer}.Messages(w.T)
	last := list[len(list)-1]
	var result echo.ToolResult
	var problem op.Problem
	if last.Result != nil { // a protocol error has none
		if err := json.Unmarshal(last.Result, &result); err != nil {
			w.T.Fatal(err)
		}
		if err := json.Unmarshal(result.Answer(), &problem); result.IsError && err != nil {
			w.T.Errorf("the error of the tool %s is no problem: %v: %s", o.Name, err, clip(string(answer)))
		}
	}
	if last.Error != nil && last.Error.Code == -32603 || result.IsError && (problem.Status >= 500 || problem.Code == library.CodeInternal) {
		w.T.Errorf("the tool %s failed by itself: %s\n%s", o.Name, clip(string(answer)), clip(args))
	}
}

// cause returns what the service logged of a request that it failed.
func (w world) cause(answer []byte) string {
	var p struct {
		ID string `json:"request_id"`
	}
	if json.Unmarshal(answer, &p) != nil || p.ID == "" {
		return ""
	}
	for line := range strings.SplitSeq(w.Logs.Tail(1<<20), "\n") {
		if strings.Contains(line, p.ID) && strings.Contains(line, "cause=") {
			return clip(line)
		}
	}
	return ""
}

func clip(s string) string {
	if len(s) <= 1500 {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:1500], len(s))
}
