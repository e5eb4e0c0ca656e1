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
	Pictures int             `json:"preview_count" doc:"Number of images among its assets."`
	Previews []previewOutput `json:"previews" doc:"Up to 6 of the images, approved ones first, then the newest."`
	History  []versionOutput `json:"versions" doc:"Versions, newest first."`
}

type previewOutput struct {
	AssetHash    library.AssetHash `json:"asset_h"`
	ThumbnailURL string            `json:"thumbnail_url" doc:"A JPEG preview; no API key is needed."`
}

func (s *Service) getModelDetails() op.Operation {
	return op.Define(op.Meta{
		Name: "GetModelDetails", Title: "Get a model's details", Domain: op.Models,
		Doc: "Returns one model: names, hashes, trigger words, number of assets, sample images, versions. " +
			"SearchAssets with model_name:\"its name\" finds all its assets.",
		Method: "GET", Path: "/api/v1/models/{model_hash}", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"model_hash": exampleModel},
	}, func(ctx context.Context, actor library.Actor, in detailsInput) (detailsOutput, error) {
		d, err := s.Models.Get(ctx, actor, in.hash(), maxPreviews)
		if err != nil {
			return detailsOutput{}, err
		}
		out := detailsOutput{Model: describe(d.Model), Pictures: d.ImageCount, Previews: []previewOutput{}, History: describeVersions(d.VersionList)}
		for _, h := range d.Previews {
			out.Previews = append(out.Previews, previewOutput{h, s.Links.For(actor).Thumbnail(actor.Tenant, h)})
		}
		return out, nil
	})
}
