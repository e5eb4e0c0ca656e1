package pipeline

import (
	"vitrine/library"
	"vitrine/store"
)

// archive sets the status Archived.
type archive struct {
	Confirm bool `json:"confirm,omitempty" doc:"Must be true in a real run."`
}

var kindArchive = newKind[archive](Kind{Type: "archive", Category: Action, Doc: "Archives assets: their status becomes Archived.", confirm: true, Example: map[string]any{"confirm": true}})

func (s *archive) check(*checking) []library.FieldError { return nil }
func (s *archive) kinds() store.FactKinds               { return store.FactKinds{} }

func (s *archive) edit(_ *exec, r *Row) error {
	r.Status = library.StatusArchived
	return nil
}
