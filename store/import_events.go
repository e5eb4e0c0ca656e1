package store

import (
	"context"

	"vitrine/library"
)

// EventImportCompleted is the type of the event of an import in place that ended: it
// completed, failed or was cancelled.
const EventImportCompleted = "import.completed"

// emitImport emits the event of an import that ended.
func (t *Tx) emitImport(ctx context.Context, i library.Import) error {
	c := i.Counts
	return t.Emit(ctx, library.Event{Type: EventImportCompleted, Key: "import/" + i.ID, Payload: library.ImportEvent{
		ImportID: i.ID, Root: i.Root, Folder: library.VisibleText(i.Folder), State: string(i.State),
		Counts: library.ImportEventCounts{Found: c.Found, Stored: c.Stored, Already: c.Already, Skipped: c.Skipped, Failed: c.Failed, Missing: c.Missing}}})
}
