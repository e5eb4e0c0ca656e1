package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type removeInput struct {
	op.TenantInput
	AtPath
	AssetHashes []string `json:"asset_hs" id:"asset" minItems:"1" maxItems:"1000"`

	hashes []library.AssetHash
}

// Validate implements op.Validator.
func (in *removeInput) Validate() (errs []library.FieldError) {
	in.hashes, errs = hashesOf(in.AssetHashes)
	return errs
}

type removeOutput struct {
	Path     string              `json:"collection_path"`
	Removed  []library.AssetHash `json:"removed"`
	NotFound []library.AssetHash `json:"not_found" doc:"Were not in the collection."`
	op.Undoable
	op.Indexed
}

func (s *Service) removeFromCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "RemoveFromCollection", Title: "Remove assets from a collection", Domain: op.Collections,
		Doc:    "Removes up to 1,000 assets from a collection, not from the library.",
		Method: "POST", Path: "/api/v1/collections/{collection_path}/assets/remove", Permission: library.PermWrite, Destructive: true, Idempotent: true, Chained: true,
		Example: map[string]any{"collection_path": exampleCollection, "asset_hs": []string{exampleAsset}},
	}, func(ctx context.Context, actor library.Actor, in removeInput) (removeOutput, error) {
		done, err := s.Store.Collections.Remove(ctx, actor, in.Path, in.hashes)
		if err != nil {
			return removeOutput{}, err
		}
		return removeOutput{Path: done.Collection.Path, Removed: some(done.Changed), NotFound: some(done.Missing),
			Undoable: op.Undoable{OperationID: done.OperationID}, Indexed: op.Indexed{IndexToken: done.OperationID}}, nil
	})
}
