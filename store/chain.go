package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// Chain is an asset with what it was made from and what was made from it.
type Chain struct {
	Assets    []ChainAsset // the asset asked about first, then level by level
	Links     []ChainLink
	Truncated bool // there are more assets than were asked for
	Deeper    bool // there are more levels than were asked for
}

// ChainAsset is one asset of a chain.
type ChainAsset struct {
	MadeAsset
	Depth int // 0 for the asset asked about, -1 for its parents, 1 for its children
}

// ChainLink says that an asset was made from a file.
type ChainLink struct {
	Child library.AssetHash
	// AssetParent is the file. Its Asset is not among the chain's assets when it is
	// in the trash or gone.
	AssetParent
	// By tells why Asset is believed to be the file: hash, imagetool_job, name, or
	// uploader, who named it as parent_asset_h.
	By string
}

// ByUploader marks the link to the parent that the uploader named.
const ByUploader = "uploader"

// linksWhere reads both kinds of link: what files say, and what uploaders said.
func linksWhere(condition string) string {
	return `SELECT asset_h, coalesce(parent_asset_h, ''), kind, name, hash, job_id, node_id, coalesce(resolved_by, ''), position
		FROM asset_parents WHERE tenant_id = $1 AND ` + condition + `
		UNION ALL
		SELECT asset_h, parent_asset_h, 'parent_asset_h', '', '', '', '', '` + ByUploader + `', -1
		FROM assets WHERE tenant_id = $1 AND parent_asset_h IS NOT NULL AND ` + condition + `
		ORDER BY 1, 9 LIMIT $3`
}

func scanLink(row pgx.CollectableRow) (l ChainLink, err error) {
	var position int
	err = row.Scan(&l.Child, &l.Asset, &l.Kind, &l.Name, &l.Hash, &l.JobID, &l.NodeID, &l.By, &position)
	return l, err
}

// Chain walks up to an asset's ancestors, down to its descendants, or both, at
// most depth levels each way, and gives at most limit assets and unknown files.
// Files that claim to descend from each other end no walk and hang none.
func (s *Store) Chain(ctx context.Context, tenant library.TenantID, hash library.AssetHash, up, down bool, depth, limit int) (Chain, error) {
	w := walk{tenant: tenant, depth: depth, limit: limit, known: map[library.AssetHash]bool{}, linked: map[ChainLink]bool{}, left: map[library.AssetHash]bool{}}
	err := s.inTenant(ctx, tenant, func(tx pgx.Tx) error {
		w.tx = tx
		start, err := madeOne(ctx, tx, tenant, hash)
		if err != nil {
			return err
		}
		w.add(start, 0)
		if up {
			err = w.levels(ctx, hash, -1)
		}
		if down && err == nil {
			err = w.levels(ctx, hash, 1)
		}
		return err
	})
	return w.chain, err
}

// walk is the state of one Chain.
type walk struct {
	tx           pgx.Tx
	tenant       library.TenantID
	depth, limit int
	chain        Chain
	known        map[library.AssetHash]bool // assets of the chain
	linked       map[ChainLink]bool
	unknown      int                        // links to files that no asset is
	left         map[library.AssetHash]bool // assets for which there was no room
}

func (w *walk) add(m MadeAsset, depth int) {
	w.known[m.Hash] = true
	w.chain.Assets = append(w.chain.Assets, ChainAsset{MadeAsset: m, Depth: depth})
}

// levels walks one way: step is -1 for up, 1 for down.
func (w *walk) levels(ctx context.Context, start library.AssetHash, step int) error {
	condition := `asset_h = ANY($2)`
	if step > 0 {
		condition = `parent_asset_h = ANY($2)`
	}
	seen := map[library.AssetHash]bool{start: true}
	frontier := []library.AssetHash{start}
	for level := 1; len(frontier) > 0; level++ {
		links, err := w.links(ctx, condition, frontier)
		if err != nil {
			return err
		}
		if level > w.depth {
			deeper, err := w.anyNew(ctx, links, seen, step)
			w.chain.Deeper = w.chain.Deeper || deeper
			return err
		}
		if frontier, err = w.enter(ctx, links, seen, level*step); err != nil || w.chain.Truncated {
			return err
		}
	}
	return nil
}

func (w *walk) links(ctx context.Context, condition string, of []library.AssetHash) ([]ChainLink, error) {
	rows, err := w.tx.Query(ctx, linksWhere(condition), w.tenant, of, w.limit*4)
	if err != nil {
		return nil, err
	}
	links, err := pgx.CollectRows(rows, scanLink)
	w.chain.Truncated = w.chain.Truncated || len(links) == w.limit*4
	return links, err
}

// anyNew reports whether links lead to what the walk has not met. A parent that is
// no asset at hand is shown as a file; a child in the trash is not shown at all.
func (w *walk) anyNew(ctx context.Context, links []ChainLink, seen map[library.AssetHash]bool, step int) (bool, error) {
	var ask []library.AssetHash
	for _, l := range links {
		if far := l.end(step); far == "" || !seen[far] {
			ask = append(ask, far)
		}
	}
	if step < 0 || len(ask) == 0 {
		return len(ask) > 0, nil
	}
	var some bool
	err := w.tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) AND trashed_at IS NULL)`,
		w.tenant, ask).Scan(&some)
	return some, err
}

// end is the asset at the far end of a link, as the walk goes.
func (l ChainLink) end(step int) library.AssetHash {
	if step > 0 {
		return l.Child
	}
	return l.Asset
}

// enter takes a level's links and the assets at their far ends into the chain and
// gives those from which the walk goes on.
func (w *walk) enter(ctx context.Context, links []ChainLink, seen map[library.AssetHash]bool, depth int) ([]library.AssetHash, error) {
	var ask, next []library.AssetHash
	for _, l := range links {
		if far := l.end(depth); far != "" && !seen[far] {
			seen[far] = true
			ask = append(ask, far)
		}
	}
	found, err := made(ctx, w.tx, w.tenant, `AND asset_h = ANY($2)`, ask)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		switch {
		case w.known[m.Hash]: // met on the way up as well: a cycle
		case w.full():
			w.left[m.Hash] = true
			continue
		default:
			w.add(m, depth)
		}
		next = append(next, m.Hash)
	}
	for _, l := range links {
		w.link(l, depth)
	}
	return next, nil
}

// link takes a link into the chain once. A child that is not shown has none; a
// parent that is not shown is a file the tenant does not have at hand.
func (w *walk) link(l ChainLink, depth int) {
	if w.linked[l] || !w.known[l.Child] || w.left[l.Asset] {
		return
	}
	if !w.known[l.Asset] {
		if depth > 0 || w.full() {
			return
		}
		w.unknown++
	}
	w.linked[l] = true
	w.chain.Links = append(w.chain.Links, l)
}

func (w *walk) full() bool {
	if len(w.chain.Assets)+w.unknown < w.limit {
		return false
	}
	w.chain.Truncated = true
	return true
}
