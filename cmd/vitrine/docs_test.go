package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vitrine/internal/testenv"
)

func TestDocs_TheReadmesSettingsAreCurrent(t *testing.T) {
	t.Parallel()
	root := testenv.ModuleRoot(t)
	want, err := readmeWithSettings(root)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Error("the README's settings are not those of the commands; renew them with make docs")
	}
}

var variable = regexp.MustCompile(`\bVITRINE_[A-Z_]+[A-Z]\b`)

// A variable that the product reads and no page names is a secret; one that a page
// names and nothing reads is a lie. The changelog names what was read once.
func TestDocs_EveryVariableIsDocumentedAndRead(t *testing.T) {
	t.Parallel()
	root := testenv.ModuleRoot(t)
	product := variablesIn(t, root, func(path string) bool { return filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") })
	anything := variablesIn(t, root, func(path string) bool { return filepath.Ext(path) == ".go" || filepath.Base(path) == "compose.yaml" })
	told := variablesIn(t, root, func(path string) bool { return filepath.Ext(path) == ".md" && !strings.Contains(path, "/changelog/") })
	if len(product) < 20 {
		t.Fatalf("only %d variables found: the test looks at the wrong place", len(product))
	}
	for name, where := range product {
		if told[name] == "" {
			t.Errorf("%s reads %s, which no page names", where, name)
		}
	}
	for name, where := range told {
		if anything[name] == "" {
			t.Errorf("%s names %s, which nothing reads", where, name)
		}
	}
}

// variablesIn returns every variable that these files name, with one that does.
func variablesIn(t *testing.T, root string, wanted func(path string) bool) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && path != root && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules") {
			return fs.SkipDir
		}
		if e.IsDir() || !wanted(path) {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, name := range variable.FindAllString(string(raw), -1) {
			found[name] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
