package assets

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type updateInput struct {
	op.TenantInput
	AssetHash   string         `json:"asset_h" id:"asset" pattern:"^[0-9a-fA-F]{40}$" patternDescription:"a SHA-1 of 40 hex digits" doc:"The asset."`
	Title       *string        `json:"title,omitempty" maxLength:"500"`
	Description *string        `json:"description,omitempty" maxLength:"5000"`
	Tags        *[]string      `json:"tags,omitempty" maxItems:"500" maxLength:"100" doc:"Replaces all; [] removes all. For single tags use BulkUpdateAssetTags."`
	Status      *string        `json:"status,omitempty" enum:"Draft,PendingApproval,Approved,Rejected,Archived" tool:"plain" doc:"Approved marks an approved brand asset; any other value clears that."`
	Rating      *int           `json:"rating,omitempty" minimum:"0" maximum:"5" doc:"0: not rated."`
	Favorite    *bool          `json:"favorite,omitempty"`
	Visibility  *string        `json:"visibility,omitempty" enum:"private,team,public" doc:"private hides it. Then only its owner and admins see it. team and public: everybody in the tenant. Only the owner and admins change it; who hides an asset without owner becomes its owner."`
	Owner       *string        `json:"owner,omitempty" id:"none" tool:"-" maxLength:"64" doc:"me, a key_id, or empty for nobody."`
	Metadata    map[string]any `json:"asset_metadata,omitempty" doc:"JSON merge patch. Names that are sent change, null removes one; at most 64 KiB of JSON once merged."`
}

// Validate implements op.Validator.
func (in *updateInput) Validate() []library.FieldError {
	var errs []library.FieldError
	if in.Tags != nil {
		errs = append(errs, tagErrors("tags", *in.Tags)...)
	}
	return append(errs, op.CheckObject("asset_metadata", in.Metadata, op.SmallObject)...)
}

type updateOutput struct {
	Asset    Summary        `json:"asset"`
	Rating   int            `json:"rating" doc:"1 to 5; 0 if it is not rated."`
	Favorite bool           `json:"favorite"`
	Owner    string         `json:"owner" doc:"The key_id of its owner; empty if it has none."`
	Metadata map[string]any `json:"asset_metadata,omitempty"`
	op.Undoable
	op.Indexed

	version int64
}

// ResourceVersion implements op.Versioned.
func (o updateOutput) ResourceVersion() int64 { return o.version }

func (s *Service) updateAsset() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdateAsset", Title: "Update an asset", Domain: op.Assets,
		Doc:    "Changes the fields of one asset that are sent. Returns the asset as it is now.",
		Method: "PATCH", Path: "/api/v1/assets/{asset_h}", Permission: library.PermWrite, Destructive: true, Idempotent: true, Chained: true, Conditional: true,
		AnyOf:   []string{"title", "description", "tags", "status", "visibility", "owner", "asset_metadata", "rating", "favorite"},
		Example: map[string]any{"asset_h": "da39a3ee5e6b4b0d3255bfef95601890afd80709", "title": "Red fox in snow", "status": "Approved"},
	}, s.update)
}

func (s *Service) update(ctx context.Context, actor library.Actor, in updateInput) (updateOutput, error) {
	hash := library.AssetHash(strings.ToLower(in.AssetHash))
	shared, err := s.readShare(ctx, actor, in.Owner, in.Visibility)
	if err != nil {
		return updateOutput{}, err
	}
	var refused error
	changed, err := s.Store.Assets.Change(ctx, actor, []library.AssetHash{hash}, func(a *library.Asset) {
		if refused = op.CheckVersion(ctx, a.DocVersion); refused != nil {
			return
		}
		if refused = in.refuse(shared, actor, a); refused != nil {
			return
		}
		rate(a, in.Rating, in.Favorite)
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
	if err == nil {
		err = refused
	}
	if err != nil {
		return updateOutput{}, err
	}
	if len(changed.Missing) > 0 {
		return updateOutput{}, library.NotFound("asset")
	}
	if len(changed.Changed) == 0 { // it says so already
		d, err := s.Store.Assets.Get(ctx, actor, hash)
		return s.updated(actor, d.Asset), err
	}
	out := s.updated(actor, changed.Changed[0])
	out.OperationID, out.IndexToken = changed.OperationID, changed.OperationID
	return out, nil
}

// updated describes an asset as it is now.
func (s *Service) updated(actor library.Actor, a library.Asset) updateOutput {
	return updateOutput{Asset: s.summary(actor, a), Rating: a.Rating, Favorite: a.Favorite, Owner: a.Owner, Metadata: a.Metadata, version: a.DocVersion}
}

// refuse changes who sees an asset and its metadata, or returns why it may not be.
func (in *updateInput) refuse(shared share, actor library.Actor, a *library.Asset) error {
	if in.Metadata != nil {
		merged := mergePatch(a.Metadata, in.Metadata)
		if errs := op.CheckObject("asset_metadata", merged, op.SmallObject); len(errs) > 0 {
			return library.Invalid(errs...)
		}
		a.Metadata = merged
	}
	return shared.apply(actor, a)
}
