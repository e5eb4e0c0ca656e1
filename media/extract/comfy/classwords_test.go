package comfy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// classWords are the words of class names that still stand in code, with how often. What is
// known of a class belongs in the table: words may only be taken away.
var classWords = map[string]int{
	"int": 1, "point": 1, "mathexpression": 1, // the kind of number that a calculation gives
	"save": 1, "saveimage": 1, // names that begin so, and the class that writes PNG alone
	"bus":     2, // names that begin or end so
	"Sampler": 1, // names that begin so and go on with that of a sampler
}

// TestCode_NamesNoMoreClassesThanBefore finds the words of class names that rules in code ask
// for, so that knowledge about a class goes into the table.
func TestCode_NamesNoMoreClassesThanBefore(t *testing.T) {
	found := map[string]int{}
	for name, f := range codeFiles(t) {
		for _, word := range classWordsIn(f) {
			if found[word]++; found[word] > classWords[word] {
				t.Errorf("%s compares a class name with %q: describe the class in nodes/*.json, or add a rule to words.json", name, word)
			}
		}
	}
	for word, n := range classWords {
		if found[word] < n {
			t.Errorf("the word %q stands in code %d times, not %d: take it out of the list", word, found[word], n)
		}
	}
}

// classWordsIn returns the texts that a file compares class names with: the arguments of
// node.is, and what a node's class or key is compared with.
func classWordsIn(f *ast.File) []string {
	var words []string
	ast.Inspect(f, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.CallExpr:
			if fun, ok := x.Fun.(*ast.SelectorExpr); ok && (fun.Sel.Name == "is" || len(x.Args) > 0 && namesClass(x.Args[0])) {
				words = append(words, textsOf(x.Args)...)
			}
		case *ast.BinaryExpr:
			if namesClass(x.X) {
				words = append(words, textsOf([]ast.Expr{x.Y})...)
			}
		case *ast.SwitchStmt:
			if x.Tag == nil || !namesClass(x.Tag) {
				return true
			}
			for _, c := range x.Body.List {
				words = append(words, textsOf(c.(*ast.CaseClause).List)...)
			}
		}
		return true
	})
	return words
}

// codeFiles returns the files of this package that are no tests, parsed, by their names.
func codeFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if files[e.Name()], err = parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// namesClass reports whether an expression is the class of a node.
func namesClass(e ast.Expr) bool {
	sel, ok := e.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "key" || sel.Sel.Name == "class")
}

// textsOf returns the texts among expressions.
func textsOf(list []ast.Expr) []string {
	var out []string
	for _, e := range list {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			out = append(out, strings.Trim(lit.Value, `"`+"`"))
		}
	}
	return out
}

// TestWords_EveryRuleIsUsedAndDescribed compares the rules that code asks for with those of
// words.json.
func TestWords_EveryRuleIsUsedAndDescribed(t *testing.T) {
	used := map[string]bool{}
	for _, f := range codeFiles(t) {
		ast.Inspect(f, func(x ast.Node) bool {
			if call, ok := x.(*ast.CallExpr); ok {
				if fun, ok := call.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "like" {
					used[strings.Trim(call.Args[0].(*ast.BasicLit).Value, `"`)] = true
				}
			}
			return true
		})
	}
	have := classes.Load().words
	for rule := range used {
		if len(have[rule]) == 0 {
			t.Errorf("code asks for the rule %q, of which words.json has no words", rule)
		}
	}
	for rule := range have {
		if !used[rule] {
			t.Errorf("words.json has the rule %q, which no code asks for", rule)
		}
	}
}

// TestWords_OfPeopleAreAddedToThoseThatShip reads a graph whose writer of texts only a file of
// one's own knows by a word, and refuses files with rules that there are not.
func TestWords_OfPeopleAreAddedToThoseThatShip(t *testing.T) {
	write := func(text string) string {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/own.json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	t.Cleanup(func() { _ = LoadClasses(t.TempDir()) })
	doc := []byte(`{"1":{"class_type":"KSampler","inputs":{"seed":1,"steps":2,"positive":["2",0],"model":["3",0]}},"2":{"class_type":"CLIPTextEncode","inputs":{"text":["4",0],"clip":["3",1]}},
		"3":{"class_type":"CheckpointLoaderSimple","inputs":{"ckpt_name":"a.safetensors"}},"4":{"class_type":"Muse Text","inputs":{"text":"write of a fox"}},"5":{"class_type":"SaveImage","inputs":{"images":["1",0]}}}`)
	if lin, _ := Read(Input{Prompt: doc}); textOf(lin.Positive) != "write of a fox" {
		t.Fatalf("without the word the prompt is %q", textOf(lin.Positive))
	}
	if err := LoadClasses(write(`{"pack":"mine","nodes":{},"words":{"writes_text":["muse"]}}`)); err != nil {
		t.Fatal(err)
	}
	if lin, _ := Read(Input{Prompt: doc}); lin.Positive != nil {
		t.Errorf("what a writer of texts was told is read as the prompt %q", *lin.Positive)
	}
	for _, bad := range []string{`{"nodes":{},"words":{"no such rule":["a"]}}`, `{"nodes":{},"words":{"writes_text":["Has Blanks"]}}`} {
		if err := LoadClasses(write(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
