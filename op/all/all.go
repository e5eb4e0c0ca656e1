// Package all is the one list of operations that the product has, built from what
// they work with. What holds for every operation is tested here.
package all

import (
	"slices"

	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/op/lineage"
	"vitrine/op/models"
	"vitrine/op/search"
)

// Domains are the services whose operations make up the product. A value with
// nil dependencies describes the operations without being able to run them, which
// is what documents need.
type Domains struct {
	Search  *search.Service
	Assets  *assets.Service
	Lineage *lineage.Service
	Models  *models.Service
}

// Catalog returns every operation and resource, in the order of the domains.
func Catalog(d Domains) op.Catalog {
	return op.Catalog{
		Operations: slices.Concat(d.Search.Operations(), d.Assets.Operations(), d.Lineage.Operations(), d.Models.Operations()),
		Resources:  append(d.Search.Resources(), d.Assets.Resources()...),
	}
}

// DocumentedCatalog returns the catalog for documents: nothing in it can be called.
func DocumentedCatalog() op.Catalog {
	return Catalog(Domains{Search: &search.Service{}, Assets: &assets.Service{}, Lineage: &lineage.Service{}, Models: &models.Service{}})
}
