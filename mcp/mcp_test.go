package mcp_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/op"
)

// TestMain also promises that neither the endpoint nor a call leaves a goroutine.
func TestMain(m *testing.M) {
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// TestMCP_Endpoint holds every promise about the endpoint as it comes, over one
// server: a database for each would take most of the time.
func TestMCP_Endpoint(t *testing.T) {
	t.Parallel()
	s := echo.Serve(t, nil)
	for name, test := range map[string]func(*testing.T, *echo.Server){
		"Lists may be kept for a while by their owner only":            listsMayBeKeptForAWhileByTheirOwnerOnly,
		"The list shows only what the key may call":                    theListShowsOnlyWhatTheKeyMayCall,
		"Nothing is reached without a key":                             nothingIsReachedWithoutAKey,
		"The revisions of the protocol are told apart":                 theRevisionsOfTheProtocolAreToldApart,
		"A session serves only the key that opened it":                 aSessionServesOnlyTheKeyThatOpenedIt,
		"One client cannot cancel anothers call":                       oneClientCannotCancelAnothersCall,
		"The same arguments give the same answer over every transport": theSameArgumentsGiveTheSameAnswerOverEveryTransport,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
	for _, era := range echo.Eras {
		for name, test := range map[string]func(*testing.T, *echo.Server, *echo.Client){
			"Every tool is listed with all that clients need":            everyToolIsListedWithAllThatClientsNeed,
			"A result comes structured and as the same text":             aResultComesStructuredAndAsTheSameText,
			"An error is a result with the problem as text alone":        anErrorIsAResultWithTheProblemAsTextAlone,
			"Resources and prompts answer or refuse in their era":        resourcesAndPromptsAnswerOrRefuseInTheirEra,
			"A large body is turned away before it is read":              aLargeBodyIsTurnedAwayBeforeItIsRead,
			"All progress arrives in order before the answer every time": allProgressArrivesInOrderBeforeTheAnswerEveryTime,
			"Many steps at once lose no progress":                        manyStepsAtOnceLoseNoProgress,
			"Without a token or a stream the answer is plain JSON":       withoutATokenOrAStreamTheAnswerIsPlainJSON,
			"Closing the connection cancels the call":                    closingTheConnectionCancelsTheCall,
		} {
			t.Run(string(era)+"/"+name, func(t *testing.T) { test(t, s, s.Connect(t, era, s.Admin)) })
		}
	}
}

// last returns the final message of an answer.
func last(t testing.TB, a echo.Answer) echo.Message {
	t.Helper()
	list := a.Messages(t)
	return list[len(list)-1]
}

type tool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema map[string]any
	Annotations               map[string]any
}

func tools(t testing.TB, c *echo.Client) []tool {
	t.Helper()
	var r struct{ Tools []tool }
	if err := json.Unmarshal(last(t, c.Send(t, "tools/list", nil)).Result, &r); err != nil {
		t.Fatal(err)
	}
	return r.Tools
}

func everyToolIsListedWithAllThatClientsNeed(t *testing.T, s *echo.Server, c *echo.Client) {
	list := tools(t, c)
	if len(list) != len(s.Catalog().Operations) {
		t.Errorf("%d tools, want %d", len(list), len(s.Catalog().Operations))
	}
	if !slices.IsSortedFunc(list, func(a, b tool) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the order is not stable")
	}
	for _, x := range list {
		if x.Title == "" || x.Description == "" || x.InputSchema["type"] != "object" || x.OutputSchema != nil && x.OutputSchema["type"] != "object" {
			t.Errorf("incomplete: %+v", x)
		}
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := x.Annotations[hint].(bool); !ok {
				t.Errorf("%s leaves %s open", x.Name, hint)
			}
		}
	}
	drop := list[slices.IndexFunc(list, func(x tool) bool { return x.Name == "EchoDrop" })]
	if drop.Annotations["destructiveHint"] != true || drop.Annotations["readOnlyHint"] != false {
		t.Errorf("%+v", drop.Annotations)
	}
}

