package mcp_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vitrine/internal/echo"
	"vitrine/internal/randtest"
	"vitrine/op"
)

// answers asks all three ways and gives what a client would read, without what
// names the single request.
func answers(t testing.TB, s *echo.Server, clients []*echo.Client, o op.Operation, args map[string]any) []any {
	t.Helper()
	path := o.Path
	body := map[string]any{}
	for name, v := range args {
		body[name] = v
	}
	if v, ok := args["asset_h"].(string); ok && strings.Contains(path, "{asset_h}") {
		path = strings.ReplaceAll(path, "{asset_h}", url.PathEscape(v))
		delete(body, "asset_h")
	}
	var payload any = body
	if o.Method == "GET" || o.Method == "DELETE" {
		payload = nil
		query := url.Values{}
		for name, v := range body {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			query.Set(name, strings.Trim(string(raw), `"`))
		}
		path += "?" + query.Encode()
	}
	rest := parsed(t, s.Do(t, o.Method, path, payload, "X-API-Key", s.Admin).Body)
	all := []any{rest}
	for _, c := range clients {
		all = append(all, parsed(t, c.Call(t, o.Name, args, nil).Answer()))
	}
	for _, x := range all {
		m := x.(map[string]any)
		delete(m, "request_id")
		delete(m, "attachments")
	}
	return all
}

func theSameArgumentsGiveTheSameAnswerOverEveryTransport(t *testing.T, s *echo.Server) {
	clients := []*echo.Client{s.Connect(t, echo.Modern, s.Admin), s.Connect(t, echo.Legacy, s.Admin)}
	compare := func(o op.Operation, args map[string]any) {
		t.Helper()
		all := answers(t, s, clients, o, args)
		for i, got := range all[1:] {
			if diff := cmp.Diff(all[0], got); diff != "" {
				t.Errorf("%s %v: REST and %s differ: %s", o.Name, args, clients[i].Era, diff)
			}
		}
	}
	for _, o := range s.Catalog().Operations {
		if o.Name == "EchoWrite" {
			continue // its answers count
		}
		raw, err := json.Marshal(o.Example)
		if err != nil {
			t.Fatal(err)
		}
		args := map[string]any{}
		if err := json.Unmarshal(raw, &args); err != nil {
			t.Fatal(err)
		}
		compare(o, args)
		args["nonsense"] = "x"
		compare(o, args)
	}
	fail, _ := s.Catalog().Find("EchoFail")
	for _, kind := range []string{"invalid", "not_found", "conflict", "gone", "precondition", "unprocessable", "rate_limited", "unavailable", "storage_full", "internal", "plain", "panic"} {
		compare(fail, map[string]any{"kind": kind})
	}
	plain, _ := s.Catalog().Find("Echo")
	randtest.Check(t, func(rt *rapid.T) {
		args := rapid.MapOfN(rapid.SampledFrom([]string{"text", "count", "orderBy", "order_by", "tags", "filters", "seed", "exact", "tenant_id", "either", "other"}),
			rapid.OneOf(rapid.SampledFrom([]any{nil, "", "fox", "created", true, 1.5, 7, []any{"a"}, []any{1}, map[string]any{"status": "Draft"}, map[string]any{"stat": 1}, string(s.Other)}),
				rapid.Uint64().AsAny(), rapid.String().AsAny()), 0, 5).Draw(rt, "args")
		all := answers(t, s, clients, plain, args)
		for _, got := range all[1:] {
			if diff := cmp.Diff(all[0], got); diff != "" {
				rt.Fatalf("%v: %s", args, diff)
			}
		}
	})
}
