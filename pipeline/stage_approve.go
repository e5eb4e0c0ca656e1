package pipeline

import (
	"vitrine/library"
	"vitrine/pipeline/expr"
	"vitrine/store"
)

// approve sets the review status.
type approve struct {
	Status  string `json:"status,omitempty" enum:"Approved,Rejected,PendingApproval,Draft" default:"Approved" doc:"The new status."`
	Note    string `json:"note,omitempty" maxLength:"1000" doc:"Why; kept in metadata.review_note."`
	Confirm bool   `json:"confirm,omitempty" doc:"Accepted and not needed."`
}

var kindApprove = newKind[approve](Kind{Type: "approve", Category: Transform, Doc: "Sets the review status of assets.", Args: []string{"status"}, Example: map[string]any{"status": "Approved"}})

func (s *approve) check(*checking) []library.FieldError { return nil }
func (s *approve) kinds() store.FactKinds               { return store.FactKinds{} }

func (s *approve) edit(_ *exec, r *Row) error {
	if s.Note != "" {
		if err := setMetadataValue(r, "review_note", expr.OfText(s.Note)); err != nil {
			return err
		}
	}
	r.Status = library.Status(s.Status)
	return nil
}