func listsMayBeKeptForAWhileByTheirOwnerOnly(t *testing.T, s *echo.Server) {
	c := s.Connect(t, echo.Modern, s.Admin)
	for method, fresh := range map[string]float64{"tools/list": 300000, "prompts/list": 300000, "resources/list": 300000, "resources/templates/list": 300000, "server/discover": 300000} {
		var r map[string]any
		if err := json.Unmarshal(last(t, c.Send(t, method, nil)).Result, &r); err != nil {
			t.Fatal(err)
		}
		if r["ttlMs"] != fresh || r["cacheScope"] != "private" || r["resultType"] != "complete" {
			t.Errorf("%s: ttlMs %v, cacheScope %v, resultType %v", method, r["ttlMs"], r["cacheScope"], r["resultType"])
		}
	}
}

func theListShowsOnlyWhatTheKeyMayCall(t *testing.T, s *echo.Server) {
	for _, era := range echo.Eras {
		c := s.Connect(t, era, s.Key(t, []library.Permission{library.PermSearch}))
		var names []string
		for _, x := range tools(t, c) {
			names = append(names, x.Name)
		}
		if diff := cmp.Diff([]string{"Echo", "EchoFail", "EchoGet", "EchoList", "EchoSearch", "EchoSteps"}, names); diff != "" {
			t.Error(diff)
		}
		if r := c.Call(t, "EchoWrite", map[string]any{"name": "a"}, nil); !r.IsError || !strings.Contains(string(r.Answer()), `"permission":"write"`) {
			t.Errorf("a call of a hidden tool must name the permission: %s", r.Answer())
		}
	}
}

func aResultComesStructuredAndAsTheSameText(t *testing.T, s *echo.Server, c *echo.Client) {
	r := c.Call(t, "Echo", map[string]any{"text": "<fox & hound>", "orderBy": "created"}, nil)
	if r.IsError || len(r.Content) != 1 || r.Content[0].Type != "text" {
		t.Fatalf("%+v", r)
	}
	if diff := cmp.Diff(parsed(t, r.Structured), parsed(t, []byte(r.Content[0].Text))); diff != "" {
		t.Error(diff)
	}
	if strings.ContainsAny(r.Content[0].Text, "\n\t") || !strings.Contains(r.Content[0].Text, "<fox & hound>") {
		t.Errorf("the text costs more than it must: %s", r.Content[0].Text)
	}
	r = c.Call(t, "EchoGet", map[string]any{"asset_h": strings.Repeat("a", 40), "include_image": true}, nil)
	if len(r.Content) != 2 || r.Content[1].Type != "image" || r.Content[1].MimeType != "image/png" || r.Content[1].Data != base64.StdEncoding.EncodeToString(echo.Pixel) {
		t.Errorf("%+v", r)
	}
	if strings.Contains(string(r.Structured), "base64") {
		t.Errorf("the picture comes twice: %s", r.Structured)
	}
}

func anErrorIsAResultWithTheProblemAsTextAlone(t *testing.T, s *echo.Server, c *echo.Client) {
	for args, want := range map[string]string{
		`{"text":"a","tagz":[]}`: "tagz",
		`{"count":0}`:            "text",
		`[]`:                     "",
	} {
		r := c.Call(t, "Echo", json.RawMessage(args), nil)
		var p op.Problem
		if err := json.Unmarshal(r.Answer(), &p); err != nil || !r.IsError {
			t.Fatalf("%s: %v %s", args, err, r.Answer())
		}
		if p.Status != 400 || p.RequestID == "" || want != "" && !slices.ContainsFunc(p.Errors, func(f library.FieldError) bool { return f.Field == want }) {
			t.Errorf("%s: %s", args, r.Answer())
		}
		// Clients check structured content against the schema of a success.
		if r.Structured != nil || len(r.Content) != 1 || r.Content[0].Type != "text" || strings.Contains(r.Content[0].Text, "\n") {
			t.Errorf("%s: an error is one line of text and nothing else: %+v", args, r)
		}
	}
	if r := c.Call(t, "EchoFail", map[string]any{"kind": "panic"}, nil); !r.IsError || strings.Contains(string(r.Answer()), "hunter2") || !strings.Contains(string(r.Answer()), `"INTERNAL"`) {
		t.Errorf("%s", r.Answer())
	}
	if r := c.Call(t, "EchoWrite", map[string]any{"name": "a"}, map[string]any{"idempotency_key": 7}); !strings.Contains(string(r.Answer()), "_meta.idempotency_key") {
		t.Errorf("%s", r.Answer())
	}
	if m := last(t, c.Send(t, "tools/call", map[string]any{"name": "Nonsense"})); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("an unknown tool: %+v", m)
	}
	for written, want := range map[string]string{"echo_search": "EchoSearch", "EchoSerch": "EchoSearch", "Nonsense": "no such tool"} {
		if m := last(t, c.Send(t, "tools/call", map[string]any{"name": written})); m.Error == nil || m.ID != float64(1) || !strings.Contains(m.Error.Message, want) {
			t.Errorf("the tool %s: %+v", written, m.Error)
		}
	}
	if r := c.Call(t, "Echo", map[string]any{"text": "a", "colour": 1}, nil); !strings.Contains(string(r.Answer()), "Allowed are") || !strings.Contains(string(r.Answer()), "order_by") {
		t.Errorf("an unknown argument must name the allowed ones: %s", r.Answer())
	}
	if m := last(t, c.Send(t, "nonsense/method", nil)); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("an unknown method: %+v", m)
	}
}

