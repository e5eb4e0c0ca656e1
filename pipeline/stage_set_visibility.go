package pipeline

import (
	"vitrine/library"
	"vitrine/store"
)

// setVisibility sets who sees assets.
type setVisibility struct {
	Visibility string `json:"visibility" enum:"private,team,public" doc:"private: its owner and admins. team: everybody in the tenant. public: as team, and may be shown outside."`
}

var kindSetVisibility = newKind[setVisibility](Kind{Type: "set_visibility", Category: Transform, Doc: "Sets who sees assets.", Args: []string{"visibility"}, Example: map[string]any{"visibility": "team"}})

func (s *setVisibility) check(*checking) []library.FieldError { return nil }
func (s *setVisibility) kinds() store.FactKinds               { return store.FactKinds{} }

func (s *setVisibility) edit(x *exec, r *Row) error {
	if err := mayShare(x, r); err != nil {
		return err
	}
	r.Visibility = library.Visibility(s.Visibility)
	return nil
}

// mayShare refuses a change of whose an asset is, or of who sees it, to those who may not.
func mayShare(x *exec, r *Row) error {
	if !x.actor().MayShare(r.Asset) {
		return cannot("only its owner or an admin changes who sees an asset")
	}
	return nil
}
