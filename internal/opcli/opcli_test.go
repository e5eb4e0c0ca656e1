package opcli_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/internal/opcli"
	"vitrine/library"
	"vitrine/op"
	"vitrine/op/all"
)

func find(t *testing.T, name string) op.Operation {
	t.Helper()
	o, err := opcli.Find(all.DocumentedCatalog(), name)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestExample_OfEveryOperationIsReadAsItIs writes each example as a command line and
// reads that again.
func TestExample_OfEveryOperationIsReadAsItIs(t *testing.T) {
	operations := all.DocumentedCatalog().Operations
	if len(operations) < 20 {
		t.Fatalf("only %d operations", len(operations))
	}
	for _, o := range operations {
		words := opcli.Example(o)
		var unquoted []string
		for _, w := range words[3:] {
			if strings.HasPrefix(w, "'") {
				w = strings.ReplaceAll(w[1:len(w)-1], `'\''`, "'")
			}
			unquoted = append(unquoted, w)
		}
		call, err := opcli.Parse(o, unquoted, nil)
		if err == nil {
			err = call.Complete("")
		}
		if err != nil {
			t.Errorf("%s: %q: %v", o.Name, words, err)
			continue
		}
		got, err := call.Encode()
		if err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(o.Example)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal(want, &a) != nil || json.Unmarshal(got, &b) != nil {
			t.Fatalf("%s and %s are no JSON", want, got)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: %q is read otherwise (-example +read): %s", o.Name, words, diff)
		}
	}
}

// TestHelp_OfEveryOperationNamesItsArguments looks for every argument, value of an
// enumeration and default, and for the example.
func TestHelp_OfEveryOperationNamesItsArguments(t *testing.T) {
	for _, o := range all.DocumentedCatalog().Operations {
		help := opcli.Help(o)
		want := []string{"vitrine call " + o.Name, string(o.Permission), "Example:\n  vitrine call " + o.Name}
		for _, f := range op.Fields(o.Input) {
			if strings.Contains(f.Path, "[]") {
				continue
			}
			argument := "--" + f.Path + "  " + f.Type()
			if f.Required {
				argument += " (required)"
			}
			if d := f.Default(); d != "" {
				argument += " (default " + d + ")"
			}
			want = append(want, argument)
		}
		for _, part := range want {
			if !strings.Contains(help, part) {
				t.Errorf("the help of %s lacks %q", o.Name, part)
			}
		}
		if !strings.Contains(opcli.List(all.DocumentedCatalog()), "  "+o.Name+" ") {
			t.Errorf("the list lacks %s", o.Name)
		}
	}
}

func TestParse_ReadsWordsAsTheSchemaSays(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return "@" + path
	}
	text, bytes, list, object := write("text", "a fox\n"), write("bytes", "\x89PNG\n"), write("list", "aa\n\n bb \n"), write("object", `{"limit": 7, "query": "owl"}`)
	for name, c := range parseCases(text, bytes, list, object) {
		t.Run(name, func(t *testing.T) {
			c.check(t)
		})
	}
}

// parseCase is what stands behind a tool on the command line.
type parseCase struct {
	tool  string
	words []string
	stdin string
	want  string // JSON of the arguments, or the fields that are wrong with their codes
}