func resourcesAndPromptsAnswerOrRefuseInTheirEra(t *testing.T, s *echo.Server, c *echo.Client) {
	absent := map[echo.Era]int{echo.Modern: -32602, echo.Legacy: -32002}[c.Era]
	read := func(uri string) echo.Message { return last(t, c.Send(t, "resources/read", map[string]any{"uri": uri})) }
	if m := read("echo://status"); m.Error != nil || !strings.Contains(string(m.Result), `{\"state\":\"fine\"}`) {
		t.Errorf("%+v", m)
	}
	if m := read("echo://assets/abc"); m.Error != nil || !strings.Contains(string(m.Result), `{\"asset_h\":\"abc\"}`) {
		t.Errorf("%+v", m)
	}
	for uri, code := range map[string]int{"echo://assets/absent": absent, "echo://nowhere": absent, "echo://assets/panic": -32603} {
		m := read(uri)
		if m.Error == nil || m.Error.Code != code || m.ID != float64(1) {
			t.Errorf("%s: %+v", uri, m)
		}
		if uri != "echo://nowhere" && (m.Error == nil || !strings.Contains(string(m.Error.Data), `"request_id"`)) {
			t.Errorf("%s: the problem is missing: %+v", uri, m)
		}
	}
	reader := s.Connect(t, c.Era, s.Key(t, nil))
	if m := last(t, reader.Send(t, "resources/read", map[string]any{"uri": "echo://secret"})); m.Error == nil || m.Error.Code != -32602 || !strings.Contains(string(m.Error.Data), "PERMISSION_REQUIRED") {
		t.Errorf("%+v", m)
	}
	if m := last(t, reader.Send(t, "resources/list", nil)); strings.Contains(string(m.Result), "echo://secret") || !strings.Contains(string(m.Result), "echo://status") {
		t.Errorf("%s", m.Result)
	}
	if m := last(t, c.Send(t, "resources/templates/list", nil)); !strings.Contains(string(m.Result), `"uriTemplate":"echo://assets/{asset_h}"`) {
		t.Errorf("%s", m.Result)
	}
	if m := last(t, c.Send(t, "prompts/get", map[string]any{"name": "search_and_curate", "arguments": map[string]any{"brief": "neon streets"}})); !strings.Contains(string(m.Result), "EchoSearch for neon streets") {
		t.Errorf("%+v", m)
	}
	for _, params := range []map[string]any{{"name": "search_and_curate"}, {"name": "nonsense"}} {
		if m := last(t, c.Send(t, "prompts/get", params)); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%v: %+v", params["name"], m)
		}
	}
}

func TestMCP_EverySchemaCompilesAndEveryExampleFits(t *testing.T) {
	echo.CheckSchemas(t, (&echo.Bench{}).Catalog())
}

func parsed(t testing.TB, raw []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return v
}
