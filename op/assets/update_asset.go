package assets

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type updateInput struct {
	op.TenantInput
	AssetHash   string    `json:"asset_h" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"The asset."`
	Title       *string   `json:"title,omitempty" maxLength:"500" doc:"Replaces the title."`
	Description *string   `json:"description,omitempty" maxLength:"5000" doc:"Replaces the description verbatim."`
	Tags        *[]string `json:"tags,omitempty" maxItems:"500" doc:"Replaces the whole tag set; [] removes all. To add or remove single tags use BulkUpdateAssetTags. Each tag has 1 to 100 characters."`
	Status      *string   `json:"status,omitempty" doc:"Draft, PendingApproval, Approved, Rejected or Archived. Approved marks an approved brand asset; any other value clears that."`
}

// Validate implements op.Validator.
func (in *updateInput) Validate() []library.FieldError {
	var errs []library.FieldError
	if in.Title == nil && in.Description == nil && in.Tags == nil && in.Status == nil {
		errs = append(errs, library.FieldError{Field: "title", Code: "required",
			Message: "At least one of title, description, tags and status is required.", Hint: "Send the fields to change."})
	}
	if in.Tags != nil {
		errs = append(errs, tagErrors("tags", *in.Tags)...)
	}
	if in.Status != nil {
		if _, ok := library.ParseStatus(*in.Status); !ok {
			errs = append(errs, statusError("status"))
		}
	}
	return errs
}

func statusError(field string) library.FieldError {
	names := make([]string, len(library.Statuses))
	for i, s := range library.Statuses {
		names[i] = string(s)
	}
	return library.FieldError{Field: field, Code: "enum", Message: "Allowed are " + strings.Join(names, ", ") + "."}
}

type updateOutput struct {
	Asset Summary `json:"asset"`
	op.Undoable
	op.Indexed
}

func (s *Service) updateAsset() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdateAsset", Title: "Update an asset", Domain: op.Assets,
		Doc: "Changes the title, description, tags or status of one asset. Only the fields that are sent change; tags replace the whole set. " +
			"Returns the asset as it is now.",
		Method: "PATCH", Path: "/api/v1/assets/{asset_h}", Permission: library.PermWrite, Destructive: true, Idempotent: true, Chained: true,
		Example: map[string]any{"asset_h": "da39a3ee5e6b4b0d3255bfef95601890afd80709", "title": "Red fox in snow", "status": "Approved"},
	}, func(ctx context.Context, actor library.Actor, in updateInput) (updateOutput, error) {
		hash := library.AssetHash(strings.ToLower(in.AssetHash))
		changed, err := s.Store.ChangeAssets(ctx, actor, []library.AssetHash{hash}, func(a *library.Asset) {
			if in.Title != nil {
				a.Title = strings.ReplaceAll(*in.Title, "\x00", "")
			}
			if in.Description != nil {
				a.Description = strings.ReplaceAll(*in.Description, "\x00", "")
			}
			if in.Tags != nil {
				a.Tags = library.MergeTags(nil, *in.Tags)
			}
			if in.Status != nil {
				a.Status, _ = library.ParseStatus(*in.Status)
			}
		})
		if err != nil {
			return updateOutput{}, err
		}
		if len(changed.Missing) > 0 {
			return updateOutput{}, library.NotFound("asset")
		}
		if len(changed.Changed) == 0 { // it says so already
			d, err := s.Store.Asset(ctx, actor.Tenant, hash)
			return updateOutput{Asset: s.summary(actor, d.Asset)}, err
		}
		return updateOutput{Asset: s.summary(actor, changed.Changed[0]), Undoable: op.Undoable{OperationID: changed.OperationID}, Indexed: op.Indexed{IndexToken: changed.OperationID}}, nil
	})
}
