package lineage

import (
	"context"
	"slices"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

type chainInput struct {
	op.TenantInput
	op.FormatInput
	AssetID  string `json:"asset_id" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"The image. It is one of the image-generation tool."`
	MaxDepth int    `json:"max_depth,omitempty" minimum:"1" maximum:"50" default:"10" tool:"plain" doc:"Steps to follow each way."`
}

type chainOutput struct {
	AssetID       library.AssetHash `json:"asset_id"`
	Steps         []step            `json:"steps" doc:"The jobs, parents first. Empty if the image-generation tool did not generate the asset."`
	Note          string            `json:"note,omitempty" doc:"What to do when there are no steps."`
	Truncated     bool              `json:"truncated" doc:"Whether there are more than 500 steps."`
	HasMoreLevels bool              `json:"has_more_levels" doc:"Whether there are more steps than max_depth."`
}

type step struct {
	ID        string              `json:"id" doc:"The job's id, the asset's hash if its file has no job id, or a generated id for a redacted step."`
	MadeFrom  []string            `json:"made_from" doc:"Ids of the steps it was made from."`
	Depth     int                 `json:"depth" doc:"0 for the step of the requested asset, negative for earlier steps, positive for later ones."`
	Redacted  bool                `json:"redacted" doc:"true for a step that is another member's private generation; then job_type is private and asset, prompt and command are empty."`
	InLibrary bool                `json:"in_library" doc:"false for a job that is only referenced."`
	JobID     string              `json:"job_id"`
	JobType   string              `json:"job_type"`
	Command   string              `json:"command" doc:"Command: upscaled, variations, …; empty for a first prompt or if unknown."`
	Version   string              `json:"version"`
	Prompt    *string             `json:"prompt" required:"true" nullable:"true"`
	Flags     map[string]string   `json:"flags" doc:"The command's flags without their dashes."`
	CreatedAt *time.Time          `json:"created_at,omitempty"`
	Asset     *assets.Summary     `json:"asset" required:"true" nullable:"true" doc:"The image that the chain continues from; null if the library has none of the job."`
	Others    []library.AssetHash `json:"other_asset_hs" doc:"Other images of the same job."`
}

func (s *Service) getImagetoolEvolutionChain() op.Operation {
	return op.Define(op.Meta{
		Name: "GetImagetoolEvolutionChain", Title: "Get an evolution chain", Domain: op.Lineage,
		Doc: "Returns how an image of the image-generation tool evolved: its jobs from parent to child, each with prompt and command. " +
			"For other tools use GetAssetLineage.",
		Method: "GET", Path: "/api/v1/assets/{asset_id}/evolution-chain", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"asset_id": "da39a3ee5e6b4b0d3255bfef95601890afd80709", "max_depth": 10},
	}, func(ctx context.Context, actor library.Actor, in chainInput) (chainOutput, error) {
		hash := lowerHash(in.AssetID)
		chain, err := s.Store.Lineage.ImagetoolJobChain(ctx, actor, hash, in.MaxDepth, maxNodes)
		if err != nil {
			return chainOutput{}, err
		}
		out := chainOutput{AssetID: hash, Steps: []step{}, Truncated: chain.Truncated, HasMoreLevels: chain.HasMoreLevels}
		for _, j := range parentsFirst(chain.Steps) {
			out.Steps = append(out.Steps, s.step(s.Links.For(actor).In(in.FormatInput), j, hash))
		}
		if len(out.Steps) == 0 {
			out.Note = "The image-generation tool did not make this asset. GetAssetLineage shows the lineage of any asset."
		}
		return out, nil
	})
}

// step renders a job. Of its pictures it shows the one asked about, else the one
// that the next step was made from, else the first.
func (s *Service) step(links assets.ActorLinks, j store.ImagetoolJobStep, asked library.AssetHash) step {
	out := step{ID: j.Key, MadeFrom: j.From, Depth: j.Depth, JobID: j.JobID, Flags: map[string]string{}, Others: []library.AssetHash{}}
	if j.Redacted {
		out.Redacted, out.JobType = true, "private"
	}
	if len(j.Assets) == 0 {
		return out
	}
	shown := 0
	for i, m := range j.Assets {
		if m.Hash == asked {
			shown = i
			break
		}
		if slices.Contains(j.Used, m.Hash) && !slices.Contains(j.Used, j.Assets[shown].Hash) {
			shown = i
		}
	}
	for i, m := range j.Assets {
		if i != shown {
			out.Others = append(out.Others, m.Hash)
		}
	}
	m := j.Assets[shown]
	summary, created := links.Summary(m.Asset), m.CreatedAt.UTC()
	out.InLibrary, out.Asset, out.CreatedAt, out.Prompt = true, &summary, &created, m.Prompt
	t := m.ImageTool
	out.JobType, out.Command, out.Version = t.JobType, t.Command, t.Version
	if t.Flags != nil {
		out.Flags = t.Flags
	}
	return out
}

// parentsFirst orders steps so that each stands behind those it was made from;
// among equals the older one first. Steps that descend from each other, which
// only damaged or forged files can claim, follow at the end.
func parentsFirst(steps []store.ImagetoolJobStep) []store.ImagetoolJobStep {
	rest := slices.Clone(steps)
	slices.SortStableFunc(rest, func(a, b store.ImagetoolJobStep) int {
		if a.Depth != b.Depth {
			return a.Depth - b.Depth
		}
		if len(a.Assets) > 0 && len(b.Assets) > 0 {
			return a.Assets[0].CreatedAt.Compare(b.Assets[0].CreatedAt)
		}
		return 0
	})
	out, placed := make([]store.ImagetoolJobStep, 0, len(rest)), map[string]bool{}
	for len(rest) > 0 {
		ready := slices.IndexFunc(rest, func(j store.ImagetoolJobStep) bool {
			return !slices.ContainsFunc(j.From, func(key string) bool { return !placed[key] })
		})
		ready = max(ready, 0) // nothing is ready: a cycle, which is cut here
		out = append(out, rest[ready])
		placed[rest[ready].Key] = true
		rest = slices.Delete(rest, ready, ready+1)
	}
	return out
}
