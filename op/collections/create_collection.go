package collections

import (
	"context"

	"vitrine/library"
	"vitrine/op"
)

type createInput struct {
	op.TenantInput
	Name        string `json:"name" minLength:"1" maxLength:"200" doc:"The path gets its letters a-z and digits. Unique among siblings."`
	ParentPath  string `json:"parent_path,omitempty" id:"collection" maxLength:"600" doc:"Path or collection_h. Absent or null: a root."`
	DisplayName string `json:"display_name,omitempty" maxLength:"200" doc:"Default: name."`
	Description string `json:"description,omitempty" maxLength:"5000"`
	Icon        string `json:"icon,omitempty" maxLength:"64"`
	Color       string `json:"color,omitempty" pattern:"^#[0-9a-fA-F]{6}$" patternDescription:"a color such as #1e90ff" doc:"Such as #1e90ff."`
	SavedSearch string `json:"saved_search_id,omitempty" id:"saved_search" maxLength:"64" doc:"Makes it smart. It holds what this saved search finds."`

	label string
}

// Validate implements op.Validator.
func (in *createInput) Validate() (errs []library.FieldError) {
	in.label, errs = label("name", in.Name)
	return errs
}

func (s *Service) createCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "CreateCollection", Title: "Create a collection", Domain: op.Collections,
		Doc:    "Creates a collection in the tree, which has at most 5 levels. A name that is taken is an error that names a free one.",
		Method: "POST", Path: "/api/v1/collections", Permission: library.PermWrite, Creates: "/api/v1/collections/{collection_h}", Chained: true,
		Example: map[string]any{"name": "Winter launch", "description": "Key visuals for the winter campaign.", "color": "#1e90ff"},
	}, func(ctx context.Context, actor library.Actor, in createInput) (Changed, error) {
		if in.SavedSearch != "" {
			if _, err := s.Store.SavedSearches.Get(ctx, actor.Tenant, in.SavedSearch); err != nil {
				return Changed{}, err
			}
		}
		done, err := s.Store.Collections.Create(ctx, actor, library.Collection{Name: in.label, DisplayName: displayName(in.DisplayName, in.Name),
			Description: in.Description, Icon: in.Icon, Color: in.Color, SavedSearch: in.SavedSearch}, in.ParentPath)
		if err != nil {
			return Changed{}, err
		}
		return changed(done), nil
	})
}
