package query

import (
	"math"

	"vitrine/mappings"
)

// Facet is how the values of a field are counted.
type Facet = mappings.Facet

// The kinds of facets.
const (
	FacetTerms     = mappings.FacetTerms
	FacetHistogram = mappings.FacetHistogram
	FacetCalendar  = mappings.FacetCalendar
	FacetShapes    = mappings.FacetShapes
)

// bucketShift is how far before its name a bucket begins. The index holds 0.7 as the
// nearest float, which is less, and it belongs to the bucket named 0.7.
func bucketShift(f *Facet) float64 {
	if f.Interval == math.Trunc(f.Interval) {
		return 0
	}
	return f.Interval / 1000
}
