package pipelines

import (
	"slices"
	"testing"

	"vitrine/library"
)

// Variables are a map, whose order is another one each time it is read.
func TestChanges_OfVersionsWithTheSameVariablesNamesNoVariable(t *testing.T) {
	t.Parallel()
	version := func(count string) library.Pipeline {
		vars := map[string]library.PipelineVar{}
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			vars[name] = library.PipelineVar{Type: "string", Default: name}
		}
		return library.Pipeline{Name: "p", Vars: vars, Stages: []library.PipelineStage{{Type: "limit", Config: map[string]any{"count": count}}}}
	}
	for range 20 {
		got := changes(version("1"), version("2"))
		if want := []string{`- limit "1"`, `+ limit "2"`}; !slices.Equal(got, want) {
			t.Fatalf("changes are %q, want %q", got, want)
		}
	}
}
