package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/api/client"
	"vitrine/importer"
	"vitrine/internal/echo"
	"vitrine/library"
	"vitrine/op"
	"vitrine/service"
	"vitrine/service/servicetest"
	"vitrine/store"
)

func number(n int64) *int64 { return &n }

// problem is an error answer, as far as tests look at it.
type problem struct {
	Code   string `json:"code"`
	Errors []struct{ Field, Code, Message string }
}

func (p problem) names(field string) bool {
	for _, e := range p.Errors {
		if e.Field == field || strings.HasPrefix(e.Field, field+"[") {
			return e.Message != ""
		}
	}
	return false
}

// TestTenants_StorageLimitHoldsForEveryWayIn stores by base64, by upload and by the
// importer's route, and by many at once.
func TestTenants_StorageLimitHoldsForEveryWayIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	numbered := func(i int) []byte { // of one size each
		return append(picture(500, "one of many"), byte(i), byte(i>>8))
	}
	size := int64(len(numbered(0)))
	tenant := w.NewTenant("limited")
	key := w.NewKey(tenant, allPermissions...)
	if _, err := w.Store.Limits.Set(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, tenant, store.LimitChange{StorageBytes: number(5*size + size/2)}); err != nil {
		t.Fatal(err)
	}
	var taken, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			status, answer, _ := w.Raw(http.MethodPost, "/api/v1/assets", key, servicetest.JSON(map[string]any{"filename": "x.png", "mime_type": "image/png", "asset_data_base64": numbered(i)}), nil)
			var p problem
			_ = json.Unmarshal(answer, &p)
			switch {
			case status == http.StatusCreated:
				taken.Add(1)
			case status == http.StatusRequestEntityTooLarge && p.Code == library.CodeStorageQuota:
				refused.Add(1)
			default:
				t.Errorf("%d %.300s", status, answer)
			}
		})
	}
	all.Wait()
	if taken.Load() != 5 || refused.Load() != 19 {
		t.Errorf("%d files were taken and %d refused", taken.Load(), refused.Load())
	}
	l, err := w.Store.Limits.Get(t.Context(), tenant)
	if err != nil || l.StorageUsed > l.StorageBytes || l.StorageUsed != 5*size {
		t.Errorf("%d of %d bytes are used (%v)", l.StorageUsed, l.StorageBytes, err)
	}
	w.overQuota("asking for an upload URL", http.MethodGet, "/api/v1/storage/signed-url/upload?filename=a.png&mime_type=image/png&size="+strconv.FormatInt(size, 10), nil, nil, key)
	ticket, err := w.Client(key).CreateUploadUrl(t.Context(), client.CreateUploadUrlInput{Filename: "a.png", MIMEType: "image/png"})
	if err != nil {
		t.Fatal(err)
	}
	w.overQuota("uploading", http.MethodPut, strings.TrimPrefix(ticket.SignedURL, w.URL), picture(900, strings.Repeat("long ", 200)), http.Header{"Content-Type": {"image/png"}}, "")
	status, _, _ := w.Raw(http.MethodPost, "/api/v1/assets", w.Key, servicetest.JSON(map[string]any{"filename": "x.png", "mime_type": "image/png", "asset_data_base64": picture(901, "")}), nil)
	if status != http.StatusCreated {
		t.Errorf("another tenant got %d", status)
	}
	usage := w.mcp(echo.Modern, key).Send(t, "resources/read", map[string]any{"uri": "vitrine://storage/usage"})
	if !strings.Contains(string(usage.Body), `quota_bytes\":`+strconv.FormatInt(l.StorageBytes, 10)) {
		t.Errorf("the usage does not name the quota: %s", usage.Body)
	}
}

// overQuota sends a request that is refused because it would store too much.
func (w world) overQuota(what, method, path string, body []byte, header http.Header, key string) {
	t := w.T
	t.Helper()
	status, answer, _ := w.Raw(method, path, key, body, header)
	var p problem
	_ = json.Unmarshal(answer, &p)
	if status != http.StatusRequestEntityTooLarge || p.Code != "STORAGE_QUOTA_EXCEEDED" {
		t.Errorf("%s: %d %.300s", what, status, answer)
	}
}

