package all

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/internal/echo"
	"vitrine/internal/testenv"
	"vitrine/op"
)

func TestService_GeneratedDocumentsAreCurrent(t *testing.T) {
	stale, err := StaleDocuments(testenv.ModuleRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) > 0 {
		t.Errorf("stale: %v; renew them with make docs", stale)
	}
}

func TestService_EverySchemaIsFlatAndCanBeCompiledByClients(t *testing.T) {
	echo.CheckSchemas(t, DocumentedCatalog())
}

func TestService_NamesRoutesAndHintsAreOfOneKind(t *testing.T) {
	c := DocumentedCatalog()
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
		if o.Example == nil {
			t.Errorf("%s has no example", o.Name)
		}
	}
}

// The operations that clients rely on by name; renaming one breaks them.
func TestOperations_NamesThatClientsRelyOnExist(t *testing.T) {
	c := DocumentedCatalog()
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

// looksLikeID matches the names of fields that usually name something.
var looksLikeID = regexp.MustCompile(`(^|_)(id|ids|h|hs|hash|hashes|token|cursor|query|ref|path)$|[a-z](Id|Ids|Hash|Path|Token|Cursor)$`)

// Tests over all operations fill in identifiers by what they are declared to name, so
// an input that declares nothing would be tried with nothing.
func TestIdentifiers_EveryInputDeclaresWhatItsIdentifiersName(t *testing.T) {
	declared := 0
	for _, o := range DocumentedCatalog().Operations {
		kinds := map[string]bool{}
		for _, id := range o.Identifiers {
			kinds[id.String()] = true
			declared++
		}
		if !kinds["tenant_id"] {
			t.Errorf("%s takes no tenant_id", o.Name)
		}
		for _, field := range identifierFields(o.Input, "") {
			if !kinds[field] {
				t.Errorf(`%s: the input's %s looks like an identifier; give the field a tag id:"…" with one of %v`, o.Name, field, op.IDKinds)
			}
		}
		for field := range kinds {
			if !hasField(o.Input, strings.Split(field, ".")) {
				t.Errorf("%s declares %s, which its schema does not have", o.Name, field)
			}
		}
	}
	if declared < 50 {
		t.Errorf("only %d identifiers are declared", declared)
	}
}

// identifierFields lists the fields of a schema whose name or form is an identifier's.
func identifierFields(s *huma.Schema, path string) (list []string) {
	for name, p := range s.Properties {
		leaf := p
		if p.Items != nil {
			leaf, name = p.Items, name+"[]"
		}
		switch {
		case leaf.Type == huma.TypeObject:
			list = append(list, identifierFields(leaf, path+name+".")...)
		case leaf.Type == huma.TypeString && (looksLikeID.MatchString(strings.TrimSuffix(name, "[]")) || strings.Contains(leaf.Pattern, "{40}") || leaf.Format == "uuid"):
			list = append(list, path+name)
		}
	}
	return list
}

func hasField(s *huma.Schema, path []string) bool {
	name, list := strings.CutSuffix(path[0], "[]")
	p := s.Properties[name]
	if p != nil && list {
		p = p.Items
	}
	return p != nil && (len(path) == 1 || hasField(p, path[1:]))
}

// TestCreates_NamesTheRouteOfWhatIsCreated: its path is that of a GET, and its members are
// texts of the output.
func TestCreates_NamesTheRouteOfWhatIsCreated(t *testing.T) {
	placeholder := regexp.MustCompile(`\{([^}]+)\}`)
	routes, checked := map[string]bool{}, 0
	for _, o := range DocumentedCatalog().Operations {
		if o.Method == "GET" {
			routes[placeholder.ReplaceAllString(o.Path, "{}")] = true
		}
	}
	for _, o := range DocumentedCatalog().Operations {
		if o.Creates == "" {
			continue
		}
		checked++
		if !routes[placeholder.ReplaceAllString(o.Creates, "{}")] {
			t.Errorf("%s creates %s, which no GET reads", o.Name, o.Creates)
		}
		for _, m := range placeholder.FindAllStringSubmatch(o.Creates, -1) {
			s := o.Output
			for part := range strings.SplitSeq(m[1], ".") {
				if s = s.Properties[part]; s == nil {
					t.Fatalf("%s creates %s, and its output has no %s", o.Name, o.Creates, m[1])
				}
			}
			if s.Type != huma.TypeString {
				t.Errorf("%s: %s is a %s", o.Name, m[1], s.Type)
			}
		}
	}
	if checked == 0 {
		t.Error("nothing creates anything")
	}
}
