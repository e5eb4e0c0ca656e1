package comfy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// wordsOfTheReader returns the words that the package's code compares names with: inputs,
// classes, types.
func wordsOfTheReader(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{1,40}$`)
	seen := map[string]bool{}
	var words []string
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			for _, w := range strings.Fields(strings.Trim(lit.Value, "`\"")) {
				if word.MatchString(w) && !seen[w] {
					seen[w] = true
					words = append(words, w)
				}
			}
			return true
		})
	}
	if len(words) < 500 {
		t.Fatalf("%d words were found in the code", len(words))
	}
	return words
}

// A link that leads back to its own node is followed once, whatever its name and its node are:
// a graph that never ends would take the whole process with it.
func TestHostile_CyclesThroughEveryNameEnd(t *testing.T) {
	classes := []string{"KSampler", "SamplerCustomAdvanced", "CLIPTextEncode", "SaveImage", "KSampler (Efficient)", "VAEDecode", "PrimitiveNode", "Unheard", "ImpactSwitch", "LoraLoader", "EmptyLatentImage"}
	for _, name := range wordsOfTheReader(t) {
		for _, class := range append(classes, name) {
			for slot := range 2 {
				node := fmt.Sprintf(`{"class_type":%s,"inputs":{%q:["%%d",%d]}}`, strconv.Quote(class), name, slot)
				doc := fmt.Sprintf(`{"1":`+node+`,"2":`+node+`,"3":{"class_type":"SaveImage","inputs":{"images":["1",0]}},"4":{"class_type":"KSampler","inputs":{%q:["1",%d]}}}`, 2, 1, name, slot)
				if _, ok := Read(Input{Prompt: []byte(doc)}); !ok {
					t.Fatalf("no graph was found in %s", doc)
				}
			}
		}
	}
}
