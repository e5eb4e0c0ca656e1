package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"vitrine/library"
	"vitrine/prompt"
	"vitrine/store/internal/pg"
)

// PromptLinkJob compares the versions of a tenant that came or went with its images.
type PromptLinkJob struct {
	Tenant library.TenantID `json:"tenant_id"`
}

// Kind implements JobArgs.
func (PromptLinkJob) Kind() string { return "link_prompts" }

const (
	// linkPage is how many assets are compared in one transaction.
	linkPage = 1000
	// linkVersions is how many versions are compared with the library at once. Their texts
	// are in memory meanwhile.
	linkVersions = 1000
)

// LinkProgress is what a call of LinkPending did.
type LinkProgress struct {
	Versions int  // that were compared with all images
	Links    int  // images whose links were looked at again
	More     bool // versions are left; call again
}

// pendingVersion is a version that came or went and that images are to be compared with.
type pendingVersion struct {
	promptCandidate
	live   bool
	anchor *int64
	round  int64
	after  library.AssetHash
}

// LinkPending compares versions that came, went or came back with the images of the
// library, page by page, and begins no page once limit is over. How far it came is kept
// after every page, so the next call goes on there. While another process does the same for
// the tenant it does nothing, and there is more.
func (ps *Prompts) LinkPending(ctx context.Context, tenant library.TenantID, limit time.Duration) (p LinkProgress, err error) {
	until := time.Now().Add(limit)
	err = pg.TryLocked(ctx, ps.s.indexer, pg.LockOf(pg.LinkLock, string(tenant)), errLinking, func(*pgxpool.Conn) error {
		for {
			group, err := ps.pendingVersions(ctx, tenant)
			if p.More = err == nil && len(group) > 0; !p.More {
				return err
			}
			if done, err := ps.linkGroup(ctx, tenant, group, until, &p); !done {
				return err
			}
		}
	})
	if errors.Is(err, errLinking) {
		return LinkProgress{More: true}, nil
	}
	return p, err
}

// errLinking is where another process compares the tenant's versions.
var errLinking = errors.New("the versions of the tenant are being compared with its images")

// pendingVersions reads versions that have come equally far, the farthest first: so those
// that come meanwhile hold up none.
func (ps *Prompts) pendingVersions(ctx context.Context, tenant library.TenantID) (list []pendingVersion, err error) {
	err = ps.s.readTenant(ctx, tenant, `SELECT version_h, body, deleted_at IS NULL, anchor, link_round, linked_after FROM prompt_versions
		WHERE tenant_id = $1 AND linked_at IS NULL AND linked_after = (SELECT max(linked_after) FROM prompt_versions WHERE tenant_id = $1 AND linked_at IS NULL)
		ORDER BY created_at, version_h LIMIT $2`, []any{tenant, linkVersions}, func(rows pgx.Rows) (err error) {
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (v pendingVersion, err error) {
			err = row.Scan(&v.version, &v.text, &v.live, &v.anchor, &v.round, &v.after)
			return v, err
		})
		return err
	})
	return list, err
}

// linkGroup compares versions that have come equally far with the assets behind that. It
// reports whether that was all of them.
func (ps *Prompts) linkGroup(ctx context.Context, tenant library.TenantID, group []pendingVersion, until time.Time, p *LinkProgress) (done bool, err error) {
	anchors := map[int64][]*prompt.Matcher{}
	var all []library.PromptVersionHash
	for _, v := range group {
		all = append(all, v.version)
		if m := v.matcher(); m != nil && v.live && v.anchor != nil {
			anchors[*v.anchor] = append(anchors[*v.anchor], m)
		}
	}
	after := group[0].after
	for more := true; more; {
		var found []library.AssetHash
		if found, after, more, err = ps.rendersAfter(ctx, tenant, all, anchors, after); err != nil {
			return false, err
		}
		for chunk := range slices.Chunk(found, 100) {
			if err := ps.relinkEach(ctx, tenant, chunk); err != nil {
				return false, err
			}
			p.Links += len(chunk)
		}
		if err := ps.keepLinkProgress(ctx, tenant, group, after, !more); err != nil {
			return false, err
		}
		if more && time.Now().After(until) {
			return false, nil
		}
	}
	p.Versions += len(group)
	return time.Now().Before(until), nil
}

