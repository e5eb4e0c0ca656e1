package store

import (
	"context"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// LineageGraph is an asset with what it was made from and what was made from it.
type LineageGraph struct {
	Nodes         []LineageNode // the asset asked about first, then level by level
	Edges         []LineageEdge
	Truncated     bool // there are more assets than were asked for
	HasMoreLevels bool // there are more levels than were asked for
}

// LineageNode is one asset of a chain.
type LineageNode struct {
	AssetWithLineage
	Redacted bool // not the actor's to see: Hash is a placeholder, and nothing else is set
	Depth    int  // 0 for the asset asked about, -1 for its parents, 1 for its children
}

// LineageEdge is the fact that an asset was made from a file.
type LineageEdge struct {
	Child library.AssetHash
	// AssetParent is the file. Its Asset is not among the chain's assets when it is
	// in the trash or gone.
	AssetParent
	// Evidence is why Asset is believed to be the file: hash, imagetool_job, name, or
	// uploader, who named it as parent_asset_h.
	Evidence string
}

// EvidenceUploader marks the link to the parent that the uploader named.
const EvidenceUploader = "uploader"

// lineageEdgesSQL reads both kinds of link: what files say, and what uploaders said.
func lineageEdgesSQL(condition string) string {
	return `SELECT asset_h, coalesce(parent_asset_h, ''), kind, name, hash, job_id, node_id, coalesce(resolved_by, ''), position
		FROM asset_parents WHERE tenant_id = $1 AND ` + condition + `
		UNION ALL
		SELECT asset_h, parent_asset_h, 'parent_asset_h', '', '', '', '', '` + EvidenceUploader + `', -1
		FROM assets WHERE tenant_id = $1 AND parent_asset_h IS NOT NULL AND ` + condition + `
		ORDER BY 1, 9 LIMIT $3`
}

func scanLineageEdge(row pgx.CollectableRow) (l LineageEdge, err error) {
	var position int
	err = row.Scan(&l.Child, &l.Asset, &l.Kind, &l.Name, &l.Hash, &l.JobID, &l.NodeID, &l.Evidence, &position)
	return l, err
}

// Graph returns an asset's ancestors, its descendants, or both, at most depth levels
// each way and at most limit assets and unknown files.
// Files that claim to descend from each other end no walk and hang none. Assets that the
// actor does not see stand in it as placeholders.
func (ln *Lineage) Graph(ctx context.Context, actor library.Actor, hash library.AssetHash, up, down bool, depth, limit int) (LineageGraph, error) {
	w := graphTraversal{tenant: actor.Tenant, depth: depth, limit: limit, nodes: map[library.AssetHash]bool{}, edges: map[LineageEdge]bool{}, omitted: map[library.AssetHash]bool{}}
	err := ln.s.inTenant(ctx, actor.Tenant, func(tx pgx.Tx) error {
		w.tx = tx
		start, err := getAssetWithLineage(ctx, tx, actor, hash)
		if err != nil {
			return err
		}
		w.addNode(start, 0)
		if up {
			err = w.levels(ctx, hash, -1)
		}
		if down && err == nil {
			err = w.levels(ctx, hash, 1)
		}
		if err != nil {
			return err
		}
		return w.graph.redact(ctx, tx, actor)
	})
	return w.graph, err
}

// graphTraversal is the state of one Chain.
type graphTraversal struct {
	tx           pgx.Tx
	tenant       library.TenantID
	depth, limit int
	graph        LineageGraph
	nodes        map[library.AssetHash]bool // assets of the chain
	edges        map[LineageEdge]bool
	unknown      int                        // links to files that no asset is
	omitted      map[library.AssetHash]bool // assets for which there was no room
}

func (w *graphTraversal) addNode(m AssetWithLineage, depth int) {
	w.nodes[m.Hash] = true
	w.graph.Nodes = append(w.graph.Nodes, LineageNode{AssetWithLineage: m, Depth: depth})
}

// levels walks one way: step is -1 for up, 1 for down.
func (w *graphTraversal) levels(ctx context.Context, start library.AssetHash, step int) error {
	condition := `asset_h = ANY($2)`
	if step > 0 {
		condition = `parent_asset_h = ANY($2)`
	}
	seen := map[library.AssetHash]bool{start: true}
	frontier := []library.AssetHash{start}
	for level := 1; len(frontier) > 0; level++ {
		links, err := w.readEdges(ctx, condition, frontier)
		if err != nil {
			return err
		}
		if level > w.depth {
			deeper, err := w.hasUnvisited(ctx, links, seen, step)
			w.graph.HasMoreLevels = w.graph.HasMoreLevels || deeper
			return err
		}
		if frontier, err = w.visitLevel(ctx, links, seen, level*step); err != nil || w.graph.Truncated {
			return err
		}
	}
	return nil
}

func (w *graphTraversal) readEdges(ctx context.Context, condition string, of []library.AssetHash) ([]LineageEdge, error) {
	rows, err := w.tx.Query(ctx, lineageEdgesSQL(condition), w.tenant, of, w.limit*4)
	if err != nil {
		return nil, err
	}
	links, err := pgx.CollectRows(rows, scanLineageEdge)
	w.graph.Truncated = w.graph.Truncated || len(links) == w.limit*4
	return links, err
}

// hasUnvisited reports whether links lead to what the walk has not met. A parent that is
// no asset at hand is shown as a file; a child in the trash is not shown at all.
func (w *graphTraversal) hasUnvisited(ctx context.Context, links []LineageEdge, seen map[library.AssetHash]bool, step int) (bool, error) {
	var ask []library.AssetHash
	for _, l := range links {
		if far := l.farEnd(step); far == "" || !seen[far] {
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

// farEnd is the asset at the far end of a link, as the walk goes.
func (l LineageEdge) farEnd(step int) library.AssetHash {
	if step > 0 {
		return l.Child
	}
	return l.Asset
}

// visitLevel takes a level's links and the assets at their far ends into the chain and
// returns those from which the walk goes on.
func (w *graphTraversal) visitLevel(ctx context.Context, links []LineageEdge, seen map[library.AssetHash]bool, depth int) ([]library.AssetHash, error) {
	var ask, next []library.AssetHash
	for _, l := range links {
		if far := l.farEnd(depth); far != "" && !seen[far] {
			seen[far] = true
			ask = append(ask, far)
		}
	}
	found, err := queryAssetsWithLineage(ctx, w.tx, w.tenant, `AND asset_h = ANY($2)`, ask)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		switch {
		case w.nodes[m.Hash]: // met on the way up as well: a cycle
		case w.full():
			w.omitted[m.Hash] = true
			continue
		default:
			w.addNode(m, depth)
		}
		next = append(next, m.Hash)
	}
	for _, l := range links {
		w.addEdge(l, depth)
	}
	return next, nil
}

// addEdge takes a link into the chain once. A child that is not shown has none; a
// parent that is not shown is a file the tenant does not have at hand.
func (w *graphTraversal) addEdge(l LineageEdge, depth int) {
	if w.edges[l] || !w.nodes[l.Child] || w.omitted[l.Asset] {
		return
	}
	if !w.nodes[l.Asset] {
		if depth > 0 || w.full() {
			return
		}
		w.unknown++
	}
	w.edges[l] = true
	w.graph.Edges = append(w.graph.Edges, l)
}

func (w *graphTraversal) full() bool {
	if len(w.graph.Nodes)+w.unknown < w.limit {
		return false
	}
	w.graph.Truncated = true
	return true
}
