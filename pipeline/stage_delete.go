package pipeline

import (
	"vitrine/library"
	"vitrine/store"
)

// deletion moves assets to the trash.
type deletion struct {
	Confirm bool `json:"confirm,omitempty" doc:"Must be true in a real run."`
}

var kindDelete = newKind[deletion](Kind{Type: "delete", Category: Action, Doc: "Moves assets to the trash, from which they can be brought back. No stage behind it gets them.", confirm: true,
	Example: map[string]any{"confirm": true}})

func (s *deletion) check(*checking) []library.FieldError { return nil }
func (s *deletion) kinds() store.FactKinds               { return store.FactKinds{} }
func (s *deletion) begin(*exec) error                    { return nil }

func (s *deletion) simulate(_ *exec, rows []*Row, t *tally) error {
	for _, r := range rows {
		t.trashed(r.Hash)
	}
	return nil
}

func (s *deletion) apply(x *exec, tx *store.Tx, assets []library.AssetHash, t *tally) error {
	moved, err := tx.TrashAssets(x.ctx, assets)
	for _, h := range moved {
		t.trashed(h)
	}
	t.missing = int64(len(assets) - len(moved))
	return err
}

func (t *tally) trashed(h library.AssetHash) {
	t.changed, t.gone = append(t.changed, h), append(t.gone, h)
	t.add("asset.trashed", "", 1)
}
