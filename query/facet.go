package query

// FacetKind is how the values of a facet are counted.
type FacetKind uint8

// The kinds of facets.
const (
	FacetTerms     FacetKind = iota // one bucket per value
	FacetHistogram                  // buckets of Interval from 0 to Max
	FacetCalendar                   // by year, month or day
	FacetShapes                     // portrait, square, landscape
)

// Facet says how the values of a field are counted.
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
