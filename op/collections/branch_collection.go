package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type branchInput struct {
	op.TenantInput
	SourcePath    string `json:"source_path" id:"collection" minLength:"1" maxLength:"600" doc:"Path or collection_h."`
	NewName       string `json:"new_name,omitempty" maxLength:"200" doc:"Default: source, type and time."`
	BranchType    string `json:"branch_type,omitempty" enum:"branch,snapshot,template_instance" default:"branch" doc:"snapshot is frozen."`
	SnapshotLabel string `json:"snapshot_label,omitempty" maxLength:"100" doc:"Unique per source."`

	label string
}

// Validate implements op.Validator.
func (in *branchInput) Validate() (errs []library.FieldError) {
	if in.NewName != "" {
		in.label, errs = label("new_name", in.NewName)
	}
	if in.SnapshotLabel != "" && in.BranchType != string(library.BranchSnapshot) {
		errs = append(errs, library.FieldError{Field: "snapshot_label", Code: "conflict", Message: "Only a snapshot has a label.", Hint: "Send branch_type snapshot with it."})
	}
	return errs
}

type branchOutput struct {
	Changed
	Copied int64 `json:"items_copied" doc:"Assets and text cards in the branch."`
}

func (s *Service) branchCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "BranchCollection", Title: "Branch a collection", Domain: op.Collections,
		Doc: "Copies a collection's assets, text cards, roles and order to a new one beside it. Collections below it and assets that the caller cannot see are not copied. " +
			"A smart collection's branch holds what its search finds now.",
		Method: "POST", Path: "/api/v1/collections/{source_path}/branches", Permission: library.PermWrite, Creates: "/api/v1/collections/{collection_h}", Chained: true,
		Example: map[string]any{"source_path": exampleCollection, "branch_type": "snapshot", "new_name": "Winter launch, as sent"},
	}, func(ctx context.Context, actor library.Actor, in branchInput) (branchOutput, error) {
		n := store.NewBranch{Name: in.label, DisplayName: displayName("", in.NewName), Type: library.BranchType(in.BranchType), SnapshotLabel: in.SnapshotLabel}
		source, err := s.Store.Collections.Get(ctx, actor, in.SourcePath, false)
		if err != nil {
			return branchOutput{}, err
		}
		if source.Smart() {
			if n.Members, err = s.allFound(ctx, actor, source.Collection); err != nil {
				return branchOutput{}, err
			}
		}
		done, err := s.Store.Collections.Branch(ctx, actor, string(source.Hash), n)
		if err != nil {
			return branchOutput{}, err
		}
		return branchOutput{Changed: changed(done), Copied: done.Items}, nil
	})
}
