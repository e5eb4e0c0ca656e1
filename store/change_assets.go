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

// ChangeAssets applies edit to each asset and stores those it changed, all in
// one transaction together with the undo record, the audit rows and the outbox
// rows. edit may change the title, description, status and tags; anything else
// it does is ignored.
func (s *Store) ChangeAssets(ctx context.Context, actor library.Actor, tool string, hashes []library.AssetHash,
	edit func(*library.Asset)) (ChangeResult, error) {
	var out ChangeResult
	err := s.retryDeadlock(ctx, actor.Tenant, func(tx pgx.Tx) error {
		have, err := lockAssets(ctx, tx, actor.Tenant, hashes)
		if err != nil {
			return err
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
		out, err = applyChanges(ctx, tx, actor, tool, list)
		out.Missing = missing
		return err
	})
	if err == nil && out.OperationID != "" {
		s.notifyOutbox()
	}
	return out, err
}

func distinct(hashes []library.AssetHash) []library.AssetHash {
	out := make([]library.AssetHash, 0, len(hashes))
	for _, h := range hashes {
		if !slices.Contains(out, h) {
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

// change is one asset before and after an edit, and the link to a model that
// comes or goes with it, if any.
type change struct {
	before, after library.Asset
	link          *linkChange
}

// fields is the part of an asset that people change, as undo records keep it.
// A nil field did not change.
type fields struct {
	Title       *string         `json:"title,omitempty"`
	Description *string         `json:"description,omitempty"`
	Status      *library.Status `json:"status,omitempty"`
	Tags        *[]string       `json:"tags,omitempty"`
	Trashed     *bool           `json:"trashed,omitempty"`
	Link        *ModelLink      `json:"link,omitempty"`
}

// difference gives the changed fields on both sides; same is true when there are none.
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
	if !c.link.same() {
		before.Link, after.Link, same = &c.link.before, &c.link.after, false
	}
	return before, after, same
}

// applyChanges is the one path by which existing assets change.
func applyChanges(ctx context.Context, tx pgx.Tx, actor library.Actor, tool string, list []change) (ChangeResult, error) {
	var out ChangeResult
	b := &pgx.Batch{}
	for i := range list {
		c := &list[i]
		before, after, same := c.difference()
		if same {
			out.Unchanged = append(out.Unchanged, c.before.Hash)
			continue
		}
		if out.OperationID == "" {
			out.OperationID = newID()
			batchOperation(b, actor, out.OperationID, tool)
		}
		c.after.DocVersion = c.before.DocVersion + 1
		a := c.after
		b.Queue(`UPDATE assets SET title = $3, description = $4, status = $5, tags = $6, doc_version = $7, updated_at = now(),
				trashed_at = CASE WHEN NOT $8 THEN NULL ELSE coalesce(trashed_at, now()) END
			WHERE tenant_id = $1 AND asset_h = $2 RETURNING updated_at`,
			actor.Tenant, a.Hash, a.Title, a.Description, a.Status, a.Tags, a.DocVersion, a.Trashed).
			QueryRow(func(row pgx.Row) error { return row.Scan(&c.after.UpdatedAt) })
		if after.Link != nil {
			batchModelLink(b, actor.Tenant, a.Hash, *c.link)
		}
		batchChange(b, actor.Tenant, out.OperationID, a, before, after)
		batchAudit(b, actor, "asset.updated", string(a.Hash), out.OperationID, after)
		batchOutbox(b, actor.Tenant, a.Hash, a.DocVersion, "updated")
	}
	if b.Len() == 0 {
		return out, nil
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return out, err
	}
	for _, c := range list {
		if c.before.Trashed != c.after.Trashed {
			if err := resolveParentsOf(ctx, tx, actor.Tenant, c.after); err != nil {
				return out, err
			}
		}
		if c.after.DocVersion != c.before.DocVersion {
			out.Changed = append(out.Changed, c.after)
		}
	}
	return out, nil
}
