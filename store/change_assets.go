package store

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// ChangeResult is what became of a change to several assets.
type ChangeResult struct {
	OperationID string          // empty when nothing changed
	Changed     []library.Asset // as they are now
	Unchanged   []library.AssetHash
	Missing     []library.AssetHash // not in this tenant, or in the trash
}

// ChangeAssets applies edit to each asset and stores those it changed, in one write.
// edit may change the title, description, status and tags; anything else it does is
// ignored.
func (s *Store) ChangeAssets(ctx context.Context, actor library.Actor, hashes []library.AssetHash, edit func(*library.Asset)) (ChangeResult, error) {
	var out ChangeResult
	id, err := s.Write(ctx, actor, func(t *Tx) (err error) {
		out, err = t.ChangeAssets(ctx, hashes, edit)
		return err
	})
	out.OperationID = id
	return out, err
}

// ChangeAssets is ChangeAssets of the store as a part of a larger write. Of many
// assets, change some hundred at a time: the result holds them all.
func (t *Tx) ChangeAssets(ctx context.Context, hashes []library.AssetHash, edit func(*library.Asset)) (ChangeResult, error) {
	have, err := lockAssets(ctx, t, t.tenant(), hashes)
	if err != nil {
		return ChangeResult{}, err
	}
	var missing []library.AssetHash
	var list []change
	for _, h := range distinct(hashes) {
		a, ok := have[h]
		if !ok || a.Trashed {
			missing = append(missing, h)
			continue
		}
		after := a
		after.Tags = slices.Clone(a.Tags)
		edit(&after)
		list = append(list, change{before: a, after: after})
	}
	out, err := applyChanges(ctx, t, list)
	out.Missing = missing
	return out, err
}

func distinct(hashes []library.AssetHash) []library.AssetHash {
	out := make([]library.AssetHash, 0, len(hashes))
	seen := make(map[library.AssetHash]bool, len(hashes))
	for _, h := range hashes {
		if !seen[h] {
			seen[h] = true
			out = append(out, h)
		}
	}
	return out
}

// lockAssets reads rows for change, in hash order so that two changes of the
// same assets never wait for each other crosswise.
func lockAssets(ctx context.Context, tx pgx.Tx, tenant library.TenantID, hashes []library.AssetHash) (map[library.AssetHash]library.Asset, error) {
	rows, err := tx.Query(ctx, `SELECT `+assetColumns+` FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) ORDER BY asset_h FOR UPDATE`,
		tenant, hashes)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scanAsset)
	have := make(map[library.AssetHash]library.Asset, len(list))
	for _, a := range list {
		have[a.Hash] = a
	}
	return have, err
}

// change is one asset before and after an edit.
type change struct {
	before, after library.Asset
	touched       bool // the document changes even where the row does not: its links did
}

// fields is the part of an asset that people change, as the journal keeps it. A nil
// field did not change.
type fields struct {
	Title       *string         `json:"title,omitempty"`
	Description *string         `json:"description,omitempty"`
	Status      *library.Status `json:"status,omitempty"`
	Tags        *[]string       `json:"tags,omitempty"`
	Trashed     *bool           `json:"trashed,omitempty"`
}

// difference returns the changed fields on both sides; same is true when there are none.
func (c change) difference() (before, after fields, same bool) {
	same = true
	if c.before.Title != c.after.Title {
		before.Title, after.Title, same = &c.before.Title, &c.after.Title, false
	}
	if c.before.Description != c.after.Description {
		before.Description, after.Description, same = &c.before.Description, &c.after.Description, false
	}
	if c.before.Status != c.after.Status {
		before.Status, after.Status, same = &c.before.Status, &c.after.Status, false
	}
	if !slices.Equal(c.before.Tags, c.after.Tags) {
		before.Tags, after.Tags, same = &c.before.Tags, &c.after.Tags, false
	}
	if c.before.Trashed != c.after.Trashed {
		before.Trashed, after.Trashed, same = &c.before.Trashed, &c.after.Trashed, false
	}
	return before, after, same
}

// applyChanges is the one path by which existing assets change. The caller holds
// their rows.
func applyChanges(ctx context.Context, t *Tx, list []change) (ChangeResult, error) {
	var out ChangeResult
	b := &pgx.Batch{}
	for i := range list {
		c := &list[i]
		before, after, same := c.difference()
		if same && !c.touched {
			out.Unchanged = append(out.Unchanged, c.before.Hash)
			continue
		}
		c.after.DocVersion = c.before.DocVersion + 1
		a := c.after
		b.Queue(`UPDATE assets SET title = $3, description = $4, status = $5, tags = $6, doc_version = $7, updated_at = now(),
				trashed_at = CASE WHEN NOT $8 THEN NULL ELSE coalesce(trashed_at, now()) END
			WHERE tenant_id = $1 AND asset_h = $2 RETURNING updated_at`,
			t.tenant(), a.Hash, a.Title, a.Description, a.Status, a.Tags, a.DocVersion, a.Trashed).
			QueryRow(func(row pgx.Row) error { return row.Scan(&c.after.UpdatedAt) })
		if !same {
			if err := t.Record(ctx, assetNoun, string(a.Hash), before, after); err != nil {
				return out, err
			}
		}
		if err := t.reindexAsset(ctx, a.Hash, a.DocVersion, "updated"); err != nil {
			return out, err
		}
	}
	if b.Len() == 0 {
		return out, nil
	}
	if err := t.Send(ctx, b); err != nil {
		return out, err
	}
	for _, c := range list {
		if c.before.Trashed != c.after.Trashed {
			if err := resolveParentsOf(ctx, t, t.tenant(), c.after); err != nil {
				return out, err
			}
		}
		if c.after.DocVersion != c.before.DocVersion {
			out.Changed = append(out.Changed, c.after)
		}
	}
	out.OperationID = t.operation
	return out, nil
}
