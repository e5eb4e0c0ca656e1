package models

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type searchInput struct {
	op.TenantInput
	Query     string `json:"query,omitempty" id:"query" maxLength:"500" doc:"Words in the name, display name or description. All must occur; case, spaces, hyphens and underscores are ignored."`
	ModelType string `json:"model_type,omitempty" maxLength:"100" doc:"checkpoint, unet, lora, vae, controlnet, upscaler, embedding, …"`
	BaseModel string `json:"base_model,omitempty" maxLength:"100" doc:"sdxl, flux, sd15, sd3, pony, illustrious, …"`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" tool:"plain" doc:"Models per page."`
	Offset    int    `json:"offset,omitempty" minimum:"0" maximum:"1000000" default:"0" tool:"plain" doc:"Models to skip."`
}

type searchOutput struct {
	Data   []Model `json:"data" doc:"The most used first."`
	Total  int     `json:"total" doc:"Models that match, on all pages."`
	Limit  int     `json:"limit"`
	Offset int     `json:"offset"`
}

func (s *Service) searchModels() op.Operation {
	return op.Define(op.Meta{
		Name: "SearchModels", Title: "Search the Model Library", Domain: op.Models,
		Doc:    "Finds the checkpoints, LoRAs and other models of the library, each with how many assets use it. Without arguments lists all.",
		Method: "GET", Path: "/api/v1/models", Permission: library.PermRead, ReadOnly: true, Idempotent: true, Chained: true,
		Example: map[string]any{"query": "detail", "model_type": "lora", "limit": 10},
	}, func(ctx context.Context, actor library.Actor, in searchInput) (searchOutput, error) {
		list, total, err := s.Models.Search(ctx, actor, store.ModelFilter{Query: in.Query, Type: in.ModelType, BaseModel: in.BaseModel,
			Limit: in.Limit, Offset: in.Offset})
		out := searchOutput{Data: make([]Model, len(list)), Total: total, Limit: in.Limit, Offset: in.Offset}
		for i, m := range list {
			out.Data[i] = describe(m)
		}
		return out, err
	})
}
