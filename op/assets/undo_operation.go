package assets

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
)

type undoInput struct {
	op.TenantInput
	OperationID string `json:"operation_id" id:"operation" minLength:"1" maxLength:"64" doc:"From the write."`
}

type undoOutput struct {
	Tool      string              `json:"tool" doc:"What the operation was."`
	At        time.Time           `json:"at" doc:"When it happened."`
	Reverted  []library.AssetHash `json:"reverted" doc:"Assets that were reverted."`
	Conflicts []undoConflict      `json:"conflicts" doc:"Assets that could not be reverted in full, with the reason."`
	Versions  []undoneVersion     `json:"model_versions" doc:"Model versions that were deleted or restored."`
	op.Undoable
	op.Indexed
}

type undoConflict struct {
	AssetHash library.AssetHash `json:"asset_h"`
	Reason    string            `json:"reason"`
}

type undoneVersion struct {
	ModelHash library.ModelHash `json:"model_hash"`
	Tag       string            `json:"version_tag"`
	Deleted   bool              `json:"deleted" doc:"true: deleted; false: restored."`
}

func (s *Service) undoOperation() op.Operation {
	return op.Define(op.Meta{
		Name: "UndoOperation", Title: "Undo an operation", Domain: op.Assets,
		Doc: "Reverts what a write changed, on every asset. Values changed again since are kept and reported in conflicts. " +
			"Undoing StoreAsset moves the asset to the trash. The undo is an operation itself: undo it to redo the change.",
		Method: "POST", Path: "/api/v1/operations/{operation_id}/undo", Permission: library.PermWrite, Destructive: true, Chained: true,
		Example: map[string]any{"operation_id": "0198c5a0-0000-7000-8000-000000000000"},
	}, func(ctx context.Context, actor library.Actor, in undoInput) (undoOutput, error) {
		got, err := s.Store.Undo(ctx, actor, "UndoOperation", in.OperationID)
		if err != nil {
			return undoOutput{}, err
		}
		out := undoOutput{Tool: got.Tool, At: got.At.UTC(), Reverted: []library.AssetHash{}, Conflicts: []undoConflict{}, Versions: []undoneVersion{},
			Undoable: op.Undoable{OperationID: got.OperationID}, Indexed: op.Indexed{IndexToken: got.OperationID}}
		for _, a := range got.ChangeResult.Changed {
			out.Reverted = append(out.Reverted, a.Hash)
		}
		for _, c := range got.Conflicts {
			out.Conflicts = append(out.Conflicts, undoConflict{c.Hash, c.Reason})
		}
		for _, v := range got.Versions {
			out.Versions = append(out.Versions, undoneVersion{v.Model, v.Tag, v.Deleted})
		}
		return out, nil
	})
}
