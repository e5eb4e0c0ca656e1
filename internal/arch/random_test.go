package arch

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A random test that draws its own seed cannot be repeated.
func TestRandomTests_GoThroughRandtest(t *testing.T) {
	const root = "../.."
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && path != root || entry.Name() == "randtest") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "random_test.go" && filepath.Base(filepath.Dir(path)) == "arch" {
			return nil
		}
		content, err := os.ReadFile(path)
		for _, call := range []string{"rapid.Check(", "rapid.MakeCheck(", "rand.Shuffle("} {
			if bytes.Contains(content, []byte("\t"+call)) {
				t.Errorf("%s calls %s…): use package randtest, whose seeds are printed and can be given", path, call)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
