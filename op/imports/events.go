package imports

import (
	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	return []op.EventType{op.DefineEvent(store.EventImportCompleted, "An import of a folder in place ended: it completed, failed or was cancelled. One that was interrupted goes on and emits no event before its end.",
		library.ImportEvent{ImportID: "0190a1b2-0000-7000-8000-000000000000", Root: "comfy", Folder: "output", State: string(library.ImportCompleted),
			Counts: library.ImportEventCounts{Found: 1250, Stored: 1200, Already: 48, Skipped: 16, Failed: 2}})}
}
