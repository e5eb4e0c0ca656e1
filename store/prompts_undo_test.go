package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"vitrine/library"
	"vitrine/store"
)

// The cases of TestUndo_OfRandomChangesInRandomOrderEqualsANaiveModel for prompts and what
// belongs to them. What is created and deleted together is tested in prompts_test.go.

func (s bench) promptEdit(t *testing.T, p library.PromptHash, e store.PromptEdit) string {
	t.Helper()
	got, err := s.Prompts.Change(t.Context(), s.a, p, e)
	if err != nil {
		t.Fatal(err)
	}
	return got.OperationID
}

// twoPrompts are prompts of the test, with two versions each.
func (s bench) twoPrompts(t *testing.T) []library.PromptHash {
	t.Helper()
	var list []library.PromptHash
	for _, name := range []string{"fox", "owl"} {
		p := s.prompt(t, "a "+name+" in snow").Prompt.Hash
		s.addVersion(t, p, "a "+name+" in deep snow")
		list = append(list, p)
	}
	return list
}

func (s bench) promptChanges(t *testing.T) changes {
	var list []library.PromptHash
	return changes{trash: "deleted",
		read: `SELECT prompt_h, jsonb_build_object('name', name, 'description', description, 'category', category, 'model', target_model, 'tags', tags::text, 'deleted', deleted_at IS NOT NULL) FROM prompts`,
		random: func(r *rand.Rand, _ []string) string {
			if list == nil {
				list = s.twoPrompts(t)
			}
			return s.promptEdit(t, list[r.IntN(2)], store.PromptEdit{Version: store.LatestVersion, Change: func(p *library.Prompt) error {
				switch r.IntN(5) {
				case 0:
					p.Name = pick(r, "", "Fox", "Owl")
				case 1:
					p.Description = pick(r, "", "long", "longer")
				case 2:
					p.Category = pick(r, "", "animals", "birds")
				case 3:
					p.TargetModel = pick(r, "flux", "sdxl")
				case 4:
					p.Tags = []string{pick(r, "a", "b", "c")}
				}
				return nil
			}})
		}}
}

func (s bench) promptVersionChanges(t *testing.T) changes {
	list := s.twoPrompts(t)
	return changes{trash: "deleted",
		read: `SELECT version_h, jsonb_build_object('number', number, 'text', body, 'at', created_at, 'deleted', deleted_at IS NOT NULL) FROM prompt_versions`,
		random: func(r *rand.Rand, _ []string) string {
			p := list[r.IntN(2)]
			return s.promptEdit(t, p, store.PromptEdit{Text: fmt.Sprintf("%s in the %s %s snow", string(p)[:6], pick(r, "red", "blue", "green"), pick(r, "deep", "thin", "wet"))})
		}}
}

func (s bench) promptLabelChanges(t *testing.T) changes {
	list := s.twoPrompts(t)
	return changes{
		read: `SELECT prompt_h || '/' || label, jsonb_build_object('version', version_h, 'at', moved_at) FROM prompt_labels`,
		random: func(r *rand.Rand, _ []string) string {
			e := store.PromptEdit{Version: pick(r, "1", "2"), Labels: []string{pick(r, "a", "b", "c")}}
			if r.IntN(3) == 0 {
				e.Labels, e.RemoveLabels = nil, e.Labels
			}
			return s.promptEdit(t, list[r.IntN(2)], e)
		}}
}

func (s bench) promptEvaluationChanges(t *testing.T) changes {
	list := s.twoPrompts(t)
	return changes{
		read: `SELECT evaluation_id, jsonb_build_object('scores', scores::text, 'comments', comments) FROM prompt_evaluations`,
		random: func(r *rand.Rand, _ []string) string {
			return s.promptEdit(t, list[r.IntN(2)], store.PromptEdit{Version: pick(r, "1", "2"), Evaluation: &library.PromptEvaluation{
				Scores: map[string]float64{pick(r, "light", "form"): float64(1 + r.IntN(5))}, Evaluator: "human", Comments: pick(r, "", "good")}})
		}}
}
