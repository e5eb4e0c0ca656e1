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

// Catalogue gives every operation and resource, in the order of the domains.
func Catalogue(d Domains) op.Catalogue {
	return op.Catalogue{
		Operations: slices.Concat(d.Search.Operations(), d.Assets.Operations(), d.Lineage.Operations(), d.Models.Operations()),
		Resources:  append(d.Search.Resources(), d.Assets.Resources()...),
	}
}

// Described gives the catalogue for documents: nothing in it can be called.
func Described() op.Catalogue {
	return Catalogue(Domains{Search: &search.Service{}, Assets: &assets.Service{}, Lineage: &lineage.Service{}, Models: &models.Service{}})
}
