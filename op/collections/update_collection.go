package collections

import (
	"context"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

type updateInput struct {
	op.TenantInput
	InCollection
	Name        *string `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"A new name. Paths of everything below follow."`
	DisplayName *string `json:"display_name,omitempty" minLength:"1" maxLength:"200" doc:"Default with a new name: that name."`
	Description *string `json:"description,omitempty" maxLength:"5000"`
	Icon        *string `json:"icon,omitempty" maxLength:"64"`
	Color       *string `json:"color,omitempty" pattern:"^(#[0-9a-fA-F]{6})?$" patternDescription:"a color such as #1e90ff, or empty" doc:"Such as #1e90ff; empty for none."`
	SavedSearch *string `json:"saved_search_id,omitempty" id:"saved_search" minLength:"1" maxLength:"64" doc:"Another search of a smart collection."`

	label string
}

// Validate implements op.Validator.
func (in *updateInput) Validate() (errs []library.FieldError) {
	if in.Name != nil {
		in.label, errs = label("name", *in.Name)
	}
	if in.DisplayName != nil && strings.TrimSpace(*in.DisplayName) == "" {
		errs = append(errs, library.FieldError{Field: "display_name", Code: "length", Message: "Expected 1 to 200 characters that are not all spaces."})
	}
	return errs
}

func (s *Service) updateCollection() op.Operation {
	return op.Define(op.Meta{
		Name: "UpdateCollection", Title: "Change a collection", Domain: op.Collections,
		Doc:    "Renames a collection or changes the other fields that are sent. collection_h stays the same.",
		Method: "PATCH", Path: "/api/v1/collections/{collection_h}", Permission: library.PermWrite, Idempotent: true, RESTOnly: true, Conditional: true,
		AnyOf:   []string{"name", "display_name", "description", "icon", "color", "saved_search_id"},
		Example: map[string]any{"collection_h": exampleCollection, "description": "Approved by the client."},
	}, func(ctx context.Context, actor library.Actor, in updateInput) (Changed, error) {
		if in.SavedSearch != nil {
			if _, err := s.Store.SavedSearches.Get(ctx, actor.Tenant, *in.SavedSearch); err != nil {
				return Changed{}, err
			}
		}
		done, err := s.Store.Collections.Change(ctx, actor, in.CollectionH, func(c *library.Collection) error {
			return in.apply(c)
		})
		if err != nil {
			return Changed{}, err
		}
		return changed(done), nil
	})
}

func (in *updateInput) apply(c *library.Collection) error {
	if in.SavedSearch != nil {
		if !c.Smart() {
			return library.Invalid(library.FieldError{Field: "saved_search_id", Code: "conflict", Message: "Only a smart collection has a saved search.",
				Hint: "Create a new collection with saved_search_id."})
		}
		c.SavedSearch = *in.SavedSearch
	}
	if in.Name != nil {
		c.Name, c.DisplayName = in.label, strings.TrimSpace(*in.Name)
	}
	if in.DisplayName != nil {
		c.DisplayName = strings.TrimSpace(*in.DisplayName)
	}
	for _, f := range []struct{ to, sent *string }{{&c.Description, in.Description}, {&c.Icon, in.Icon}, {&c.Color, in.Color}} {
		if f.sent != nil {
			*f.to = *f.sent
		}
	}
	return nil
}
