package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type addInput struct {
	op.TenantInput
	AtPath
	AssetHashes []string `json:"asset_hs" id:"asset" minItems:"1" maxItems:"1000" doc:"In the order they are to have."`
	Position    *int     `json:"position,omitempty" minimum:"0" maximum:"10000000" doc:"0-based place of the first among assets and text cards. Default: at the end."`
	Role        *string  `json:"role,omitempty" enum:"KeyVisual,SupportingElement,ReferenceMaterial,BackgroundAsset,Logo,Variation,Other"`

	hashes []library.AssetHash
}

// Validate implements op.Validator.
func (in *addInput) Validate() (errs []library.FieldError) {
	in.hashes, errs = hashesOf(in.AssetHashes)
	return errs
}

type addOutput struct {
	Path      string              `json:"collection_path"`
	Added     []library.AssetHash `json:"added"`
	Changed   []library.AssetHash `json:"changed" doc:"Were in it and have a new position or role."`
	Unchanged []library.AssetHash `json:"unchanged"`
	NotFound  []library.AssetHash `json:"not_found"`
	op.Undoable
	op.Indexed
}

func (s *Service) addToCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "AddToCollection", Title: "Add assets to a collection", Domain: op.Collections,
		Doc:    "Adds up to 1,000 assets to a collection. Assets already in it move to position and get the role, if sent.",
		Method: "POST", Path: "/api/v1/collections/{collection_path}/assets", Permission: library.PermWrite, Idempotent: true, Chained: true,
		Example: map[string]any{"collection_path": exampleCollection, "asset_hs": []string{exampleAsset}, "role": "KeyVisual"},
	}, func(ctx context.Context, actor library.Actor, in addInput) (addOutput, error) {
		done, err := s.Store.Collections.Add(ctx, actor, in.Path, store.NewItems{Assets: in.hashes, Position: in.Position, Role: (*library.MemberRole)(in.Role)})
		if err != nil {
			return addOutput{}, err
		}
		return addOutput{Path: done.Collection.Path, Added: some(done.Added), Changed: some(done.Changed), Unchanged: some(done.Unchanged), NotFound: some(done.Missing),
			Undoable: op.Undoable{OperationID: done.OperationID}, Indexed: op.Indexed{IndexToken: done.OperationID}}, nil
	})
}

// some returns a list that is not nil.
func some(list []library.AssetHash) []library.AssetHash {
	return append([]library.AssetHash{}, list...)
}