// TestTenants_SearchesPerMinuteHoldOverAllKeys uses two keys of one tenant.
func TestTenants_SearchesPerMinuteHoldOverAllKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tenant := w.NewTenant("busy")
	keys := []string{w.NewKey(tenant, library.PermSearch), w.NewKey(tenant, library.PermSearch)}
	if _, err := w.Store.Limits.Set(t.Context(), library.Actor{Kind: library.ActorSystem, ID: "test"}, tenant, store.LimitChange{SearchesPerMinute: number(10)}); err != nil {
		t.Fatal(err)
	}
	ok := 0
	for i := range 15 {
		status, answer, header := w.Raw(http.MethodPost, "/api/v1/assets/search", keys[i%2], []byte(`{"query":"fox"}`), nil)
		switch wait, err := strconv.Atoi(header.Get("Retry-After")); {
		case status == http.StatusOK:
			ok++
			if header.Get("RateLimit") == "" {
				t.Error("an answer does not say how many searches are left")
			}
		case status != http.StatusTooManyRequests || err != nil || wait < 1:
			t.Errorf("%d %.300s", status, answer)
		}
	}
	if ok != 10 {
		t.Errorf("%d of 15 searches were answered", ok)
	}
	if status, _, _ := w.Raw(http.MethodPost, "/api/v1/assets/search", w.Key, []byte(`{"query":"fox"}`), nil); status != http.StatusOK {
		t.Errorf("another tenant got %d", status)
	}
}

func TestTenants_ABodyThatContradictsTheHeaderIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.NewTenant("one"), w.NewTenant("two")
	key := w.NewKeyFor(one, []library.TenantID{two}, allPermissions...)
	header := func(t library.TenantID) http.Header { return http.Header{"X-Tenant-Id": {string(t)}} }
	for _, c := range []struct {
		name   string
		header http.Header
		body   library.TenantID
		status int
	}{
		{"neither", nil, "", 200}, {"the body alone", nil, two, 200}, {"the same in both", header(two), two, 200},
		{"the same in capitals", header(library.TenantID(strings.ToUpper(string(two)))), two, 200},
		{"two against one", header(two), one, 400}, {"one against two", header(one), two, 400}, {"against a foreign one", header(one), w.Tenant, 400},
		{"a foreign one alone", nil, w.Tenant, 404},
	} {
		in := map[string]any{"query": ""}
		if c.body != "" {
			in["tenant_id"] = string(c.body)
		}
		status, answer, _ := w.Raw(http.MethodPost, "/api/v1/assets/search", key, servicetest.JSON(in), c.header)
		var p problem
		_ = json.Unmarshal(answer, &p)
		if status != c.status || status == 400 && (p.Code != library.CodeValidationFailed || !p.names("tenant_id")) {
			t.Errorf("%s: %d %.300s", c.name, status, answer)
		}
	}
}

// hugeNumbers are numbers that no field of ours holds.
var hugeNumbers = []string{"1e30", "-1e30", "1e400", "-1e400", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e19", "123456789012345678901234567890", "2147483648e10"}

// TestNumbers_ThatNoFieldHoldsAreNamedByField sends them in every argument of every
// operation that takes a number, over REST and MCP.
func TestNumbers_ThatNoFieldHoldsAreNamedByField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.mcp(echo.Modern, w.Key)
	fields := 0
	for _, o := range w.Catalog.Operations {
		for _, f := range numeric("", o.Input) {
			fields++
			for _, n := range hugeNumbers {
				if f.schema.Type == huma.TypeNumber && f.schema.Maximum == nil && !strings.Contains(n, "400") {
					continue // any float64 will do there
				}
				if f.path == "seed" && n == "9223372036854775808" {
					continue // seeds have 64 bits
				}
				args := w.args(o)
				delete(args, "query") // it would contradict a query vector
				set(args, f.path, json.Number(n))
				path, body := w.route(o, args)
				status, answer, _ := w.Raw(o.Method, path, w.Key, body, nil)
				var p problem
				if err := json.Unmarshal(answer, &p); err != nil || status != 400 || !p.names(f.path) {
					t.Errorf("REST %s %s=%s: %d %.300s", o.Name, f.path, n, status, answer)
				}
				if o.RESTOnly || strings.Contains(n, "400") {
					continue // over MCP, the protocol itself refuses what is beyond a float64
				}
				r := c.Call(t, o.Name, args, nil)
				p = problem{}
				if err := json.Unmarshal(r.Answer(), &p); err != nil || !r.IsError || !p.names(f.path) {
					t.Errorf("MCP %s %s=%s: %.300s", o.Name, f.path, n, r.Answer())
				}
			}
		}
	}
	if fields < 15 {
		t.Errorf("only %d numeric fields were found", fields)
	}
	for _, path := range []string{"/api/v1/assets/" + string(w.asset.Asset.AssetH) + "/thumbnail?size=1e30", "/previews/x?size=1e30"} {
		if status, answer, _ := w.Raw(http.MethodGet, path, w.Key, nil, nil); status >= 500 || status < 400 {
			t.Errorf("%s: %d %.300s", path, status, answer)
		}
	}
	for _, q := range []string{"steps:1e30", "seed:99999999999999999999999", "cfg:1e400..2e400", "width:-1e30", "created:99999-01", "dimensions:99999999999999x1", "model_weight:1e999", "steps:..1e30", "batch_size:18446744073709551616"} {
		if status, answer, _ := w.Raw(http.MethodPost, "/api/v1/assets/search", w.Key, servicetest.JSON(map[string]any{"query": q}), nil); status >= 500 {
			t.Errorf("query %s: %d %.300s", q, status, answer)
		}
	}
}

