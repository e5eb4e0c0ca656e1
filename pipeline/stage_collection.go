package pipeline

import (
	"vitrine/library"
	"vitrine/query"
	"vitrine/store"
)

// collection selects the assets of a collection.
type collection struct {
	Path   string `json:"path" minLength:"1" maxLength:"600" doc:"The collection's path, or its collection_h."`
	Nested bool   `json:"include_nested,omitempty" doc:"With those of the collections below it."`
	Role   string `json:"role,omitempty" enum:"KeyVisual,SupportingElement,ReferenceMaterial,BackgroundAsset,Logo,Variation,Other" doc:"Only assets with this role in it."`
}

var kindCollection = newKind[collection](Kind{Type: "collection", Category: Select, Doc: "Selects the assets of a collection, in its order.", Args: []string{"path"}, Example: map[string]any{"path": "clients.spring", "include_nested": true}})

func (s *collection) check(c *checking) []library.FieldError { return checkPath(c, "path", s.Path) }

func (s *collection) run(x *exec) error {
	found, err := x.engine.Store.Collections.Get(x.ctx, x.actor(), s.Path, false)
	if err != nil {
		return err
	}
	if found.Smart() {
		return s.runSmart(x, found.Collection)
	}
	return x.fromQuery(store.CollectionMembers, found.Hash, found.Path, s.Nested, s.Role, x.actor())
}

// runSmart selects what the search of a smart collection finds.
func (s *collection) runSmart(x *exec, c library.Collection) error {
	saved, err := x.engine.Store.SavedSearches.Get(x.ctx, x.actor().Tenant, c.SavedSearch)
	if err != nil {
		return err
	}
	smart := search{Query: saved.Query, Mode: saved.Mode, OrderBy: saved.OrderBy, Order: saved.Direction}
	if err := decodeInto(saved.Filters, &smart.Filters); err != nil {
		return err
	}
	if query.Mode(smart.Mode) == "" {
		smart.Mode = string(query.Smart)
	}
	return smart.run(x)
}
