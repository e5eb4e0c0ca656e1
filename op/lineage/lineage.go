// Package lineage holds the operations that show how assets came of each other:
// the chain of files, the jobs of the image tool, the session in which something
// was made. One file per operation.
package lineage

import (
	"strings"

	"vitrine/library"
	"vitrine/op"
	"vitrine/op/assets"
	"vitrine/store"
)

// Service is what the operations of this package work with.
type Service struct {
	Store *store.Store
	Links assets.Links
}

// Operations lists this package's operations.
func (s *Service) Operations() []op.Operation {
	return []op.Operation{s.getCreativeSession(), s.getImagetoolEvolutionChain(), s.getAssetLineage(), s.getExtractionReport()}
}

// maxNodes bounds one answer: beyond it a graph is neither drawn nor read.
const maxNodes = 500

// lowerHash brings a hash to its canonical form.
func lowerHash(hash string) library.AssetHash { return library.AssetHash(strings.ToLower(hash)) }

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