// parseCases are words, and the arguments that they mean; text, bytes, list and object name files.
func parseCases(text, bytes, list, object string) map[string]parseCase {
	encoded := base64.StdEncoding.EncodeToString([]byte("\x89PNG\n"))
	return map[string]parseCase{
		"names in any spelling":        {"SearchAssets", []string{"--search-mode", "exact", "--orderBy=title", "--include_score=false"}, "", `{"search_mode":"exact","order_by":"title","include_score":false}`},
		"flags":                        {"SearchAssets", []string{"--highlight", "--no-include-score", "--query", "--highlight"}, "", `{"highlight":true,"include_score":false,"query":"--highlight"}`},
		"a flag with its value behind": {"SearchAssets", []string{"--highlight", "false", "--limit", "3"}, "", `{"highlight":false,"limit":3}`},
		"members of an object":         {"SearchAssets", []string{"--filters.status", "Draft", "--filters.tags", "a,b"}, "", `{"filters":{"status":"Draft","tags":["a","b"]}}`},
		"an object as JSON":            {"SearchAssets", []string{"--filters", `{"status":"Draft"}`}, "", `{"filters":{"status":"Draft"}}`},
		"a list repeated":              {"BulkUpdateAssetTags", []string{"--tags", "a,b", "--tags", "c"}, "", `{"tags":["a,b","c"]}`},
		"a list as JSON":               {"BulkUpdateAssetTags", []string{"--tags", `["a,b"]`}, "", `{"tags":["a,b"]}`},
		"a list of numbers":            {"SearchAssets", []string{"--query-vector", "0.5,1"}, "", `{"query_vector":[0.5,1]}`},
		"lines of a file":              {"BulkUpdateAssetTags", []string{"--asset-hs", list}, "", `{"asset_hs":["aa","bb"]}`},
		"text of a file":               {"SearchAssets", []string{"--query", text}, "", `{"query":"a fox"}`},
		"bytes of a file":              {"StoreAsset", []string{"--asset_data_base64", bytes}, "", `{"asset_data_base64":"` + encoded + `"}`},
		"bytes of the standard input":  {"StoreAsset", []string{"--asset-data-base64", "-"}, "\x89PNG\n", `{"asset_data_base64":"` + encoded + `"}`},
		"a value that begins with @":   {"SearchAssets", []string{"--query", "@@home"}, "", `{"query":"@home"}`},
		"an object without members":    {"StoreAsset", []string{"--asset_metadata.seed", "18446744073709551615", "--asset_metadata.by", "ann"}, "", `{"asset_metadata":{"seed":18446744073709551615,"by":"ann"}}`},
		"an alias of an asset":         {"GetAssetDetails", []string{"--asset-id", "aa"}, "", `{"asset_h":"aa"}`},
		"all as JSON":                  {"SearchAssets", []string{"--json", object}, "", `{"limit":7,"query":"owl"}`},
		"the rest as JSON":             {"SearchAssets", []string{"--limit", "3", "--json", `{"query":"owl"}`}, "", `{"limit":3,"query":"owl"}`},
		"an argument twice":            {"SearchAssets", []string{"--limit", "3", "--limit", "4"}, "", "limit conflict"},
		"an argument here and there":   {"SearchAssets", []string{"--limit", "3", "--json", `{"limit":4}`}, "", "limit conflict"},
		"an object and its member":     {"SearchAssets", []string{"--filters", `{"status":"Draft"}`, "--filters.status", "Draft"}, "", "filters.status conflict"},
		"unknown arguments":            {"SearchAssets", []string{"--limt", "3", "--filters.stats", "x"}, "", "limt unknown, filters.stats unknown"},
		"a word without a name":        {"SearchAssets", []string{"fox"}, "", "fox unknown"},
		"no value":                     {"SearchAssets", []string{"--limit"}, "", "limit required"},
		"no number":                    {"SearchAssets", []string{"--limit", "many"}, "", "limit type"},
		"no flag":                      {"SearchAssets", []string{"--highlight=maybe"}, "", "highlight type"},
		"no object":                    {"SearchAssets", []string{"--filters", "Draft"}, "", "filters type"},
		"no file":                      {"SearchAssets", []string{"--query", "@/no/such/file"}, "", "query format"},
		"the standard input twice":     {"SearchAssets", []string{"--query", "-", "--cursor", "-"}, "x", "cursor format"},
		"outside an enumeration":       {"SearchAssets", []string{"--search-mode", "clever"}, "", "search_mode enum"},
		"a required one missing":       {"UpdateAsset", nil, "", "asset_h required"},
		"broken JSON":                  {"SearchAssets", []string{"--json", "{"}, "", "json format"},
	}

}

// check parses the words and compares the arguments, or what is wrong with them.
func (c parseCase) check(t *testing.T) {
	t.Helper()
	o := find(t, c.tool)
	call, err := opcli.Parse(o, c.words, strings.NewReader(c.stdin))
	if err == nil && !strings.HasPrefix(c.want, "{") || call.Options["json"] != "" {
		err = errors.Join(err, call.Complete(""))
	}
	var e *library.Error
	if errors.As(err, &e) {
		var wrong []string
		for _, f := range e.Fields {
			wrong = append(wrong, f.Field+" "+f.Code)
		}
		if got := strings.Join(wrong, ", "); got != c.want {
			t.Errorf("wrong are %s, want %s", got, c.want)
		}
		return
	}
	got, err := call.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := json.Unmarshal([]byte(c.want), &a); err != nil {
		t.Fatalf("no error, want %s", c.want)
	}
	if err := json.Unmarshal(got, &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" || strings.Contains(c.want, "18446744073709551615") && !strings.Contains(string(got), "18446744073709551615") {
		t.Errorf("%s, want %s: %s", got, c.want, diff)
	}
}

