package pipeline

import (
	"slices"

	"vitrine/library"
	"vitrine/store"
)

// editor is a stage that changes fields of assets, one by one and each for itself.
type editor interface {
	stage
	kinds() store.FactKinds
	// edit changes a row. An *errAsset tells why this one cannot be changed.
	edit(x *exec, r *Row) error
}

// edits is the effect of an editor. Run and dry run use the same edit, so that they agree.
type edits struct{ editor }

func (edits) begin(*exec) error { return nil }

func (e edits) simulate(x *exec, rows []*Row, t *tally) error {
	for _, r := range rows {
		before := r.Asset
		if err := e.one(x, r, t); err != nil {
			return err
		}
		t.updated(before, r.Asset)
	}
	return nil
}

func (e edits) apply(x *exec, tx *store.Tx, assets []library.AssetHash, t *tally) error {
	facts, err := tx.Facts(x.ctx, assets, e.kinds())
	if err != nil {
		return err
	}
	var failed error
	done, err := tx.ChangeAssets(x.ctx, assets, func(a *library.Asset) {
		r := &Row{*a, facts[a.Hash]}
		if err := e.one(x, r, t); err != nil {
			failed = err
			return
		}
		t.updated(*a, r.Asset)
		*a = r.Asset
	})
	if t.missing = int64(len(done.Missing)); failed != nil {
		return failed
	}
	return err
}

// one edits one row, or notes why that cannot be and leaves it as it was.
func (e edits) one(x *exec, r *Row, t *tally) error {
	before := *r
	before.Tags = slices.Clone(r.Tags)
	err := e.edit(x, r)
	if err == nil {
		return nil
	}
	reason, err := asAssetError(err)
	if reason == nil {
		return err
	}
	*r = before
	t.fail(reason)
	return nil
}

func (t *tally) fail(e *errAsset) {
	if t.failed++; t.reason == "" {
		t.reason = e.reason
	}
}

// updated counts the change of an asset.
func (t *tally) updated(before, after library.Asset) {
	fields := store.ChangedFields(before, after)
	if len(fields) == 0 {
		return
	}
	t.changed = append(t.changed, after.Hash)
	t.add("asset.updated", "", 1)
	for _, f := range fields {
		t.add("asset.updated", f, 1)
	}
}
