package search_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestExplain_WhatIsExplainedIsWhatIsSent(t *testing.T) {
	t.Parallel()
	x := newIndex(t, nil)
	x.load(doc(1, "a fox"))
	var out struct{ DSL map[string]any }
	if f := x.try("ExplainQuery", map[string]any{"query": "chain:" + string(hash(1))}, &out); f != nil {
		t.Fatal(f)
	}
	sent, err := json.Marshal(out.DSL)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(sent), `"path":"lineage_root"`) {
		t.Errorf("the family of an asset is not looked up: %s", sent)
	}
}
