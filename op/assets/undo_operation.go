package assets

import (
	"context"
	"time"

	"vitrine/library"
	"vitrine/op"
)

type undoInput struct {
	op.TenantInput
	OperationID string `json:"operation_id" id:"operation" minLength:"1" maxLength:"64" doc:"Or last. That is your last write that is not undone."`
}

type undoOutput struct {
	Undone   string            `json:"undone" doc:"The operation_id of the reverted operation."`
	Tool     string            `json:"tool" doc:"What the operation was."`
	At       time.Time         `json:"at" doc:"When it happened."`
	Outcomes []library.Outcome `json:"outcomes" doc:"What became of each thing, the last change first; at most 1,000. outcome: reverted, partial (some fields were changed again and are kept), kept (changed again), gone (deleted since), conflict (its name is taken, for example). reason says why it is not reverted."`
	Counts   undoCounts        `json:"counts" doc:"How many things per outcome."`
	op.Undoable
	op.Indexed
}

type undoCounts struct {
	Reverted int64 `json:"reverted"`
	Partial  int64 `json:"partial"`
	Kept     int64 `json:"kept"`
	Gone     int64 `json:"gone"`
	Conflict int64 `json:"conflict"`
}

// undoLimit leaves time for the largest operations.
const undoLimit = 5 * time.Minute

func (s *Service) undoOperation() op.Operation {
	return op.Define(op.Meta{
		Name: "UndoOperation", Title: "Undo an operation", Domain: op.Assets,
		Doc:    "Reverts what a write changed; values changed since are kept. Undoing StoreAsset moves the asset to the trash. Undo the undo to redo.",
		More:   "Values that were kept are reported. Needs the permission of the undone operation.",
		Method: "POST", Path: "/api/v1/operations/{operation_id}/undo", Permission: library.PermWrite, Destructive: true, Chained: true, Limit: undoLimit,
		Example: map[string]any{"operation_id": "0198c5a0-0000-7000-8000-000000000000"},
	}, func(ctx context.Context, actor library.Actor, in undoInput) (undoOutput, error) {
		got, err := s.Store.Operations.Undo(ctx, actor, in.OperationID, func(o library.Operation) error {
			if !actor.Can(o.Permission) {
				return op.MissingPermission(o.Permission, "undoing "+o.Tool)
			}
			return nil
		})
		if err != nil {
			return undoOutput{}, err
		}
		n := got.Counts
		return undoOutput{Undone: got.Undone.ID, Tool: got.Undone.Tool, At: got.Undone.At.UTC(), Outcomes: got.Outcomes,
			Counts:   undoCounts{n[library.OutcomeReverted], n[library.OutcomePartial], n[library.OutcomeKept], n[library.OutcomeGone], n[library.OutcomeConflict]},
			Undoable: op.Undoable{OperationID: got.OperationID}, Indexed: op.Indexed{IndexToken: got.OperationID}}, nil
	})
}
