package failpoint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var call = regexp.MustCompile(`failpoint\.Inject\("([^"]*)"\)`)

func TestFailpoint_NamesListExactlyThePlacesInTheCode(t *testing.T) {
	found := placesInCode(t, "../..")
	for name := range found {
		if Names[name] == "" {
			t.Errorf("the place %q is in the code and not in Names", name)
		}
	}
	for name := range Names {
		if !found[name] {
			t.Errorf("the place %q is in Names and nowhere in the code", name)
		}
	}
}

func placesInCode(t *testing.T, root string) map[string]bool {
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2 || d.Name() == "node_modules" || d.Name() == "failpoint") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range call.FindAllStringSubmatch(string(src), -1) {
			found[m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestFailpoint_APlainBuildHasNoFaults(t *testing.T) {
	if Enabled {
		t.Skip("this build has the tag failpoint")
	}
	t.Setenv("VITRINE_FAILPOINTS", "relay.before_publish=error")
	if err := Inject("relay.before_publish"); err != nil {
		t.Fatalf("Point = %v in a build without the tag", err)
	}
}
