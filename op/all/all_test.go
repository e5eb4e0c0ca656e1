package all

import (
	"regexp"
	"slices"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/internal/echo"
	"vitrine/internal/testenv"
	"vitrine/op"
)

func TestGeneratedDocumentsAreCurrent(t *testing.T) {
	stale, err := StaleDocuments(testenv.ModuleRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 {
		t.Errorf("stale: %v; renew them with make docs", stale)
	}
}

func TestEverySchemaIsFlatAndCanBeCompiledByClients(t *testing.T) {
	echo.CheckSchemas(t, Described())
}

func TestNamesRoutesAndHintsAreOfOneKind(t *testing.T) {
	c := Described()
	names, routes := map[string]bool{}, map[string]bool{}
	pascal := regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	for _, o := range c.Operations {
		if names[o.Name] || routes[o.Method+" "+o.Path] {
			t.Errorf("%s is there twice, or its route is", o.Name)
		}
		names[o.Name], routes[o.Method+" "+o.Path] = true, true
		if !pascal.MatchString(o.Name) {
			t.Errorf("%s: model APIs take letters only", o.Name)
		}
		if o.ReadOnly && !o.Idempotent {
			t.Errorf("%s reads, so calling it again changes nothing: it is idempotent", o.Name)
		}
		if o.Method == "GET" && (o.Destructive || !o.Idempotent) {
			t.Errorf("%s changes something by GET", o.Name)
		}
		if o.Example == nil || o.Spec == "" {
			t.Errorf("%s has no example or names no section", o.Name)
		}
	}
}

// The operations that clients rely on by name; renaming one breaks them.
func TestTheNamesOfTheSpecificationAreThere(t *testing.T) {
	c := Described()
	for _, name := range []string{"SearchAssets", "GetAssetDetails", "GetFacets", "StoreAsset", "CreateUploadUrl", "UpdateAsset", "BulkUpdateAssetTags", "UndoOperation",
		"SearchModels", "GetModelDetails", "GetAssetModels", "LinkModelToAsset", "GetModelVersions", "AddModelVersion"} {
		if o, ok := c.Find(name); !ok || o.RESTOnly {
			t.Errorf("%s is not offered as a tool", name)
		}
	}
	var uris []string
	for _, r := range c.Resources {
		uris = append(uris, r.URI)
	}
	for _, uri := range []string{"vitrine://storage/usage", "vitrine://assets/{asset_h}"} {
		if !slices.Contains(uris, uri) {
			t.Errorf("the resource %s is missing", uri)
		}
	}
}

// A client pays for the list of tools in every conversation. With 72 of them the
// input side may take 200 tokens each on average; output schemas are counted apart.
func TestToolsStayCheapForAModelsContext(t *testing.T) {
	total, n := 0, 0
	for _, o := range Described().Operations {
		if o.RESTOnly {
			continue
		}
		bare := o
		bare.Output = &huma.Schema{Type: huma.TypeObject}
		tokens := op.ToolTokens(bare)
		total, n = total+tokens, n+1
		if tokens > 1000 {
			t.Errorf("%s takes about %d tokens; shorten its sentences", o.Name, tokens)
		}
	}
	t.Logf("%d tools take about %d tokens, %d on average, without output schemas", n, total, total/n)
}
