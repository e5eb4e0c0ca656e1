package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type mergeInput struct {
	op.TenantInput
	InCollection
	Into  string   `json:"into,omitempty" id:"collection" maxLength:"600" doc:"Path or collection_h of what is changed. Default: the collection that it is a branch of."`
	Items []string `json:"items,omitempty" maxItems:"10000" doc:"Merges the differences of these alone: asset_h or card_h. Default: of all."`
	Kinds []string `json:"kinds,omitempty" maxItems:"5" enum:"added,removed,moved,role_changed,card_changed" doc:"Merges these differences alone. Without items and kinds: all but removing what was added_since."`
}

type mergeOutput struct {
	Path      string           `json:"collection_path" doc:"What was changed."`
	Counts    DifferenceCounts `json:"merged"`
	Unchanged []string         `json:"unchanged" doc:"Items that were sent and do not differ."`
	op.Undoable
	op.Indexed
}

func (s *Service) mergeCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "MergeCollection", Title: "Merge a branch", Domain: op.Collections,
		Doc: "Makes the collection that a branch was made of equal to the branch, in all differences or in those chosen by items and kinds. DiffCollection lists them. " +
			"With into the other way around, or into any other collection.",
		Method: "POST", Path: "/api/v1/collections/{collection_h}/merge", Permission: library.PermWrite, Destructive: true, Idempotent: true, RESTOnly: true,
		Example: map[string]any{"collection_h": exampleCollection, "kinds": []string{"added", "moved"}},
	}, func(ctx context.Context, actor library.Actor, in mergeInput) (mergeOutput, error) {
		members, err := s.smartMembers(ctx, actor, in.CollectionH, in.Into)
		if err != nil {
			return mergeOutput{}, err
		}
		choice := store.Choice{Items: in.Items}
		for _, k := range in.Kinds {
			choice.Kinds = append(choice.Kinds, store.DifferenceKind(k))
		}
		done, err := s.Store.Collections.Merge(ctx, actor, in.CollectionH, in.Into, choice, members)
		if err != nil {
			return mergeOutput{}, err
		}
		return mergeOutput{Path: done.Collection.Path, Counts: countDifferences(done.Merged), Unchanged: append([]string{}, done.Without...),
			Undoable: op.Undoable{OperationID: done.OperationID}, Indexed: op.Indexed{IndexToken: done.OperationID}}, nil
	})
}
