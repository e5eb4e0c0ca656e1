package assets

import (
	"vitrine/library"
	"vitrine/op"
)

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	const hash = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"
	return append(op.ChangeEvents("asset", "An asset", hash, []string{"status", "tags"}, "created", "updated", "trashed", "restored", "deleted"),
		op.DefineEvent("operation.undone", "An operation was undone.", library.UndoneEvent{UndoneID: "019a7e3b-0a11-7c02-8f6e-0b6f2d8f7a55", Cause: op.ExampleCause}))
}
