package lineage

import (
	"cmp"
	"context"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

type lineageInput struct {
	op.TenantInput
	op.FormatInput
	AssetHash       string `json:"asset_h" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"The asset."`
	Direction       string `json:"direction,omitempty" enum:"ancestors,descendants,both" default:"both" tool:"plain" doc:"Default: both. What it was made from are its ancestors, what was made from it its descendants."`
	MaxDepth        int    `json:"max_depth,omitempty" minimum:"1" maximum:"20" default:"5" tool:"plain" doc:"Levels to follow each way."`
	IncludeSiblings bool   `json:"include_siblings,omitempty" doc:"Adds assets of the same workflow and seed. At most 50 of them."`
}

// maxSiblings bounds the assets that include_siblings adds.
const maxSiblings = 50

type lineageOutput struct {
	AssetHash     library.AssetHash `json:"asset_h"`
	Nodes         []node            `json:"nodes" doc:"The requested asset first, then by distance."`
	Edges         []edge            `json:"edges" doc:"Which file was made from which. Cycles are possible, since files can claim anything."`
	Truncated     bool              `json:"truncated" doc:"Whether there are more than 500 nodes."`
	HasMoreLevels bool              `json:"has_more_levels" doc:"Whether there are more levels than max_depth."`
}

type node struct {
	ID        string          `json:"id" doc:"The asset's hash, or a generated id for a file that is not in the library and for a redacted asset."`
	Redacted  bool            `json:"redacted" doc:"true for another member's private asset; then only id and depth are set, and id means nothing outside this response."`
	Depth     int             `json:"depth" doc:"0 for the requested asset, negative for ancestors, positive for descendants."`
	InLibrary bool            `json:"in_library" doc:"false for a file that is only referenced, or is in the trash."`
	Asset     *assets.Summary `json:"asset" required:"true" nullable:"true" doc:"null if it is not in the library."`
	Tool      string          `json:"tool" doc:"The program that generated it; empty if unknown."`
	CreatedAt *time.Time      `json:"created_at,omitempty"`
	Name      string          `json:"name" doc:"File name of the asset, or the name in the child's file."`
	Hash      string          `json:"hash" doc:"Hash in the child's file or from the uploader, or c2pa: and the id in content credentials; empty for assets."`
	JobID     string          `json:"job_id" doc:"The image tool's job; empty if unknown."`
}

type edge struct {
	Child         string                `json:"child" doc:"Node id."`
	Parent        string                `json:"parent" doc:"Node id."`
	Kind          string                `json:"kind" doc:"Role of the parent: input_image, init_image, mask, controlnet_image, input_video, c2pa_ingredient, imagetool_job, …; parent_asset_h if given by the uploader; private if a redacted asset's file tells; same_seed_workflow for siblings, where neither was made from the other."`
	Evidence      string                `json:"evidence" enum:"hash,c2pa,imagetool_job,name,uploader,same_seed_workflow" doc:"How the parent was identified: hash (proof), id in content credentials, job id, or a file name that only one asset has."`
	LineageSource library.LineageSource `json:"lineage_source" enum:"extracted,client_asserted" doc:"Whether the parent comes from the child's file or from its uploader."`
	Resolved      bool                  `json:"resolved" doc:"Whether the parent is in the library."`
	NodeID        string                `json:"node_id" doc:"Id of the workflow node that loaded the parent; empty outside node graphs."`
}

func (s *Service) getAssetLineage() op.Operation {
	return op.Define(op.Meta{
		Name: "GetAssetLineage", Title: "Get an asset's lineage", Domain: op.Lineage,
		Doc:    "Returns what an asset was made from and what was made from it, as nodes and edges with their evidence.",
		Method: "GET", Path: "/api/v1/assets/{asset_h}/lineage", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"asset_h": "da39a3ee5e6b4b0d3255bfef95601890afd80709", "direction": "ancestors", "max_depth": 3},
	}, func(ctx context.Context, actor library.Actor, in lineageInput) (lineageOutput, error) {
		hash := lowerHash(in.AssetHash)
		chain, err := s.Store.Lineage.Graph(ctx, actor, hash, in.Direction != "descendants", in.Direction != "ancestors", in.MaxDepth, maxNodes)
		if err != nil {
			return lineageOutput{}, err
		}
		g := graph{links: s.Links.For(actor).In(in.FormatInput), have: map[string]bool{}, out: lineageOutput{AssetHash: hash, Nodes: []node{}, Edges: []edge{},
			Truncated: chain.Truncated, HasMoreLevels: chain.HasMoreLevels}}
		g.build(chain)
		if in.IncludeSiblings {
			siblings, err := s.Store.Lineage.SameWorkflowAndSeed(ctx, actor, hash, maxSiblings+1)
			if err != nil {
				return lineageOutput{}, err
			}
			g.out.Truncated = g.out.Truncated || len(siblings) > maxSiblings
			g.siblings(hash, siblings[:min(len(siblings), maxSiblings)])
		}
		return g.out, nil
	})
}

