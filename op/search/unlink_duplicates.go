package search

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
)

type unlinkInput struct {
	op.TenantInput
	AssetHashes []string `json:"asset_hs" id:"asset" minItems:"2" maxItems:"50" doc:"2 to 50 assets; every two of them are a pair. Each is a SHA-1 of 40 hex digits."`
	Operation   string   `json:"operation,omitempty" enum:"unlink,link" default:"unlink" doc:"link takes an earlier unlink back."`

	hashes []library.AssetHash
}

// Validate implements op.Validator.
func (in *unlinkInput) Validate() (errs []library.FieldError) {
	in.hashes, errs = assets.Hashes("asset_hs", in.AssetHashes)
	return errs
}

type unlinkOutput struct {
	Changed   int                 `json:"changed" doc:"How many pairs changed."`
	Unchanged int                 `json:"unchanged" doc:"How many pairs were so already."`
	NotFound  []library.AssetHash `json:"not_found" doc:"Hashes for which the tenant has no asset; pairs with them are left out."`
	op.Undoable
}

func (s *Service) unlinkDuplicates() op.Operation {
	return op.Define(op.Meta{
		Name: "UnlinkDuplicates", Title: "Unlink duplicates", Domain: op.Search,
		Doc: "Notes that assets which look alike are no duplicates of each other. FindDuplicates and is:duplicate never take them for duplicates again.",
		More: "It is kept with the assets, also while they are in the trash, and is forgotten when one of them is purged. It changes nothing of stacks by prompt and workflow: what was made with the same prompt was. " +
			"Searches follow within seconds.",
		Method: "POST", Path: "/api/v1/assets/duplicates/unlink", Permission: library.PermWrite, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"asset_hs": []string{"da39a3ee5e6b4b0d3255bfef95601890afd80709", "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"}},
	}, func(ctx context.Context, actor library.Actor, in unlinkInput) (unlinkOutput, error) {
		done, err := s.Store.Duplicates.Unlink(ctx, actor, in.hashes, in.Operation != "link")
		if err != nil {
			return unlinkOutput{}, err
		}
		return unlinkOutput{Changed: done.Changed, Unchanged: done.Unchanged, NotFound: append([]library.AssetHash{}, done.Missing...), Undoable: op.Undoable{OperationID: done.OperationID}}, nil
	})
}
