package assets

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type rateInput struct {
	op.TenantInput
	AssetHashes []string `json:"asset_hs" id:"asset" minItems:"1" maxItems:"1000" doc:"1 to 1,000 assets. Each is a SHA-1 of 40 hex digits."`
	Rating      *int     `json:"rating,omitempty" minimum:"0" maximum:"5" doc:"0: not rated."`
	Favorite    *bool    `json:"favorite,omitempty"`

	hashes []library.AssetHash
}

// Validate implements op.Validator.
func (in *rateInput) Validate() (errs []library.FieldError) {
	in.hashes, errs = Hashes("asset_hs", in.AssetHashes)
	return errs
}

// rate changes the rating and the favorite of an asset that are sent.
func rate(a *library.Asset, rating *int, favorite *bool) {
	if rating != nil {
		a.Rating = *rating
	}
	if favorite != nil {
		a.Favorite = *favorite
	}
}

func (s *Service) rateAssets() op.Operation {
	return op.Define(op.Meta{
		Name: "RateAssets", Title: "Rate assets", Domain: op.Assets,
		Doc:    "Rates up to 1,000 assets from 0 to 5, or makes them favorites, in one step.",
		Method: "PATCH", Path: "/api/v1/assets/bulk-rating", Permission: library.PermWrite, Destructive: true, Idempotent: true, RESTOnly: true,
		AnyOf:   []string{"rating", "favorite"},
		Example: map[string]any{"asset_hs": []string{"da39a3ee5e6b4b0d3255bfef95601890afd80709"}, "rating": 4},
	}, func(ctx context.Context, actor library.Actor, in rateInput) (bulkOutput, error) {
		done, err := s.Store.Assets.Change(ctx, actor, in.hashes, func(a *library.Asset) { rate(a, in.Rating, in.Favorite) })
		if err != nil {
			return bulkOutput{}, err
		}
		return bulkOutputOf(done), nil
	})
}
