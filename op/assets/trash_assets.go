package assets

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type trashInput struct {
	op.TenantInput
	AssetHashes []string `json:"asset_hs" id:"asset" minItems:"1" maxItems:"100"`
	Operation   string   `json:"operation" enum:"trash,restore"`

	hashes []library.AssetHash
}

// Validate implements op.Validator.
func (in *trashInput) Validate() (errs []library.FieldError) {
	in.hashes, errs = Hashes("asset_hs", in.AssetHashes)
	return errs
}

func (s *Service) trashAssets() op.Operation {
	return op.Define(op.Meta{
		Name: "TrashAssets", Title: "Move assets to the trash", Domain: op.Assets,
		Doc: "Moves up to 100 assets to the trash, where no search finds them, or restores them with all they had.",
		More: "Collections keep the place of an asset in the trash. Where the operator has set a time (VITRINE_TRASH_DAYS), assets are purged that were in the trash for longer. " +
			"Assets that are where they should be already are unchanged.",
		Method: "POST", Path: "/api/v1/trash", Permission: library.PermAdmin, Destructive: true, Idempotent: true, Chained: true,
		Example: map[string]any{"asset_hs": []string{"da39a3ee5e6b4b0d3255bfef95601890afd80709"}, "operation": "restore"},
	}, func(ctx context.Context, actor library.Actor, in trashInput) (bulkOutput, error) {
		done, err := s.Store.Trash.Move(ctx, actor, in.hashes, in.Operation == "trash")
		if err != nil {
			return bulkOutput{}, err
		}
		return bulkOutputOf(done), nil
	})
}
