package search

import "vitrine/op"

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	return op.ChangeEvents("saved_search", "A saved search", "019a7e3d-11b0-7a3e-b1c4-8c7d5e9f0a32", []string{"query"}, "created", "updated", "deleted")
}
