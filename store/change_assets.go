package store

import (
	"context"
	"slices"
	"time"

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

// Change applies edit to each asset and stores those it changed, in one write.
// edit may change the title, description, status, tags, owner, visibility, metadata, rating and favorite;
// anything else it does is ignored. An asset that the actor does not see is missing.
func (as *Assets) Change(ctx context.Context, actor library.Actor, hashes []library.AssetHash, edit func(*library.Asset)) (ChangeResult, error) {
	var out ChangeResult
	id, err := as.s.Write(ctx, actor, func(t *Tx) (err error) {
		out, err = t.ChangeAssets(ctx, hashes, edit)
		return err
	})
	out.OperationID = id
	return out, err
}

// ChangeAssets is Assets.Change as a part of a larger write. Of many
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
		if !ok || a.Trashed || !t.actor.Sees(a) {
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

func distinct[T comparable](hashes []T) []T {
	out := make([]T, 0, len(hashes))
	seen := make(map[T]bool, len(hashes))
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
	metadata      bool // it changed
	touched       bool // the document changes even where the row does not: its links did
}

// fields is the part of an asset that people change, as the journal keeps it. A nil
// field did not change.
type fields struct {
	Title       *string             `json:"title,omitempty"`
	Description *string             `json:"description,omitempty"`
	Status      *library.Status     `json:"status,omitempty"`
	Tags        *[]string           `json:"tags,omitempty"`
	Trashed     *bool               `json:"trashed,omitempty"`
	Owner       *string             `json:"owner,omitempty"`
	Visibility  *library.Visibility `json:"visibility,omitempty"`
	Metadata    *map[string]any     `json:"metadata,omitempty"`
	Rating      *int                `json:"rating,omitempty"`
	Favorite    *bool               `json:"favorite,omitempty"`
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
	if c.before.Owner != c.after.Owner {
		before.Owner, after.Owner, same = &c.before.Owner, &c.after.Owner, false
	}
	if c.before.Visibility != c.after.Visibility {
		before.Visibility, after.Visibility, same = &c.before.Visibility, &c.after.Visibility, false
	}
	if !equalJSON(c.before.Metadata, c.after.Metadata) {
		before.Metadata, after.Metadata, same = present(c.before.Metadata), present(c.after.Metadata), false
	}
	if c.before.Rating != c.after.Rating {
		before.Rating, after.Rating, same = &c.before.Rating, &c.after.Rating, false
	}
	if c.before.Favorite != c.after.Favorite {
		before.Favorite, after.Favorite, same = &c.before.Favorite, &c.after.Favorite, false
	}
	if c.before.Trashed != c.after.Trashed {
		before.Trashed, after.Trashed, same = &c.before.Trashed, &c.after.Trashed, false
	}
	return before, after, same
}

// present returns metadata as the journal keeps it: none is an empty object, which a
// field that did not change is told from.
func present(m map[string]any) *map[string]any {
	if m == nil {
		m = map[string]any{}
	}
	return &m
}

// applyChanges is the one path by which existing assets change. The caller holds
// their rows.
func applyChanges(ctx context.Context, t *Tx, list []change) (ChangeResult, error) {
	var out ChangeResult
	var changed []*change
	for i := range list {
		c := &list[i]
		before, after, same := c.difference()
		if same && !c.touched {
			out.Unchanged = append(out.Unchanged, c.before.Hash)
			continue
		}
		if len(c.after.Metadata) == 0 {
			c.after.Metadata = nil // as an asset that was stored without any
		}
		c.metadata = after.Metadata != nil
		c.after.DocVersion = c.before.DocVersion + 1
		changed = append(changed, c)
		if !same {
			if err := t.Record(ctx, assetNoun, string(c.after.Hash), before, after); err != nil {
				return out, err
			}
		}
		if err := t.reindexAsset(ctx, c.after.Hash, c.after.DocVersion, "updated"); err != nil {
			return out, err
		}
	}
	if len(changed) == 0 {
		return out, nil
	}
	b := &pgx.Batch{}
	if err := batchAssetUpdate(b, t.tenant(), changed); err != nil {
		return out, err
	}
	if err := t.Send(ctx, b); err != nil {
		return out, err
	}
	for _, c := range changed {
		if c.before.Trashed != c.after.Trashed {
			if err := resolveParentsOf(ctx, t, t.tenant(), c.after); err != nil {
				return out, err
			}
		}
		out.Changed = append(out.Changed, c.after)
	}
	out.OperationID = t.operation
	return out, nil
}

// batchAssetUpdate writes what assets are after their changes, in one statement, and
// fills in when that was.
func batchAssetUpdate(b *pgx.Batch, tenant library.TenantID, changed []*change) error {
	n := len(changed)
	hashes, titles, descriptions, statuses, tags := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	versions, trashed := make([]int64, n), make([]bool, n)
	owners, visibilities, metadata := make([]string, n), make([]string, n), make([]*string, n)
	ratings, favorites := make([]int, n), make([]bool, n)
	for i, c := range changed {
		list, err := jsonb(append([]string{}, c.after.Tags...))
		if err != nil {
			return err
		}
		hashes[i], titles[i], descriptions[i], statuses[i], tags[i] = string(c.after.Hash), c.after.Title, c.after.Description, string(c.after.Status), string(list)
		versions[i], trashed[i] = c.after.DocVersion, c.after.Trashed
		owners[i], visibilities[i] = c.after.Owner, string(c.after.Visibility)
		ratings[i], favorites[i] = c.after.Rating, c.after.Favorite
		if c.metadata {
			m, err := jsonb(c.after.Metadata)
			if err != nil {
				return err
			}
			metadata[i] = text(m)
		}
	}
	b.Queue(`UPDATE assets a SET title = c.title, description = c.description, status = c.status, doc_version = c.version, updated_at = now(),
			tags = ARRAY(SELECT tag FROM jsonb_array_elements_text(c.tags::jsonb) WITH ORDINALITY AS x(tag, place) ORDER BY place),
			owner = c.owner, visibility = c.visibility, rating = c.rating, favorite = c.favorite,
			metadata = CASE WHEN c.metadata IS NULL THEN a.metadata ELSE nullif(c.metadata::jsonb, 'null') END,
			trashed_at = CASE WHEN NOT c.trashed THEN NULL ELSE coalesce(a.trashed_at, now()) END
		FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::boolean[], $9::text[], $10::text[], $11::text[], $12::smallint[], $13::boolean[])
			AS c(asset_h, title, description, status, tags, version, trashed, owner, visibility, metadata, rating, favorite)
		WHERE a.tenant_id = $1 AND a.asset_h = c.asset_h RETURNING a.updated_at`,
		tenant, hashes, titles, descriptions, statuses, tags, versions, trashed, owners, visibilities, metadata, ratings, favorites).
		Query(func(rows pgx.Rows) error {
			var at time.Time
			_, err := pgx.ForEachRow(rows, []any{&at}, func() error { return nil })
			for _, c := range changed {
				c.after.UpdatedAt = at
			}
			return err
		})
	return nil
}

// ChangedFields returns the names of the fields in which an asset differs after a change that
// Change would store.
func ChangedFields(before, after library.Asset) []string {
	_, now, same := change{before: before, after: after}.difference()
	if same {
		return nil
	}
	var names []string
	for _, f := range []struct {
		name    string
		changed bool
	}{
		{"title", now.Title != nil}, {"description", now.Description != nil}, {"status", now.Status != nil}, {"tags", now.Tags != nil}, {"trashed", now.Trashed != nil},
		{"owner", now.Owner != nil}, {"visibility", now.Visibility != nil}, {"asset_metadata", now.Metadata != nil}, {"rating", now.Rating != nil}, {"favorite", now.Favorite != nil},
	} {
		if f.changed {
			names = append(names, f.name)
		}
	}
	return names
}