// graph renders a chain as nodes and edges.
type graph struct {
	links assets.ActorLinks
	have  map[string]bool // node ids
	out   lineageOutput
}

func (g *graph) build(chain store.LineageGraph) {
	depth := map[library.AssetHash]int{}
	for _, a := range chain.Nodes {
		depth[a.Hash] = a.Depth
		if a.Redacted {
			g.add(node{ID: string(a.Hash), Depth: a.Depth, Redacted: true})
			continue
		}
		g.asset(a.AssetWithLineage, a.Depth)
	}
	for _, l := range chain.Edges {
		parent, source := string(l.Asset), library.LineageExtracted
		if parent == "" {
			parent = fileID(l)
		}
		if l.Evidence == store.EvidenceUploader {
			source = library.LineageAsserted
		}
		_, resolved := depth[l.Asset]
		if !g.have[parent] {
			g.add(node{ID: parent, Depth: depth[l.Child] - 1, Name: l.Name, Hash: cmp.Or(l.Hash, string(l.Asset)), JobID: l.JobID})
		}
		g.out.Edges = append(g.out.Edges, edge{Child: string(l.Child), Parent: parent, Kind: l.Kind, Evidence: evidence(l),
			LineageSource: source, Resolved: resolved, NodeID: l.NodeID})
	}
}

func (g *graph) add(n node) {
	g.have[n.ID] = true
	g.out.Nodes = append(g.out.Nodes, n)
}

func (g *graph) asset(m store.AssetWithLineage, depth int) {
	summary, created := g.links.Summary(m.Asset), m.CreatedAt.UTC()
	g.add(node{ID: string(m.Hash), Depth: depth, InLibrary: true, Asset: &summary, Tool: m.Tool, CreatedAt: &created, Name: m.Filename, JobID: m.JobID()})
}

// siblings adds repeats of the asset's run. They stand on its own level.
func (g *graph) siblings(of library.AssetHash, list []store.AssetWithLineage) {
	for _, m := range list {
		if !g.have[string(m.Hash)] {
			g.asset(m, 0)
		}
		g.out.Edges = append(g.out.Edges, edge{Child: string(m.Hash), Parent: string(of), Kind: "same_seed_workflow", Evidence: "same_seed_workflow",
			LineageSource: library.LineageExtracted, Resolved: true})
	}
}

// fileID returns the same id for all mentions of the same unknown file.
func fileID(l store.LineageEdge) string {
	switch {
	case l.Hash != "":
		return "file:" + strings.ToLower(l.Hash)
	case l.JobID != "":
		return "job:" + l.JobID + "/" + strings.ToLower(l.Name)
	}
	return "file:" + strings.ToLower(l.Name)
}

// evidence is how a parent was recognised, or the best by which it could be.
func evidence(l store.LineageEdge) string {
	switch {
	case l.Evidence != "":
		return l.Evidence
	case strings.HasPrefix(l.Hash, "c2pa:"):
		return "c2pa"
	case l.Hash != "":
		return "hash"
	case l.JobID != "":
		return "imagetool_job"
	}
	return "name"
}
