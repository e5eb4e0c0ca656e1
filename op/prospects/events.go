package prospects

import (
	"vitrine/library"
	"vitrine/op"
)

// Events lists the events that this package's operations emit.
func (s *Service) Events() []op.EventType {
	var list []op.EventType
	for _, e := range []struct{ name, doc, noun string }{
		{"prospect.registered", "A profile, research or a deal of a prospect was recorded.", "prospect"},
		{"prospect.owner_set", "The owner of a prospect was recorded.", "prospect_owner"},
		{"prospect.touched", "A touch of a prospect was logged.", "prospect_touch"},
		{"prospect.replied", "A reply of a prospect was logged.", "prospect_reply"},
		{"prospect.suppressed", "A prospect was suppressed.", "prospect_suppression"},
		{"contact.stage_changed", "A prospect became a contact, or something of its pipeline was recorded.", "contact"},
		{"prospect.row_retracted", "Something that was recorded of a prospect was taken back.", "prospect"},
	} {
		list = append(list, op.DefineEvent(e.name, e.doc, library.ChangeEvent{Noun: e.noun, ID: exampleRow, Changed: []string{}, Cause: op.ExampleCause}))
	}
	return list
}
