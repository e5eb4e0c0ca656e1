package pipeline

import (
	"strings"

	"vitrine/library"
	"vitrine/store"
)

// setOwner sets whose assets are.
type setOwner struct {
	Owner string `json:"owner" maxLength:"200" doc:"An actor's id; empty: nobody's."`
}

var kindSetOwner = newKind[setOwner](Kind{Type: "set_owner", Category: Transform, Doc: "Sets whose assets are.", Args: []string{"owner"}, Example: map[string]any{"owner": "key_7f3a"}})

func (s *setOwner) check(*checking) []library.FieldError {
	s.Owner = strings.TrimSpace(s.Owner)
	return nil
}

func (s *setOwner) kinds() store.FactKinds { return store.FactKinds{} }

func (s *setOwner) edit(x *exec, r *Row) error {
	if err := mayShare(x, r); err != nil {
		return err
	}
	r.Owner = s.Owner
	return nil
}