func TestFind_NamesTheNearestTool(t *testing.T) {
	_, err := opcli.Find(all.DocumentedCatalog(), "SearchAsset")
	if e := library.AsError(err); e.Code != "VALIDATION_FAILED" || e.Fields[0].Hint != "Did you mean SearchAssets?" {
		t.Errorf("%+v", e)
	}
	if o, err := opcli.Find(all.DocumentedCatalog(), "get-asset-details"); err != nil || o.Name != "GetAssetDetails" {
		t.Errorf("%s %v", o.Name, err)
	}
}

func TestParse_UnknownArgumentsNameTheNearest(t *testing.T) {
	for word, want := range map[string]string{"--qery": "Did you mean --query?", "--filters.stats": "Did you mean --filters.status?", "--outptu": "Did you mean --output?",
		"--hlp": "Did you mean --help?", "--xyzzyxyzzy": "vitrine call SearchAssets --help lists its arguments."} {
		_, err := opcli.Parse(find(t, "SearchAssets"), []string{word, "1"}, nil)
		if e := library.AsError(err); err == nil || len(e.Fields) != 1 || e.Fields[0].Hint != want {
			t.Errorf("%s: %+v, want the hint %q", word, e.Fields, want)
		}
	}
}

func TestRender_ShowsEveryValue(t *testing.T) {
	response := `{"total":2,"none":null,"empty":"","degraded":["a","b"],"text":"one\ntwo","asset":{"asset_h":"aa","tags":["x","y"]},
		"data":[{"asset_h":"aa","title":"","url":"` + strings.Repeat("u", 70) + `"},{"asset_h":"bb","title":"Fox","n":18446744073709551615}],
		"steps":[{"name":"s","inner":[{"k":1}]}],"image":{"data_base64":"AAAA"}}`
	var b strings.Builder
	if err := opcli.Render(&b, []byte(response)); err != nil {
		t.Fatal(err)
	}
	want := `total: 2
degraded: a, b
text:
  one
  two
asset: asset_h=aa tags=x, y
data:
  asset_h  title  n
  aa
  bb       Fox    18446744073709551615
  (too wide for a table: url; --output json has them)
steps:
  - name: s
    inner:
      k
      1
image: data_base64=(3 bytes)
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := opcli.Render(&b, []byte(`{}`)); err != nil || b.String() != "done\n" {
		t.Errorf("%q %v", b.String(), err)
	}
	if opcli.Render(&b, []byte(`{"a":`)) == nil {
		t.Error("half a response is rendered")
	}
}

func TestComplete_OffersToolsArgumentsAndValues(t *testing.T) {
	for words, want := range map[string]string{
		"Sea":                                  "SearchAssets SearchModels SearchPrompts SearchProspects SearchContacts",
		"store":                                "StoreAsset",
		"SearchAssets --sea":                   "--search_mode",
		"SearchAssets --search_mode f":         "fuzzy fulltext",
		"SearchAssets --search-mode=b":         "--search-mode=boolean",
		"SearchAssets --filters.st":            "--filters.status",
		"SearchAssets --highlight ":            "true false",
		"SearchAssets --output ":               "text json",
		"SearchAssets --query fo":              "",
		"SearchAssets --limit 3 --o":           "--offset --order --order_by --output",
		"Nothing --":                           "",
		"GetWorkflow --asset_h @./fi":          "",
		"BulkUpdateAssetTags --operation ":     "add remove",
		"SearchAssets --search_mode exact --h": "--highlight --help",
	} {
		var got []string
		for _, c := range opcli.Complete(all.DocumentedCatalog(), strings.Split(words, " ")) {
			got = append(got, c.Word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q is completed by %q, want %q", words, got, want)
		}
	}
}