type numericField struct {
	path   string
	schema *huma.Schema
}

// numeric lists the fields of a schema that take numbers, those of a list once.
func numeric(path string, s *huma.Schema) (out []numericField) {
	switch s.Type {
	case huma.TypeInteger, huma.TypeNumber:
		return []numericField{{path, s}}
	case huma.TypeArray:
		if s.Items != nil && (s.Items.Type == huma.TypeInteger || s.Items.Type == huma.TypeNumber) {
			return []numericField{{path, s.Items}}
		}
	case huma.TypeObject:
		for name, p := range s.Properties {
			out = append(out, numeric(strings.TrimPrefix(path+"."+name, "."), p)...)
		}
	}
	return out
}

// set puts a value at a path such as filters.width, in a list where one is expected.
func set(args map[string]any, path string, v any) {
	name, rest, nested := strings.Cut(path, ".")
	if nested {
		inner, ok := args[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			args[name] = inner
		}
		set(inner, rest, v)
		return
	}
	if _, isList := args[name].([]any); isList || name == "query_vector" {
		v = []any{v}
	}
	args[name] = v
}

// TestObjects_OfAnyShapeAreBounded sends what is too large, too deep and too wide in
// every argument that takes any object.
func TestObjects_OfAnyShapeAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	found := 0
	for _, o := range w.Catalog.Operations {
		for name, p := range o.Input.Properties {
			values, _ := p.AdditionalProperties.(*huma.Schema)
			if p.Type != huma.TypeObject || len(p.Properties) > 0 || values != nil && values.Type != "" {
				continue
			}
			found++
			w.refuses(t, o, name, map[string]any{"note": strings.Repeat("x", 3<<20)}, "length")
			deep := map[string]any{"a": 1}
			for range 40 {
				deep = map[string]any{"a": deep}
			}
			w.refuses(t, o, name, deep, "length")
			wide := map[string]any{}
			for i := range 50_000 {
				wide["k"+strconv.Itoa(i)] = i
			}
			w.refuses(t, o, name, wide, "length")
			w.refuses(t, o, name, map[string]any{"n": json.Number("1e400")}, "range")
		}
	}
	if found < 3 {
		t.Errorf("only %d arguments that take any object were found", found)
	}
	just := map[string]any{"note": strings.Repeat("x", 64<<10-11)}
	stored := w.store(t, map[string]any{"asset_metadata": just})
	if stored != http.StatusCreated {
		t.Errorf("64 KiB of metadata gave %d", stored)
	}
	if status := w.store(t, map[string]any{"asset_metadata": map[string]any{"note": strings.Repeat("x", 64<<10-10)}}); status != http.StatusBadRequest {
		t.Errorf("a byte more gave %d", status)
	}
}

func (w world) store(t *testing.T, more map[string]any) int {
	t.Helper()
	in := map[string]any{"filename": "x.png", "mime_type": "image/png", "asset_data_base64": picture(321, "")}
	for k, v := range more {
		in[k] = v
	}
	status, _, _ := w.Raw(http.MethodPost, "/api/v1/assets", w.Key, servicetest.JSON(in), nil)
	return status
}

