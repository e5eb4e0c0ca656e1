package all

import (
	"encoding/json"
	"slices"
	"testing"

	"vitrine/store"
)

func TestEvents_EveryTypeThatWritesEmitIsDeclaredOnceWithAnExampleThatFits(t *testing.T) {
	c := DocumentedCatalog()
	var declared []string
	for _, e := range c.Events {
		if !e.Direct {
			declared = append(declared, e.Name)
		}
		example, err := json.Marshal(e.Example)
		if err != nil {
			t.Fatal(err)
		}
		if wrong := e.CheckPayload(example); len(wrong) > 0 {
			t.Errorf("the example of %s breaks its schema: %+v", e.Name, wrong)
		}
		if wrong := e.CheckPayload([]byte(`{"surprise":1}`)); len(wrong) == 0 {
			t.Errorf("the schema of %s takes anything", e.Name)
		}
	}
	slices.Sort(declared)
	if emitted := store.EventTypes(); !slices.Equal(declared, emitted) {
		t.Errorf("declared are %v, emitted are %v", declared, emitted)
	}
}
