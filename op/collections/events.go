package collections

import (
	"vitrine/library"
	"vitrine/op"
)

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	list := op.ChangeEvents("collection", "A collection", exampleCollection, []string{"name"}, "created", "updated", "trashed", "restored")
	for _, e := range []struct{ name, doc, item string }{
		{"collection.asset_added", "An asset was added to a collection.", exampleAsset},
		{"collection.asset_removed", "An asset was removed from a collection.", exampleAsset},
		{"collection.card_added", "A text card was added to a collection.", exampleCard},
		{"collection.card_removed", "A text card was removed from a collection.", exampleCard},
		{"collection.item_changed", "An asset or a text card of a collection was changed: its place, its role or its text.", exampleAsset},
	} {
		example := library.ChangeEvent{Noun: "collection_item", ID: e.item + "/" + exampleCollection, Changed: []string{}, Cause: op.ExampleCause}
		if e.name == "collection.item_changed" {
			example.Changed = []string{"rank", "role"}
		}
		list = append(list, op.DefineEvent(e.name, e.doc, example))
	}
	return list
}
