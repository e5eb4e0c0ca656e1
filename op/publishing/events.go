package publishing

import (
	"vitrine/library"
	"vitrine/op"
)

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	cause := op.ExampleCause
	cause.Tool = "PublishCollection"
	example := library.ChangeEvent{Noun: "publication", ID: exampleCollection, Changed: []string{"preset", "title"}, Cause: cause}
	gone := example
	gone.Changed = []string{"unpublished_at"}
	share := library.ChangeEvent{Noun: "share", ID: exampleShare, Changed: []string{"title"}, Cause: cause}
	share.Cause.Tool = "CreateShareLink"
	unshared := share
	unshared.Changed, unshared.Cause.Tool = []string{"unpublished_at"}, "DeleteShareLink"
	return []op.EventType{
		op.DefineEvent("collection.published", "A collection was published as a page, or how it is published was changed.", example),
		op.DefineEvent("collection.unpublished", "The page of a collection was taken away.", gone),
		op.DefineEvent("share.created", "A link was made that shares assets, or its deletion was undone.", share),
		op.DefineEvent("share.deleted", "A share link was deleted.", unshared),
	}
}
