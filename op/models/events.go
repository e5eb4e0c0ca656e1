package models

import "vitrine/op"

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	const link = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12/6ce0161689/manual"
	return append(op.ChangeEvents("model_link", "A link of an asset with a model", link, []string{"weight"}, "created", "updated", "deleted"),
		op.ChangeEvents("model_version", "A version of a model", "019a7e3a-93c1-7f5d-a8e2-5d1b6c0f4e21", nil, "created", "trashed", "restored")...)
}
