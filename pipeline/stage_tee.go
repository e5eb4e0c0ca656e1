package pipeline

import (
	"maps"
	"slices"

	"vitrine/library"
	"vitrine/store"
)

// tee does an action beside the flow: what it does leaves the set as it was.
type tee struct {
	Action  map[string]any `json:"action" doc:"A stage add_to_collection, move, set_tag, remove_tag or notify, flat: {\"type\": \"add_to_collection\", \"path\": \"review\"}."`
	Confirm bool           `json:"confirm,omitempty" doc:"Must be true in a real run."`

	inner Step
}

var kindTee = newKind[tee](Kind{Type: "tee", Category: Output, Doc: "Does one action beside the flow and passes the assets on unchanged. A dry run skips it.", confirm: true,
	Example: map[string]any{"action": map[string]any{"type": "add_to_collection", "path": "review", "create_if_missing": true}, "confirm": true}})

// teeActions are the stages that tee does.
var teeActions = []string{"add_to_collection", "move", "set_tag", "remove_tag", "notify"}

func (s *tee) check(c *checking) []library.FieldError {
	stage := StageFrom(s.Action)
	if k := LookupKind(stage.Type); k == nil || !slices.Contains(teeActions, k.Type) {
		return []library.FieldError{{Field: c.at + ".action.type", Code: "enum", Message: "Allowed are add_to_collection, move, set_tag, remove_tag and notify."}}
	}
	var errs []library.FieldError
	s.inner, errs = parseStage(stage, c.index, c.at+".action", Options{Now: c.now}, c.changed)
	return errs
}

// StageFrom returns the stage that an object is: {type, config, …}, with stage_type for type,
// or with the keys of the configuration beside the type.
func StageFrom(object map[string]any) library.PipelineStage {
	word := func(names ...string) string {
		for _, name := range names {
			if s, ok := object[name].(string); ok {
				return s
			}
		}
		return ""
	}
	s := library.PipelineStage{Type: word("type", "stage_type", "stageType"), ID: word("id"), Name: word("name"), OnError: word("on_error", "onError")}
	if config, ok := object["config"].(map[string]any); ok {
		s.Config = config
		return s
	}
	s.Config = maps.Clone(object)
	maps.DeleteFunc(s.Config, func(k string, _ any) bool {
		return slices.Contains([]string{"type", "stage_type", "stageType", "id", "name", "on_error", "onError", "config"}, k)
	})
	return s
}

// effect returns what the action does to assets; nil for notify, which tells of them.
func (s *tee) effect() effect {
	switch w := s.inner.work.(type) {
	case editor:
		return edits{w}
	case effect:
		return w
	}
	return nil
}

func (s *tee) kinds() store.FactKinds { return store.FactKinds{} }

func (s *tee) begin(x *exec) error {
	if e := s.effect(); e != nil {
		return e.begin(x)
	}
	return nil
}

func (s *tee) simulate(*exec, []*Row, *tally) error { return nil } // dry runs skip it

func (s *tee) apply(x *exec, tx *store.Tx, assets []library.AssetHash, t *tally) error {
	if e := s.effect(); e != nil {
		return e.apply(x, tx, assets, t)
	}
	return nil
}

// output emits the event of notify.
func (s *tee) output(x *exec, t *store.Tx) error {
	if n, ok := s.inner.work.(*notify); ok {
		return n.output(x, t)
	}
	return nil
}
