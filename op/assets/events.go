package assets

import (
	"vitrine/library"
	"vitrine/op"
)

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	const hash = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"
	change := func(changed ...string) library.ChangeEvent {
		return library.ChangeEvent{Noun: "asset", ID: hash, Changed: append([]string{}, changed...), Cause: op.ExampleCause}
	}
	return append(op.ChangeEvents("asset", "An asset", hash, []string{"status", "tags"}, "created", "updated", "trashed", "restored", "deleted"),
		op.DefineEvent("asset.tagged", "The tags of an asset were changed. It comes beside asset.updated.", change("tags")),
		op.DefineEvent("asset.status_changed", "The status of an asset was changed. It comes beside asset.updated.",
			library.StatusEvent{ChangeEvent: change("status"), From: library.StatusPendingApproval, To: library.StatusApproved}),
		op.DefineEvent("asset.lineage_extracted", "Generation data was read out of an asset's file, when it was stored or by a later version of the parser.", change()),
		op.DefineEvent("model.detected", "A file names a model that the library has not met before.",
			library.ModelEvent{ModelH: "6ce0161689b3853acaa03779ec93eafe75a02f4c", AssetH: hash, Cause: op.ExampleCause}),
		op.DefineEvent("operation.undone", "An operation was undone.", library.UndoneEvent{UndoneID: "019a7e3b-0a11-7c02-8f6e-0b6f2d8f7a55", Cause: op.ExampleCause}))
}
