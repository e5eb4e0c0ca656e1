package prompts

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
)

type imagesInput struct {
	op.TenantInput
	OfVersion
	Limit  int `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20"`
	Offset int `json:"offset,omitempty" minimum:"0" maximum:"10000000" default:"0"`
}

type imagesOutput struct {
	Version library.PromptVersionHash `json:"version_h"`
	Number  int                       `json:"version"`
	Data    []assets.Summary          `json:"data" doc:"The best rated first, then the newest."`
	Total   int                       `json:"total"`
	Pending bool                      `json:"linking,omitempty" doc:"The library is still being searched for its images."`
}

func (s *Service) getPromptImages() op.Operation {
	return op.Define(op.Meta{
		Name: "GetPromptImages", Title: "Get a prompt's images", Domain: op.Prompts,
		Doc:    "Returns the images whose extracted prompt is a render of one version of a prompt.",
		Method: "GET", Path: "/api/v1/prompts/{prompt_h}/images", Permission: library.PermRead, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"prompt_h": examplePrompt},
	}, func(ctx context.Context, actor library.Actor, in imagesInput) (imagesOutput, error) {
		v, list, total, err := s.Store.Prompts.Images(ctx, actor, in.hash(), in.version(), in.Limit, in.Offset)
		out := imagesOutput{Version: v.Hash, Number: v.Number, Data: []assets.Summary{}, Total: total, Pending: !v.Linked}
		links := s.Links.For(actor)
		for _, a := range list {
			out.Data = append(out.Data, links.Summary(a))
		}
		return out, err
	})
}
