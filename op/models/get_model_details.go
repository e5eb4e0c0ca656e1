package models

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type detailsInput struct {
	op.TenantInput
	InModel
}

// maxPreviews is how many pictures a model's details show.
const maxPreviews = 6

type detailsOutput struct {
	Model
	Pictures int             `json:"preview_count" doc:"Pictures among the assets made with it."`
	Previews []previewOutput `json:"previews" doc:"Up to 6 of them, approved ones first, then the newest."`
	History  []versionOutput `json:"versions" doc:"The versions that people keep notes on, the newest first."`
}

type previewOutput struct {
	AssetHash    library.AssetHash `json:"asset_h"`
	ThumbnailURL string            `json:"thumbnail_url" doc:"A JPEG preview; no credential is needed."`
}

func (s *Service) getModelDetails() op.Operation {
	return op.Define(op.Meta{
		Name: "GetModelDetails", Title: "Get a model's details", Domain: op.Models,
		Doc: "Gives one model: its names, hashes and trigger words, how many assets were made with it, some of their pictures, and its versions. " +
			"To see all of those assets, search for model: with its name.",
		Method: "GET", Path: "/api/v1/models/{model_hash}", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Spec:    "spec §4.1 Models",
		Example: map[string]any{"model_hash": exampleModel},
	}, func(ctx context.Context, actor library.Actor, in detailsInput) (detailsOutput, error) {
		d, err := s.Store.ModelByHash(ctx, actor.Tenant, in.hash(), maxPreviews)
		if err != nil {
			return detailsOutput{}, err
		}
		out := detailsOutput{Model: describe(d.Model), Pictures: d.ImageCount, Previews: []previewOutput{}, History: describeVersions(d.VersionList)}
		for _, h := range d.Previews {
			out.Previews = append(out.Previews, previewOutput{h, s.Links.Thumbnail(actor.Tenant, h)})
		}
		return out, nil
	})
}
