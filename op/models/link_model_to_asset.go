package models

import (
	"context"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type linkInput struct {
	op.TenantInput
	InModel
	AssetHash       string   `json:"asset_hash" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"The asset."`
	Weight          *float64 `json:"model_weight,omitempty" minimum:"-100" maximum:"100" tool:"plain" doc:"For LoRAs and the like. Left out or null for checkpoints."`
	DetectionSource string   `json:"detection_source,omitempty" default:"manual_tag" pattern:"^[a-z][a-z0-9_]{0,39}$" patternDescription:"lower-case letters, digits and underscores, at most 40, for example manual_tag" doc:"Where the link comes from. manual_tag, agent, …; not extracted, which is reserved for the file."`
}

// Validate implements op.Validator.
func (in *linkInput) Validate() []library.FieldError {
	if in.DetectionSource == extracted {
		return []library.FieldError{{Field: "detection_source", Code: "conflict", Message: "extracted is what the service itself read from the asset's file.",
			Hint: "Say who or what else tells: manual_tag, agent, hash_match, …"}}
	}
	return nil
}

// extracted is the detection source of what a file says.
const extracted = "extracted"

// weightless reports whether models of a type are loaded whole : their
// weight is null.
func weightless(modelType string) bool {
	return slices.Contains([]string{"checkpoint", "unet", "diffusion_model"}, modelType)
}

type linkOutput struct {
	AssetHash library.AssetHash `json:"asset_hash"`
	Model     assetModel        `json:"model" doc:"The current link."`
	Changed   bool              `json:"changed" doc:"false if the same link existed already."`
	op.Undoable
	op.Indexed
}

func (s *Service) linkModelToAsset() op.Operation {
	return op.Define(op.Meta{
		Name: "LinkModelToAsset", Title: "Link a model to an asset", Domain: op.Models,
		Doc:    "Links a model to an asset whose file does not name it, or changes the weight of such a link.",
		More:   "Searches for the model then find the asset.",
		Method: "POST", Path: "/api/v1/assets/{asset_hash}/models", Permission: library.PermWrite, Idempotent: true, Chained: true,
		Example: map[string]any{"asset_hash": "da39a3ee5e6b4b0d3255bfef95601890afd80709", "model_hash": exampleModel},
	}, s.link)
}

func (s *Service) link(ctx context.Context, actor library.Actor, in linkInput) (linkOutput, error) {
	out := linkOutput{AssetHash: library.AssetHash(strings.ToLower(in.AssetHash))}
	operation, err := s.Models.Link(ctx, actor, out.AssetHash,
		library.ModelLink{Model: in.hash(), Source: in.DetectionSource, Weight: in.Weight}, weightless)
	if err != nil {
		return out, err
	}
	out.Changed = operation != ""
	out.OperationID, out.IndexToken = operation, operation
	list, err := s.Models.OfAsset(ctx, actor, out.AssetHash)
	for _, m := range list {
		if m.Hash == in.hash() && m.DetectionSource == in.DetectionSource {
			out.Model = describeUse(m)
		}
	}
	return out, err
}
