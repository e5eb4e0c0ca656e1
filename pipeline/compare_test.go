package pipeline_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"vitrine/library"
)

func mayUndo(library.Operation) error { return nil }

// equalEffects compares effects whatever their order.
func equalEffects(a, b []library.StageEffect) bool {
	sorted := func(list []library.StageEffect) []library.StageEffect {
		list = slices.Clone(list)
		slices.SortFunc(list, func(x, y library.StageEffect) int {
			if x.Kind+x.Field < y.Kind+y.Field {
				return -1
			}
			return 1
		})
		return list
	}
	return reflect.DeepEqual(sorted(a), sorted(b)) || len(a)+len(b) == 0
}

func encode(t *testing.T, stages []library.PipelineStage) string {
	t.Helper()
	raw, err := json.Marshal(stages)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
