package prompts

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

type getInput struct {
	op.TenantInput
	OfVersion
	op.FormatInput
	Versions int `json:"max_versions,omitempty" minimum:"1" maximum:"1000" default:"10"`
}

// Mean is the mean of some scores.
type Mean struct {
	Mean  float64 `json:"mean"`
	Count int     `json:"count"`
}

// VersionStats is a version with what became of it.
type VersionStats struct {
	Version
	Images      int             `json:"images" doc:"Images whose prompt is a render of this version."`
	Rating      *Mean           `json:"image_rating,omitempty" doc:"Of those that are rated, 1 to 5."`
	Evaluations int             `json:"evaluations"`
	Scores      map[string]Mean `json:"scores" doc:"Per dimension, 1 to 5."`
	Pending     bool            `json:"linking,omitempty" doc:"The library is still being searched for its images."`
}

func describeStats(v store.PromptVersionStats) VersionStats {
	out := VersionStats{Version: describeVersion(v.PromptVersion), Images: v.Images, Evaluations: v.Evaluations, Scores: map[string]Mean{}, Pending: !v.Linked}
	if v.Rated.Count > 0 {
		out.Rating = &Mean{v.Rated.Mean, v.Rated.Count}
	}
	for dimension, m := range v.Scores {
		out.Scores[dimension] = Mean{m.Mean, m.Count}
	}
	return out
}

type getOutput struct {
	Prompt
	VersionStats
	Variables []Variable       `json:"variables"`
	Samples   []assets.Summary `json:"samples" doc:"Images of this version, the best rated first."`
	Total     int              `json:"version_count"`
	Versions  []VersionStats   `json:"versions" doc:"The newest first."`
}

// sampleImages is how many images of a version GetPrompt returns.
const sampleImages = 6

func (s *Service) getPrompt() op.Operation {
	return op.Define(op.Meta{
		Name: "GetPrompt", Title: "Get a prompt", Domain: op.Prompts,
		Doc:    "Returns a prompt with one version's text, variables, evaluations and sample images, and the history of its versions.",
		Method: "GET", Path: "/api/v1/prompts/{prompt_h}", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"prompt_h": examplePrompt},
	}, func(ctx context.Context, actor library.Actor, in getInput) (getOutput, error) {
		d, err := s.Store.Prompts.Get(ctx, actor, in.hash(), in.version(), in.Versions, sampleImages)
		if err != nil {
			return getOutput{}, err
		}
		out := getOutput{Prompt: describe(d.Prompt), VersionStats: describeStats(d.Selected), Samples: []assets.Summary{}, Total: d.Total, Versions: []VersionStats{}}
		out.Variables, _ = variablesOf(d.Selected.Text)
		for _, v := range d.Versions {
			out.Versions = append(out.Versions, describeStats(v))
		}
		links := s.Links.For(actor).In(in.FormatInput)
		for _, a := range d.Samples {
			out.Samples = append(out.Samples, links.Summary(a))
		}
		return out, nil
	})
}
