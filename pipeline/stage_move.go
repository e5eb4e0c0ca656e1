package pipeline

import (
	"slices"

	"vitrine/library"
	"vitrine/store"
)

// move takes assets out of one collection and puts them into another.
type move struct {
	From   string `json:"from" minLength:"1" maxLength:"600" doc:"The path of the collection that they leave. Assets that are not in it stay where they are."`
	To     string `json:"to" minLength:"1" maxLength:"600" doc:"The path of the collection that they go to."`
	Create bool   `json:"create_if_missing,omitempty" doc:"Makes the collection that they go to where it is not there."`

	from, to target
}

var kindMove = newKind[move](Kind{Type: "move", Category: Action, Doc: "Moves assets from one collection to another.", Args: []string{"from", "to"}, Example: map[string]any{"from": "inbox", "to": "clients.spring"}})

func (s *move) check(c *checking) []library.FieldError {
	errs := append(checkPath(c, "from", s.From), checkPath(c, "to", s.To)...)
	if len(errs) == 0 && library.CollectionPath(s.From) == library.CollectionPath(s.To) {
		errs = append(errs, library.FieldError{Field: c.at + ".to", Code: "conflict", Message: "from and to are the same collection."})
	}
	return errs
}

func (s *move) kinds() store.FactKinds { return store.FactKinds{Collections: true} }

func (s *move) begin(x *exec) (err error) {
	if s.from, err = x.findTarget(s.From, false); err == nil {
		s.to, err = x.findTarget(s.To, s.Create)
	}
	return err
}

func (s *move) simulate(_ *exec, rows []*Row, t *tally) error {
	for _, r := range rows {
		have, member := r.memberOf(s.from.path)
		if !member {
			continue
		}
		r.Facts.Collections = slices.DeleteFunc(slices.Clone(r.Facts.Collections), func(m store.Membership) bool { return m == have })
		t.add("collection.asset_removed", "", 1)
		before := len(t.changed)
		r.join(s.to, nil, t)
		if len(t.changed) == before {
			t.changed = append(t.changed, r.Hash)
		}
	}
	return nil
}

func (s *move) apply(x *exec, tx *store.Tx, assets []library.AssetHash, t *tally) error {
	out, err := tx.RemoveFromCollection(x.ctx, string(s.from.hash), assets)
	if err != nil || len(out.Changed) == 0 {
		return err
	}
	t.add("collection.asset_removed", "", int64(len(out.Changed)))
	in, err := tx.AddToCollection(x.ctx, string(s.to.hash), store.NewItems{Assets: out.Changed})
	t.add("collection.asset_added", "", int64(len(in.Added)))
	t.changed = append(t.changed, out.Changed...)
	return err
}
