package assets

import (
	"context"
	"fmt"
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/store"
)

type bulkTagsInput struct {
	op.TenantInput
	AssetHashes []string `json:"asset_hs" id:"asset" minItems:"1" maxItems:"100" doc:"1 to 100 assets. Each is a SHA-1 of 40 hex digits."`
	Operation   string   `json:"operation" enum:"add,remove" tool:"plain" doc:"What to do. add adds the tags that are missing; remove removes those that are there."`
	Tags        []string `json:"tags" minItems:"1" maxItems:"50" maxLength:"100" tool:"plain" doc:"1 to 50. Each has 1 to 100 characters. Tags are compared without regard to case."`

	hashes []library.AssetHash
}

// Validate implements op.Validator.
func (in *bulkTagsInput) Validate() (errs []library.FieldError) {
	in.hashes, errs = Hashes("asset_hs", in.AssetHashes)
	return append(errs, tagErrors("tags", in.Tags)...)
}

// Hashes reads the hashes of assets in a list of a request; those that are none are errors.
func Hashes(field string, sent []string) (hashes []library.AssetHash, errs []library.FieldError) {
	hashes = make([]library.AssetHash, len(sent))
	for i, h := range sent {
		if hashes[i] = library.AssetHash(strings.ToLower(h)); !hashes[i].Valid() {
			errs = append(errs, library.FieldError{Field: fmt.Sprintf("%s[%d]", field, i), Code: "pattern", Message: "Expected a SHA-1 of 40 hex digits."})
		}
	}
	return hashes, errs
}

// bulkOutput is what one step did to many assets.
type bulkOutput struct {
	Changed   []library.AssetHash `json:"changed" doc:"Assets that changed."`
	Unchanged []library.AssetHash `json:"unchanged" doc:"Assets that were so already."`
	NotFound  []library.AssetHash `json:"not_found" doc:"Hashes for which the tenant has no asset."`
	op.Undoable
	op.Indexed
}

func bulkOutputOf(r store.ChangeResult) bulkOutput {
	out := bulkOutput{Changed: []library.AssetHash{}, Unchanged: append([]library.AssetHash{}, r.Unchanged...),
		NotFound: append([]library.AssetHash{}, r.Missing...), Undoable: op.Undoable{OperationID: r.OperationID}, Indexed: op.Indexed{IndexToken: r.OperationID}}
	for _, a := range r.Changed {
		out.Changed = append(out.Changed, a.Hash)
	}
	return out
}

func (s *Service) bulkUpdateAssetTags() op.Operation {
	return op.Define(op.Meta{
		Name: "BulkUpdateAssetTags", Title: "Add or remove tags", Domain: op.Assets,
		Doc:    "Adds tags to, or removes tags from, up to 100 assets in one step.",
		Method: "PATCH", Path: "/api/v1/assets/bulk-tag", Permission: library.PermWrite, Destructive: true, Idempotent: true, Chained: true,
		Example: map[string]any{"asset_hs": []string{"da39a3ee5e6b4b0d3255bfef95601890afd80709"}, "operation": "add", "tags": []string{"fox", "winter"}},
	}, func(ctx context.Context, actor library.Actor, in bulkTagsInput) (bulkOutput, error) {
		var over int
		changed, err := s.Store.Assets.Change(ctx, actor, in.hashes, func(a *library.Asset) {
			if in.Operation == "remove" {
				a.Tags = library.RemoveTags(a.Tags, in.Tags)
				return
			}
			merged := library.MergeTags(a.Tags, in.Tags)
			if len(merged) > library.MaxTags {
				over++
				return
			}
			a.Tags = merged
		})
		if err != nil {
			return bulkOutput{}, err
		}
		if over > 0 && len(changed.Changed) == 0 {
			return bulkOutput{}, library.Invalid(library.FieldError{Field: "tags", Code: "range",
				Message: fmt.Sprintf("An asset has at most %d tags, and these would be more. Nothing was changed.", library.MaxTags)})
		}
		return bulkOutputOf(changed), nil
	})
}
