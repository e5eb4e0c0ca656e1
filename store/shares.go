package store

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Shares keeps the links by which some assets are shared. They are publications without a collection.
type Shares struct{ s *Store }

// MaxShares is how many share links one tenant may have, those that have expired among them.
const MaxShares = 1000

// MaxShared is how many assets one link shares.
const MaxShared = 100

const (
	eventShared   = "share.created"
	eventUnshared = "share.deleted"
	// auditShared is the entry of the audit trail that says which assets a link shares.
	auditShared = "assets.shared"
)

// shareNoun is a share link; its key is its id. Undoing its creation deletes it, and undoing
// that brings it back at the same address.
var shareNoun = publishedNoun("share", eventShared, eventShared, eventShared, eventUnshared)

func init() { register(shareNoun, undoRows) }

// sharesFrom is what a list of share links reads.
const sharesFrom = fromPublications + `AND p.collection_h IS NULL AND p.unpublished_at IS NULL `

// Create makes a link that shares p.Shared as the rest of p says, and returns it with the operation that
// made it. Assets that the actor does not see are NOT_FOUND and private ones ASSET_PRIVATE, unless skip
// leaves them out; where none remain, the list that is returned is empty and no link is made. One link too
// many is a conflict.
func (ss *Shares) Create(ctx context.Context, actor library.Actor, p library.Publication, skip bool) (out library.Publication, operationID string, err error) {
	operationID, err = ss.s.Write(ctx, actor, func(t *Tx) error {
		out = library.Publication{}
		shared, err := t.sharable(ctx, p.Shared, skip)
		if err != nil || len(shared) == 0 {
			return err
		}
		fresh, err := t.beginPublication(ctx, newID())
		if err != nil {
			return err
		}
		var have int
		if err := t.QueryRow(ctx, `SELECT count(*)`+sharesFrom, t.tenant()).Scan(&have); err != nil {
			return err
		}
		if have >= MaxShares {
			return library.NewError(library.KindConflict, library.CodeConflict, "This tenant has %d share links, the maximum. Delete some first, such as those that have expired.", MaxShares)
		}
		out = p
		out.ID, out.Tenant, out.Segment, out.Secret, out.Shared = fresh.ID, fresh.Tenant, fresh.Segment, fresh.Secret, shared
		out.Slug = randomText(16) // the segment is known to visitors of other pages
		detail := publicationRules(out)
		detail["asset_hs"] = shared
		if err := t.Audit(ctx, auditShared, out.ID, detail); err != nil {
			return err
		}
		return t.putPublication(ctx, shareNoun, &out)
	})
	return out, operationID, err
}

// sharable returns those of some assets that may be shared, in their order. Without skip, all must be.
func (t *Tx) sharable(ctx context.Context, assets []library.AssetHash, skip bool) (list []library.AssetHash, err error) {
	found := map[library.AssetHash]bool{} // whether it is private
	rows, err := t.Query(ctx, `SELECT asset_h, visibility = 'private' FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) AND trashed_at IS NULL AND `+
		visibleTo("assets", "$3")+` ORDER BY asset_h FOR SHARE`, t.tenant(), assets, viewer(t.actor))
	if err != nil {
		return nil, err
	}
	var h library.AssetHash
	var hidden bool
	if _, err := pgx.ForEachRow(rows, []any{&h, &hidden}, func() error { found[h] = hidden; return nil }); err != nil {
		return nil, err
	}
	var missing, private []string
	for _, h := range assets {
		switch hidden, ok := found[h]; {
		case !ok:
			missing = append(missing, string(h))
		case hidden:
			private = append(private, string(h))
		default:
			list = append(list, h)
		}
	}
	if skip {
		return list, nil
	}
	return list, mayLeave(missing, private, "shared")
}

// unshare takes assets $2 out of all share links, as a deleted row of a collection's item does for
// published collections: who stores the same bytes later has not shared them.
const unshare = `UPDATE publications SET asset_hs = ARRAY(SELECT h FROM unnest(asset_hs) WITH ORDINALITY AS x(h, n) WHERE h <> ALL($2::text[]) ORDER BY n)
	WHERE tenant_id = $1 AND asset_hs && $2::text[]`

// SharedPage is a share link with how many assets its page shows.
type SharedPage struct {
	library.Publication
	Assets int
}

func scanShare(row pgx.CollectableRow) (p SharedPage, err error) {
	err = row.Scan(append([]any{&p.Assets}, publicationFields(&p.Publication)...)...)
	return p, err
}

// List returns a page of a tenant's share links that are not deleted, the latest first, and how many there are.
func (ss *Shares) List(ctx context.Context, tenant library.TenantID, limit, offset int) (list []SharedPage, total int, err error) {
	err = ss.s.inTenant(ctx, tenant, func(tx pgx.Tx) (err error) {
		if err := tx.QueryRow(ctx, `SELECT count(*)`+sharesFrom, tenant).Scan(&total); err != nil {
			return err
		}
		list, err = queryRows(ctx, tx, scanShare, `SELECT (SELECT count(*) FROM assets a WHERE a.tenant_id = p.tenant_id AND a.asset_h = ANY(p.asset_hs) AND `+shownToVisitors+`), `+
			publicationColumns+sharesFrom+`ORDER BY p.publication_id DESC LIMIT $2 OFFSET $3`, tenant, limit, offset)
		return err
	})
	return list, total, err
}

// Get returns a share link that is not deleted; a not-found error when there is none.
func (ss *Shares) Get(ctx context.Context, tenant library.TenantID, id string) (p library.Publication, err error) {
	err = ss.s.inTenant(ctx, tenant, func(tx pgx.Tx) (err error) {
		p, err = shareIn(ctx, tx, tenant, id)
		return err
	})
	return p, err
}

func shareIn(ctx context.Context, tx pgx.Tx, tenant library.TenantID, id string) (library.Publication, error) {
	p, err := publicationIn(ctx, tx, tenant, id)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (p.Collection != "" || p.UnpublishedAt != nil) {
		err = library.NotFound("share link")
	}
	return p, err
}

// Delete deletes a share link, whose page is not there from then on; a not-found error when there is none.
func (ss *Shares) Delete(ctx context.Context, actor library.Actor, id string) (operationID string, err error) {
	return ss.s.Write(ctx, actor, func(t *Tx) error {
		if _, err := shareIn(ctx, t.Tx, t.tenant(), id); err != nil {
			return err
		}
		return t.takeAway(ctx, shareNoun, id)
	})
}