func (w world) refuses(t *testing.T, o op.Operation, field string, v any, code string) {
	t.Helper()
	args := w.args(o)
	args[field] = v
	path, body := w.route(o, args)
	status, answer, _ := w.Raw(o.Method, path, w.Key, body, nil)
	var p problem
	_ = json.Unmarshal(answer, &p)
	for _, e := range p.Errors {
		if status == 400 && strings.HasPrefix(e.Field, field) && e.Code == code {
			return
		}
	}
	t.Errorf("%s %s with %.60s…: %d %.300s", o.Name, field, fmt.Sprint(v), status, answer)
}

// TestTenants_CommandsMakeNameAndLimitThem is an operator at work.
func TestTenants_CommandsMakeNameAndLimitThem(t *testing.T) {
	t.Parallel()
	cfg := servicetest.Config(t)
	newKilledAt(t, cfg) // a library with its first tenant
	var made library.Tenant
	if err := json.Unmarshal([]byte(command(t, cfg, "tenants", "create", "Studio", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	command(t, cfg, "tenants", "rename", "Studio", "Atelier")
	if list := command(t, cfg, "tenants", "list"); !strings.Contains(list, "Atelier") || !strings.Contains(list, string(made.ID)) {
		t.Errorf("the list is %s", list)
	}
	if said := command(t, cfg, "tenants", "limits", "Atelier"); !strings.Contains(said, "storage              no limit") || !strings.Contains(said, "export assets        1000") {
		t.Errorf("the limits are %s", said)
	}
	var limits struct {
		Storage  *int64 `json:"storage_bytes"`
		Searches *int64 `json:"searches_per_minute"`
		Run      *int64 `json:"run_seconds"`
		Export   *int64 `json:"export_assets"`
		Egress   *int64 `json:"egress_bytes_hourly"`
		Used     *int64 `json:"storage_used"`
		Outreach bool   `json:"outreach"`
	}
	out := command(t, cfg, "tenants", "limits", "Atelier", "--storage", "10KiB", "--searches-per-minute", "30", "--run-time", "90s", "--export-assets", "none", "--egress", "1.5GB", "--outreach", "off", "--json")
	if err := json.Unmarshal([]byte(out), &limits); err != nil || *limits.Storage != 10240 || *limits.Searches != 30 || *limits.Run != 90 || limits.Outreach ||
		limits.Export != nil || *limits.Egress != 1_500_000_000 || *limits.Used != 0 {
		t.Errorf("set to %s (%v)", out, err)
	}
	failing(t, cfg, "--storage takes none, default or a size such as", "tenants", "limits", "Atelier", "--storage", "much")
	failing(t, cfg, "there is no tenant", "tenants", "rename", "Nobody", "x")
	var key struct {
		Secret string           `json:"secret"`
		Tenant library.TenantID `json:"tenant_id"`
	}
	if err := json.Unmarshal([]byte(command(t, cfg, "keys", "create", "k", "--tenant", "Atelier", "--permissions", "read,write", "--json")), &key); err != nil || key.Tenant != made.ID {
		t.Fatalf("the key is of %s (%v)", key.Tenant, err)
	}
	serve(t, cfg, "")
	dir := t.TempDir()
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.png", i)), picture(7000+i, strings.Repeat("words ", 200)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report := failingImport(t, cfg, dir, key.Secret)
	if report.Failed == 0 || report.Stored == 0 || report.Stored+report.Failed != 20 {
		t.Errorf("the import stored %d and refused %d", report.Stored, report.Failed)
	}
	if out := command(t, cfg, "tenants", "limits", "Atelier", "--json"); json.Unmarshal([]byte(out), &limits) != nil || *limits.Used > 10240 {
		t.Errorf("the tenant uses %s", out)
	}
}

// failingImport runs an import of which some files fail.
func failingImport(t *testing.T, cfg service.Config, dir, key string) (report importer.Report) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), failpointBinary(t), "import", dir, "--json", "--server", "http://"+cfg.Listen, "--key", key)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Errorf("the import ended with %v", err)
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, f := range report.Files {
		if f.Result == "failed" && !strings.Contains(f.Reason, "no room") {
			t.Errorf("%s failed with %s", f.Path, f.Reason)
		}
	}
	return report
}
