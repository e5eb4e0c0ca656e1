package query

import "math"

// FacetKind is how the values of a facet are counted.
type FacetKind uint8

// The kinds of facets.
const (
	FacetTerms     FacetKind = iota // one bucket per value
	FacetHistogram                  // buckets of Interval from 0 to Max
	FacetCalendar                   // by year, month or day
	FacetShapes                     // portrait, square, landscape
)

// Facet is how the values of a field are counted.
type Facet struct {
	Kind     FacetKind
	Index    string  // the index field
	Interval float64 // of FacetHistogram
	Max      float64
}

func terms(index string) *Facet { return &Facet{Kind: FacetTerms, Index: index} }

func histogram(index string, interval, max float64) *Facet {
	return &Facet{Kind: FacetHistogram, Index: index, Interval: interval, Max: max}
}

func calendar(index string) *Facet { return &Facet{Kind: FacetCalendar, Index: index} }

func shapes(index string) *Facet { return &Facet{Kind: FacetShapes, Index: index} }

// bucketShift is how far before its name a bucket begins. The index holds 0.7 as the
// nearest float, which is less, and it belongs to the bucket named 0.7.
func (f *Facet) bucketShift() float64 {
	if f.Interval == math.Trunc(f.Interval) {
		return 0
	}
	return f.Interval / 1000
}
