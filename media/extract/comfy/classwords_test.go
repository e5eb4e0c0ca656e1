package comfy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// maxClassWords is how many words of class names stand in the code, as rules for classes
// that the table does not describe. What is known of a class belongs in the table: this
// number may only fall.
const maxClassWords = 345

// TestCode_NamesNoMoreClassesThanBefore counts the words of class names that rules in code ask
// for, so that knowledge about a class goes into the table.
func TestCode_NamesNoMoreClassesThanBefore(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		n := classWordsIn(f)
		if n > 0 {
			t.Logf("%s: %d", e.Name(), n)
		}
		total += n
	}
	t.Logf("%d words of class names in code", total)
	if total == 0 {
		t.Error("no word was found: this test does not see the code")
	}
	if total > maxClassWords {
		t.Errorf("%d words of class names stand in code, more than %d: describe the class in nodes/*.json instead", total, maxClassWords)
	}
}

// classWordsIn counts the texts that a file compares class names with: the arguments of
// node.is, and what a node's class or key is compared with.
func classWordsIn(f *ast.File) int {
	n := 0
	ast.Inspect(f, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.CallExpr:
			if fun, ok := x.Fun.(*ast.SelectorExpr); ok && (fun.Sel.Name == "is" || len(x.Args) > 0 && namesClass(x.Args[0])) {
				n += countTexts(x.Args)
			}
		case *ast.BinaryExpr:
			if namesClass(x.X) {
				n += countTexts([]ast.Expr{x.Y})
			}
		case *ast.SwitchStmt:
			if x.Tag == nil || !namesClass(x.Tag) {
				return true
			}
			for _, c := range x.Body.List {
				n += countTexts(c.(*ast.CaseClause).List)
			}
		}
		return true
	})
	return n
}

// namesClass reports whether an expression is the class of a node.
func namesClass(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "key" || sel.Sel.Name == "class")
}

func countTexts(list []ast.Expr) int {
	n := 0
	for _, e := range list {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			n++
		}
	}
	return n
}
