package prompts

import (
	"vitrine/library"
	"vitrine/op"
)

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	const version, evaluation = "c1a4e6f0b2d3958716a0cbe5d4f3a2918070b6c5", "019a7e3c-5d2f-7b61-9c40-2f1f6b0c8e12"
	list := op.ChangeEvents("prompt", "A prompt", examplePrompt, []string{"name"}, "created", "updated", "trashed", "restored")
	for _, e := range []struct{ name, doc, noun, id string }{
		{"prompt.versioned", "A version was added to a prompt, or brought back.", "prompt_version", version},
		{"prompt.version_removed", "A version of a prompt was deleted.", "prompt_version", version},
		{"prompt.label_moved", "A label of a prompt was moved to a version.", "prompt_label", examplePrompt + "/production"},
		{"prompt.label_removed", "A label of a prompt was removed.", "prompt_label", examplePrompt + "/production"},
		{"prompt.evaluated", "A version of a prompt was evaluated.", "prompt_evaluation", evaluation},
		{"prompt.evaluation_removed", "An evaluation of a prompt was removed.", "prompt_evaluation", evaluation},
	} {
		list = append(list, op.DefineEvent(e.name, e.doc, library.ChangeEvent{Noun: e.noun, ID: e.id, Changed: []string{}, Cause: op.ExampleCause}))
	}
	return list
}