// keepLinkProgress keeps how far versions were compared, of those that did not change
// meanwhile: these begin anew.
func (ps *Prompts) keepLinkProgress(ctx context.Context, tenant library.TenantID, group []pendingVersion, after library.AssetHash, done bool) error {
	var versions []library.PromptVersionHash
	var rounds []int64
	for _, v := range group {
		versions, rounds = append(versions, v.version), append(rounds, v.round)
	}
	return ps.s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE prompt_versions v SET linked_after = $4, linked_at = CASE WHEN $5 THEN now() END FROM unnest($2::text[], $3::bigint[]) AS d(version_h, round)
			WHERE v.tenant_id = $1 AND v.version_h = d.version_h AND v.link_round = d.round`, tenant, versions, rounds, after, done)
		return err
	})
}

// rendersAfter returns, of a page of assets, those that are linked to a version or whose
// prompts a matcher takes, and where the next page begins.
func (ps *Prompts) rendersAfter(ctx context.Context, tenant library.TenantID, linked []library.PromptVersionHash, anchors map[int64][]*prompt.Matcher, after library.AssetHash) (
	found []library.AssetHash, last library.AssetHash, more bool, err error) {
	n := 0
	last = after
	err = ps.s.readTenant(ctx, tenant, `SELECT l.asset_h, l.positive, EXISTS (SELECT FROM prompt_links k WHERE k.tenant_id = l.tenant_id AND k.asset_h = l.asset_h AND k.version_h = ANY($3))
		FROM lineage l WHERE l.tenant_id = $1 AND l.asset_h > $2 AND l.positive <> '' ORDER BY l.asset_h LIMIT $4`,
		[]any{tenant, after, linked, linkPage}, func(rows pgx.Rows) error {
			var asset library.AssetHash
			var positive string
			var isLinked bool
			_, err := pgx.ForEachRow(rows, []any{&asset, &positive, &isLinked}, func() error {
				n++
				last = asset
				if isLinked || takes(anchors, positive) {
					found = append(found, asset)
				}
				return nil
			})
			return err
		})
	return found, last, n == linkPage, err
}

// takes reports whether one of some matchers takes a prompt.
func takes(anchors map[int64][]*prompt.Matcher, positive string) bool {
	p := prompt.Read(positive)
	for _, a := range p.Anchors() {
		if slices.ContainsFunc(anchors[a], func(m *prompt.Matcher) bool { return m.Matches(p) }) {
			return true
		}
	}
	return false
}

// relinkEach links some assets again, and lets the index look at those whose links
// changed. Their rows of lineage are locked first, so the versions that are read after are
// the newest for whoever is the last to do so.
func (ps *Prompts) relinkEach(ctx context.Context, tenant library.TenantID, assets []library.AssetHash) error {
	_, err := ps.s.Write(ctx, library.Actor{Kind: library.ActorSystem, ID: "prompts", Tenant: tenant}, func(t *Tx) error {
		if err := lockPromptsShared(ctx, t, tenant); err != nil {
			return err
		}
		// Whoever reads a file again locks the asset before its lineage.
		if _, err := t.Exec(ctx, `SELECT FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) ORDER BY asset_h FOR NO KEY UPDATE`, tenant, assets); err != nil {
			return err
		}
		rows, err := t.Query(ctx, `SELECT asset_h, positive FROM lineage WHERE tenant_id = $1 AND asset_h = ANY($2) ORDER BY asset_h FOR UPDATE`, tenant, assets)
		if err != nil {
			return err
		}
		type row struct {
			Asset    library.AssetHash
			Positive *string
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
		if err != nil {
			return err
		}
		var changed []string
		for _, r := range list {
			switch is, err := relink(ctx, t, tenant, r.Asset, r.Positive); {
			case err != nil:
				return err
			case is:
				changed = append(changed, string(r.Asset))
			}
		}
		return t.reindexAssets(ctx, "prompts", changed)
	})
	return err
}
