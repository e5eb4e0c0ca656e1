package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The longest file and the longest function that read well, in lines.
const (
	maxFile     = 434
	maxFunction = 59
)

func TestSize_FilesAndFunctionsStayShort(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && path != root && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return err
		}
		if strings.HasSuffix(path, ".gen.go") || !strings.HasSuffix(path, ".go") {
			return nil
		}
		return measure(t, root, path)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// measure checks the length of a file and of its functions.
func measure(t *testing.T, root, path string) error {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	name = filepath.ToSlash(name)
	if lines := bytes.Count(text, []byte("\n")); lines > maxFile {
		t.Errorf("%s has %d lines; split what has more than %d by subject", name, lines, maxFile)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			if lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; lines > maxFunction {
				t.Errorf("%s: %s has %d lines; split what has more than %d by idea", name, f.Name.Name, lines, maxFunction)
			}
		}
	}
	return nil
}
