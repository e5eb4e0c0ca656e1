package search

import (
	"vitrine/library"
	"vitrine/op"
)

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	list := op.ChangeEvents("saved_search", "A saved search", "019a7e3d-11b0-7a3e-b1c4-8c7d5e9f0a32", []string{"query"}, "created", "updated", "deleted")
	pair := library.ChangeEvent{Noun: "unlinked_duplicate", Changed: []string{}, Cause: op.ExampleCause,
		ID: "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12/da39a3ee5e6b4b0d3255bfef95601890afd80709"}
	return append(list, op.DefineEvent("duplicate.unlinked", "Two assets that look alike were unlinked: they are no duplicates.", pair),
		op.DefineEvent("duplicate.linked", "The unlinking of two assets was taken back.", pair))
}
