package op_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vitrine/internal/echo"
	"vitrine/internal/randtest"
	"vitrine/library"
	"vitrine/op"
)

var everything = library.Actor{Kind: library.ActorKey, ID: "k", Tenant: "11111111-1111-4111-8111-111111111111",
	Tenants: []library.TenantID{"11111111-1111-4111-8111-111111111111"}, Permissions: library.Permissions}

func operation(t testing.TB, name string) op.Operation {
	t.Helper()
	o, ok := (&echo.Bench{}).Catalog().Find(name)
	if !ok {
		t.Fatalf("no operation %s", name)
	}
	return o
}

func call(t testing.TB, name string, args string) (string, *library.Error) {
	t.Helper()
	m, err := op.ParseArguments([]byte(args))
	if err != nil {
		return "", library.AsError(err)
	}
	out, err := operation(t, name).Call(context.Background(), everything, m)
	if err != nil {
		return "", library.AsError(err)
	}
	raw, err := op.EncodeOutput(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), nil
}

func TestOp_ArgumentsAreBroughtIntoTheFormOfTheSchema(t *testing.T) {
	const head = `{"tenant":"11111111-1111-4111-8111-111111111111","text":"fox",`
	for name, c := range map[string]struct{ args, want string }{
		"defaults fill what is absent":        {`{"text":"fox"}`, `"count":20,"ratio":0,"exact":false,"order_by":"relevance","tags":[],"status":""}`},
		"camelCase is accepted":               {`{"text":"fox","orderBy":"created"}`, `"count":20,"ratio":0,"exact":false,"order_by":"created","tags":[],"status":""}`},
		"null means absent":                   {`{"text":"fox","count":null,"filters":null,"tags":null}`, `"count":20,"ratio":0,"exact":false,"order_by":"relevance","tags":[],"status":""}`},
		"a whole number may be a decimal":     {`{"text":"fox","count":30.0}`, `"count":30,"ratio":0,"exact":false,"order_by":"relevance","tags":[],"status":""}`},
		"64 bit numbers stay exact":           {`{"text":"fox","seed":18446744073709551615}`, `"count":20,"ratio":0,"exact":false,"seed":18446744073709551615,"order_by":"relevance","tags":[],"status":""}`},
		"values are read in any case":         {`{"text":"fox","order_by":"CREATED","filters":{"status":"app-roved"}}`, `"count":20,"ratio":0,"exact":false,"order_by":"created","tags":[],"status":"Approved"}`},
		"nested objects are read":             {`{"text":"fox","filters":{"status":"Approved"}}`, `"count":20,"ratio":0,"exact":false,"order_by":"relevance","tags":[],"status":"Approved"}`},
		"the tenant is read in any case":      {`{"text":"fox","tenantId":"11111111-1111-4111-8111-111111111111"}`, `"count":20,"ratio":0,"exact":false,"order_by":"relevance","tags":[],"status":""}`},
		"HTML characters are not escaped":     {`{"text":"fox","tags":["<a&b>"]}`, `"count":20,"ratio":0,"exact":false,"order_by":"relevance","tags":["<a&b>"],"status":""}`},
		"a number may be a whole number":      {`{"text":"fox","ratio":2}`, `"count":20,"ratio":2,"exact":false,"order_by":"relevance","tags":[],"status":""}`},
		"white space around the body is fine": {" {\"text\":\"fox\"}\n", `"count":20,"ratio":0,"exact":false,"order_by":"relevance","tags":[],"status":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, libErr := call(t, "Echo", c.args)
			if libErr != nil {
				t.Fatal(libErr)
			}
			if diff := cmp.Diff(head+c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOp_AnAssetMayGoByAnyOfItsNames(t *testing.T) {
	hash := strings.Repeat("a", 40)
	for _, name := range []string{"asset_h", "assetH", "asset_id", "assetId", "asset_hash", "assetHash"} {
		got, libErr := call(t, "EchoGet", `{"`+name+`":"`+hash+`"}`)
		if libErr != nil || !strings.Contains(got, hash) {
			t.Errorf("%s: %s %v", name, got, libErr)
		}
	}
	_, libErr := call(t, "EchoGet", `{"asset_h":"`+hash+`","asset_id":"`+hash+`"}`)
	if libErr == nil || len(libErr.Fields) != 1 || libErr.Fields[0].Field != "asset_id" || libErr.Fields[0].Code != "unknown" {
		t.Errorf("two names at once: %+v", libErr)
	}
}

func TestOp_FaultyArgumentsAreNamedWithWhatIsAllowed(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		args, code, field, fieldCode, hint string
	}{
		"a missing argument":         {`{}`, "VALIDATION_FAILED", "text", "required", ""},
		"an unknown argument":        {`{"text":"a","tagz":[]}`, "VALIDATION_FAILED", "tagz", "unknown", "Did you mean tags? Allowed are count, either, exact, filters, order_by, other, ratio, seed, tags, tenant_id, text, thumb_url."},
		"a wrong value":              {`{"text":"a","order_by":"relevanz"}`, "VALIDATION_FAILED", "order_by", "enum", "Did you mean relevance?"},
		"a wrong nested value":       {`{"text":"a","filters":{"status":"Aproved"}}`, "VALIDATION_FAILED", "filters.status", "enum", "Did you mean Approved?"},
		"an unknown nested argument": {`{"text":"a","filters":{"state":"Draft"}}`, "VALIDATION_FAILED", "filters.state", "unknown", "Did you mean status? Allowed are status."},
		"a value out of range":       {`{"text":"a","count":101}`, "VALIDATION_FAILED", "count", "range", ""},
		"a huge number":              {`{"text":"a","count":1e400}`, "VALIDATION_FAILED", "count", "range", ""},
		"a text that is too long":    {`{"text":"` + long + `"}`, "VALIDATION_FAILED", "text", "length", ""},
		"an empty text":              {`{"text":""}`, "VALIDATION_FAILED", "text", "length", ""},
		"too many items":             {`{"text":"a","tags":["1","2","3","4"]}`, "VALIDATION_FAILED", "tags", "length", ""},
		"a wrong item":               {`{"text":"a","tags":["1",2]}`, "VALIDATION_FAILED", "tags[1]", "type", ""},
		"a wrong choice":             {`{"text":"a","order_by":"size"}`, "VALIDATION_FAILED", "order_by", "enum", ""},
		"a wrong type":               {`{"text":"a","exact":"yes"}`, "VALIDATION_FAILED", "exact", "type", ""},
		"null where it is required":  {`{"text":null}`, "VALIDATION_FAILED", "text", "type", ""},
		"a bad uuid":                 {`{"text":"a","tenant_id":"1"}`, "VALIDATION_FAILED", "tenant_id", "format", ""},
		"two that exclude another":   {`{"text":"a","either":"1","other":"2"}`, "VALIDATION_FAILED", "other", "conflict", "Send one of the two."},
		"a character no text holds":  {`{"text":"a\u0000b"}`, "VALIDATION_FAILED", "text", "format", ""},
		"a name sent twice":          {`{"text":"a","count":1,"t\u0065xt":"b"}`, "VALIDATION_FAILED", "text", "conflict", "Send each name once."},
		"a nested name twice":        {`{"text":"a","filters":{"status":"Draft","status":"Draft"}}`, "VALIDATION_FAILED", "status", "conflict", "Send each name once."},
		"bytes that are not UTF-8":   {"{\"text\":\"a\xff\"}", "MALFORMED_JSON", "", "", ""},
		"a control character":        {`{"text":"a","tags":["a\u0007"]}`, "VALIDATION_FAILED", "tags[0]", "format", ""},
		"an override of direction":   {`{"text":"a","tags":["gpj\u202Eexe"]}`, "VALIDATION_FAILED", "tags[0]", "format", ""},
		"a long unknown name":        {`{"text":"a","` + long + `":1}`, "VALIDATION_FAILED", "", "unknown", "Allowed are count, either, exact, filters, order_by, other, ratio, seed, tags, tenant_id, text, thumb_url."},
		"another tenant":             {`{"text":"a","tenant_id":"22222222-2222-4222-8222-222222222222"}`, "NOT_FOUND", "", "", ""},
		"broken JSON":                {`{"text":`, "MALFORMED_JSON", "", "", ""},
		"two values":                 {`{} {}`, "MALFORMED_JSON", "", "", ""},
		"a list":                     {`[]`, "MALFORMED_JSON", "", "", ""},
		"deep nesting":               {strings.Repeat("[", 100), "MALFORMED_JSON", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, f := call(t, "Echo", c.args)
			if f == nil {
				t.Fatal("it was accepted")
			}
			if f.Code != c.code {
				t.Fatalf("code %s, want %s: %v", f.Code, c.code, f)
			}
			if n := len(f.Error()); n > 1000 {
				t.Errorf("the error has %d characters: it repeats what was sent", n)
			}
			if c.fieldCode == "" {
				return
			}
			i := slices.IndexFunc(f.Fields, func(x library.FieldError) bool { return x.Code == c.fieldCode && (c.field == "" || x.Field == c.field) })
			if i < 0 {
				t.Fatalf("no error %s of %s in %+v", c.fieldCode, c.field, f.Fields)
			}
			if x := f.Fields[i]; x.Message == "" || x.Hint != c.hint {
				t.Errorf("message %q, hint %q, want hint %q", x.Message, x.Hint, c.hint)
			}
		})
	}
}

func TestOp_AllFaultyFieldsComeAtOnceButNotWithoutEnd(t *testing.T) {
	_, f := call(t, "Echo", `{"count":0,"order_by":"x","exact":1}`)
	if len(f.Fields) != 4 {
		t.Errorf("%d fields, want text, count, order_by and exact: %+v", len(f.Fields), f.Fields)
	}
	var many strings.Builder
	many.WriteString(`{"text":"a"`)
	for i := range 10_000 {
		many.WriteString(`,"f` + strings.Repeat("i", i%7) + string(rune('a'+i%26)) + strings.Repeat("z", i%100) + `":1`)
	}
	many.WriteString("}")
	_, f = call(t, "Echo", many.String())
	if len(f.Fields) > 20 {
		t.Errorf("%d errors in one answer", len(f.Fields))
	}
	for range 5 {
		if _, again := call(t, "Echo", many.String()); cmp.Diff(f.Fields, again.Fields) != "" {
			t.Error("the same request gets another answer")
		}
	}
}

func TestOp_ArbitraryArgumentsNeverPanicNorCountAsOurDefect(t *testing.T) {
	names := []string{"text", "count", "ratio", "exact", "seed", "order_by", "orderBy", "tags", "filters", "tenant_id", "either", "other", "thumb_url", "\u00e9"}
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		kinds := []*rapid.Generator[any]{rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Uint64().AsAny(), rapid.Float64().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil)}
		if depth > 0 {
			kinds = append(kinds, rapid.SliceOfN(value(depth-1), 0, 4).AsAny(), rapid.MapOfN(rapid.SampledFrom(append(names, "status")), value(depth-1), 0, 4).AsAny())
		}
		return rapid.OneOf(kinds...)
	}
	randtest.Check(t, func(rt *rapid.T) {
		args := rapid.MapOf(rapid.SampledFrom(names), value(2)).Draw(rt, "args")
		raw, err := json.Marshal(args)
		if err != nil {
			rt.Skip("not JSON")
		}
		if _, f := call(t, "Echo", string(raw)); f != nil && f.Kind == library.KindInternal {
			rt.Fatalf("%s gives %v", raw, f)
		}
	})
}

func TestOp_OneMissingPermissionIsNamed(t *testing.T) {
	reader := everything
	reader.Permissions = []library.Permission{library.PermRead}
	_, err := operation(t, "EchoWrite").Call(t.Context(), reader, map[string]any{"name": "a"})
	if f := library.AsError(err); f.Code != library.CodePermissionRequired || f.Permission != library.PermWrite {
		t.Errorf("%+v", f)
	}
}

type brokenOutput struct{}

func (brokenOutput) MarshalJSON() ([]byte, error) { panic("hunter2") }

func TestEncodeOutput_PanicOfAValueIsAnInternalFault(t *testing.T) {
	_, err := op.EncodeOutput(map[string]any{"a": brokenOutput{}})
	f := library.AsError(err)
	if err == nil || f.Kind != library.KindInternal || strings.Contains(f.Detail, "hunter2") || !strings.Contains(fmt.Sprint(f.Cause), "hunter2") {
		t.Errorf("%+v", f)
	}
}

func TestOp_APanicBecomesAnInternalFaultThatHidesItsCause(t *testing.T) {
	_, f := call(t, "EchoFail", `{"kind":"panic"}`)
	if f.Kind != library.KindInternal || strings.Contains(f.Detail, "hunter2") || f.Cause == nil {
		t.Errorf("%+v", f)
	}
}

func TestOp_OutputsAreCheckedAgainstTheirSchema(t *testing.T) {
	o := operation(t, "Echo")
	good, f := call(t, "Echo", `{"text":"fox","seed":18446744073709551615}`)
	if f != nil {
		t.Fatal(f)
	}
	if errs := o.CheckOutput([]byte(good)); len(errs) > 0 {
		t.Errorf("a good output is refused: %+v", errs)
	}
	for _, bad := range []string{strings.Replace(good, `"tags":[]`, `"tags":null`, 1), strings.Replace(good, `"count":20,`, "", 1), `[]`, `{`} {
		if len(o.CheckOutput([]byte(bad))) == 0 {
			t.Errorf("a bad output passes: %s", bad)
		}
	}
}

func TestOp_ReferencePagesTellTheTruthAndStalePagesAreFound(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "reference"), (&echo.Bench{}).Catalog()
	if err := op.WriteReference(dir, c); err != nil {
		t.Fatal(err)
	}
	if stale, err := op.StaleReference(dir, c); err != nil || len(stale) > 0 {
		t.Fatalf("fresh pages count as stale: %v %v", stale, err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "assets.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## EchoWrite", "`POST /api/v1/echo/things`", "permission `write`", "| `text` **required** | string, 1 to 100 characters |",
		"| `order_by` | relevance, created | `relevance` | A choice. |", "`filters.status`", "\"text\": \"fox\"", "| `tags` | string[], at most 3 items |"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	c.Operations = c.Operations[:3]
	if err := os.WriteFile(filepath.Join(dir, "search.md"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "gone.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	stale, err := op.StaleReference(dir, c)
	if diff := cmp.Diff([]string{"assets.md", "gone.md", "search.md"}, stale); err != nil || diff != "" {
		t.Error(err, diff)
	}
	snapshots := filepath.Join(t.TempDir(), "snapshots")
	if err := op.WriteSnapshots(snapshots, c); err != nil {
		t.Fatal(err)
	}
	c.Operations[0].Doc = "Changed."
	if stale, err := op.StaleSnapshots(snapshots, c); err != nil || len(stale) != 1 {
		t.Errorf("a changed operation is not noticed: %v %v", stale, err)
	}
	if table := op.ToolTable(c); !strings.Contains(table, "[EchoList](docs/guide/reference/assets.md#echolist) | `GET /api/v1/echo/list` | read |") {
		t.Error(table)
	}
}
