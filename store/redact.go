package store

import (
	"context"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"vitrine/library"
)

// kindPrivate is the kind of a link that a private asset's file records.
const kindPrivate = "private"

// placeholders are the names that stand for what a response hides, by their keys. They mean something within
// that answer only.
type placeholders map[string]string

func (p placeholders) of(key string) string {
	if p[key] == "" {
		p[key] = "private:" + strconv.Itoa(len(p)+1)
	}
	return p[key]
}

// redact puts placeholders in the place of assets that the actor does not see. The
// graph keeps its shape.
func (g *LineageGraph) redact(ctx context.Context, tx pgx.Tx, actor library.Actor) error {
	if actor.SeesAll() {
		return nil
	}
	hidden, shown := placeholders{}, map[library.AssetHash]bool{}
	for i, n := range g.Nodes {
		if actor.Sees(n.Asset) {
			shown[n.Hash] = true
			continue
		}
		g.Nodes[i] = LineageNode{Redacted: true, Depth: n.Depth}
		g.Nodes[i].Hash = library.AssetHash(hidden.of(string(n.Hash)))
	}
	absent, err := g.hiddenBeside(ctx, tx, actor, shown, hidden)
	if err != nil {
		return err
	}
	g.Edges = slices.DeleteFunc(g.Edges, func(l LineageEdge) bool {
		_, childHidden := hidden[string(l.Child)]
		_, parentHidden := hidden[string(l.Asset)]
		return childHidden && !parentHidden && !shown[l.Asset] || absent[l.Asset] && l.Evidence == EvidenceUploader
	})
	for i := range g.Edges {
		g.Edges[i].redact(hidden, absent)
	}
	return nil
}

// hiddenBeside returns the assets that links name, that are no nodes and that the actor
// does not see: private ones in the trash.
func (g *LineageGraph) hiddenBeside(ctx context.Context, tx pgx.Tx, actor library.Actor, shown map[library.AssetHash]bool, hidden placeholders) (map[library.AssetHash]bool, error) {
	var ask []library.AssetHash
	for _, l := range g.Edges {
		if _, known := hidden[string(l.Asset)]; l.Asset != "" && !known && !shown[l.Asset] {
			ask = append(ask, l.Asset)
		}
	}
	if len(ask) == 0 {
		return nil, nil
	}
	absent := map[library.AssetHash]bool{}
	rows, err := tx.Query(ctx, `SELECT asset_h FROM assets WHERE tenant_id = $1 AND asset_h = ANY($2) AND NOT `+visibleTo("assets", "$3"),
		actor.Tenant, ask, viewer(actor))
	if err != nil {
		return nil, err
	}
	var h library.AssetHash
	_, err = pgx.ForEachRow(rows, []any{&h}, func() error {
		absent[h] = true
		return nil
	})
	return absent, err
}

// redact leaves of a link what the file of its visible end records.
func (l *LineageEdge) redact(hidden placeholders, absent map[library.AssetHash]bool) {
	if name, ok := hidden[string(l.Asset)]; ok {
		l.Asset, l.Name, l.Hash, l.JobID = library.AssetHash(name), "", "", ""
	} else if absent[l.Asset] {
		l.Asset, l.Evidence = "", ""
	}
	if name, ok := hidden[string(l.Child)]; ok {
		l.Child, l.Kind, l.NodeID, l.Name, l.Hash, l.JobID = library.AssetHash(name), kindPrivate, "", "", "", ""
	}
}

// redact puts placeholders in the place of jobs that the actor sees no picture of, and
// leaves out single pictures that it does not see. A job that is known by name only is
// shown when a job that is shown names it.
func (c *ImagetoolJobChain) redact(actor library.Actor) {
	if actor.SeesAll() {
		return
	}
	hidden, named := placeholders{}, map[string]bool{}
	for i := range c.Steps {
		s := &c.Steps[i]
		unseen := func(m AssetWithLineage) bool { return !actor.Sees(m.Asset) }
		if !slices.ContainsFunc(s.Assets, unseen) {
			continue
		}
		for _, m := range s.Assets {
			if unseen(m) {
				s.Used = slices.DeleteFunc(s.Used, func(h library.AssetHash) bool { return h == m.Hash })
			}
		}
		if s.Assets = slices.DeleteFunc(s.Assets, unseen); len(s.Assets) == 0 {
			hidden.of(s.Key)
		}
	}
	for _, s := range c.Steps {
		if _, ok := hidden[s.Key]; !ok {
			for _, key := range s.From {
				named[key] = true
			}
		}
	}
	for i := range c.Steps {
		s := &c.Steps[i]
		_, isHidden := hidden[s.Key]
		if isHidden || len(s.Assets) == 0 && !named[s.Key] {
			*s = ImagetoolJobStep{Redacted: true, Key: hidden.of(s.Key), Depth: s.Depth, From: s.From}
		}
	}
	for _, s := range c.Steps {
		for i, key := range s.From {
			if name, ok := hidden[key]; ok {
				s.From[i] = name
			}
		}
	}
}
