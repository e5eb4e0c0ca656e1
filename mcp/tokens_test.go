package mcp_test

import (
	"cmp"
	"slices"
	"testing"

	"vitrine/internal/nodetest"
	"vitrine/mcp"
	"vitrine/op"
	"vitrine/op/all"
)

// The budget of a tool in the context of a model, in tokens. A client pays for the list of
// tools in every conversation; there will be 72 of them.
const (
	maxInput     = 200 // of one tool without its output schema
	maxInputMean = 180
	maxMean      = 300 // with output schemas
)

// larger are the tools that take more: the language of queries, the ways a file is sent, all
// that can happen to a prompt, and all that can be said of a page.
var larger = map[string]int{"SearchAssets": 500, "StoreAsset": 350, "GetFacets": 220, "UpdatePrompt": 240, "ExportAssets": 290, "CreateRule": 360, "PublishCollection": 260}

type toolCost struct {
	name         string
	input, total int
}

// toolCosts counts the tokens of each tool of a catalog, the most expensive first.
func toolCosts(t *testing.T, c op.Catalog) []toolCost {
	t.Helper()
	texts := map[string]string{}
	var list []toolCost
	for _, o := range c.Operations {
		if o.RESTOnly {
			continue
		}
		for _, chained := range []bool{false, true} {
			shown := o
			shown.Chained = o.Chained && chained
			text, err := mcp.ToolJSON(shown)
			if err != nil {
				t.Fatal(err)
			}
			if chained {
				texts["total "+o.Name] = string(text)
			} else {
				texts["input "+o.Name] = string(text)
			}
		}
		list = append(list, toolCost{name: o.Name})
	}
	counts := nodetest.Tokens(t, texts)
	for i := range list {
		list[i].input, list[i].total = counts["input "+list[i].name], counts["total "+list[i].name]
	}
	slices.SortFunc(list, func(a, b toolCost) int { return cmp.Compare(b.total, a.total) })
	return list
}

func TestTools_StayWithinTheTokenBudget(t *testing.T) {
	t.Parallel()
	list := toolCosts(t, all.DocumentedCatalog())
	input, total := 0, 0
	for _, c := range list {
		t.Logf("| %s | %d | %d |", c.name, c.input, c.total)
		input, total = input+c.input, total+c.total
		if c.input < 30 || c.total < c.input {
			t.Errorf("%s takes %d tokens, %d with its output schema: something was not counted", c.name, c.input, c.total)
		}
		if allowed := cmp.Or(larger[c.name], maxInput); c.input > allowed {
			t.Errorf("%s takes %d tokens, allowed are %d: shorten its sentences", c.name, c.input, allowed)
		}
	}
	n := len(list)
	t.Logf("| %d tools | %d, mean %d | %d, mean %d |", n, input, input/n, total, total/n)
	if input > maxInputMean*n {
		t.Errorf("the tools take %d tokens on average, allowed are %d", input/n, maxInputMean)
	}
	if total > maxMean*n {
		t.Errorf("with output schemas they take %d tokens on average, allowed are %d", total/n, maxMean)
	}
}
