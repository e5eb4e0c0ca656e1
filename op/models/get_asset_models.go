package models

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type assetModelsInput struct {
	op.TenantInput
	AssetHash string `json:"asset_hash" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"The asset."`
}

type assetModelsOutput struct {
	AssetHash library.AssetHash `json:"asset_hash"`
	Models    []assetModel      `json:"models" doc:"Models from the file first, in load order."`
}

func (s *Service) getAssetModels() op.Operation {
	return op.Define(op.Meta{
		Name: "GetAssetModels", Title: "Get an asset's models", Domain: op.Models,
		Doc:    "Returns the models an asset was generated with: type, base model, weight, and whether it is from the file or was linked.",
		More:   "An asset that does not exist has none.",
		Method: "GET", Path: "/api/v1/assets/{asset_hash}/models", Permission: library.PermRead, ReadOnly: true, Idempotent: true,
		Example: map[string]any{"asset_hash": "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
	}, func(ctx context.Context, actor library.Actor, in assetModelsInput) (assetModelsOutput, error) {
		out := assetModelsOutput{AssetHash: library.AssetHash(strings.ToLower(in.AssetHash)), Models: []assetModel{}}
		list, err := s.Models.OfAsset(ctx, actor, out.AssetHash)
		for _, m := range list {
			out.Models = append(out.Models, describeUse(m))
		}
		return out, err
	})
}
