package query

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"vitrine/library"
)

// Caps of a request's facets.
const (
	MaxFacets    = 12
	MaxFacetSize = 200
)

// FacetNames lists the facets a request may ask for.
func FacetNames() []string {
	var names []string
	for _, f := range fieldTable {
		switch {
		case f.Facet == nil:
		case f.Facet.Kind == FacetCalendar:
			names = append(names, f.Name+":year", f.Name+":month", f.Name+":day")
		default:
			names = append(names, f.Name)
		}
	}
	return names
}

// namedFacet is a facet as a request names it.
type namedFacet struct {
	name  string
	field *Field
	facet *Facet
	unit  string // of FacetCalendar: year, month or day
}

func lookupFacet(name string) (namedFacet, bool) {
	base, unit, dated := strings.Cut(name, ":")
	f := LookupField(base)
	if f == nil || f.Facet == nil || dated != (f.Facet.Kind == FacetCalendar) && dated {
		return namedFacet{}, false
	}
	if f.Facet.Kind == FacetCalendar {
		if unit == "" {
			unit = "month"
		}
		if unit != "year" && unit != "month" && unit != "day" {
			return namedFacet{}, false
		}
	}
	return namedFacet{name: name, field: f, facet: f.Facet, unit: unit}, true
}

// addFacets compiles the selections into a post filter and each facet into an
// aggregation over the hits that all other selections leave: a facet's own
// selection must not hide its other values.
func (s *Search) addFacets(req Request) error {
	selections, err := compileSelections(req)
	if err != nil {
		return err
	}
	if f := selections.except(""); len(f) > 0 {
		s.PostFilter = all(f...)
	}
	if len(req.Facets) == 0 {
		return nil
	}
	if len(req.Facets) > MaxFacets {
		return library.Invalid(library.FieldError{Field: "facets", Code: "length", Message: fmt.Sprintf("At most %d facets are allowed.", MaxFacets)})
	}
	size := req.FacetSize
	if size == 0 {
		size = 20
	}
	if size < 1 || size > MaxFacetSize {
		return library.Invalid(library.FieldError{Field: "facet_size", Code: "range", Message: fmt.Sprintf("Between 1 and %d values per facet are allowed.", MaxFacetSize)})
	}
	s.Aggs = make(map[string]any, len(req.Facets))
	for i, name := range req.Facets {
		f, ok := lookupFacet(name)
		if !ok {
			return library.Invalid(UnknownFacet(fmt.Sprintf("facets[%d]", i)))
		}
		values, missing := f.aggregation(size, req.Zone), f.missing()
		others := selections.except(f.counts())
		if len(others) == 0 { // alone, the index may read the counts out of its dictionary
			s.Aggs[name], s.Aggs[MissingFacet(name)] = values, missing
			continue
		}
		s.Aggs[name] = clause{"filter": all(others...), "aggs": clause{"values": values, "missing": missing}}
	}
	return nil
}

// counts names what a facet counts: two facets that count the same exclude each other's
// selections.
func (f namedFacet) counts() string {
	if f.field.Key != "" {
		return f.field.Name
	}
	return f.facet.Index
}

// missing counts assets without a value.
func (f namedFacet) missing() clause {
	if f.field.Key != "" {
		return clause{"filter": mustNot(term(metadataKeys, f.field.Name))}
	}
	return clause{"missing": clause{"field": f.facet.Index}}
}

// IsFacet reports whether a request may ask for a facet of this name.
func IsFacet(name string) bool {
	f, ok := lookupFacet(name)
	return ok && (f.field.Key != "" || slices.Contains(FacetNames(), name))
}

// MissingFacet names the count of assets without a value, where it stands beside that
// of the values.
func MissingFacet(name string) string { return name + " missing" }

// UnknownFacet returns the error of a field of a request that names no facet.
func UnknownFacet(field string) library.FieldError {
	return library.FieldError{Field: field, Code: "enum", Message: "Allowed are " + strings.Join(FacetNames(), ", ") + " and metadata.key, such as metadata.client."}
}

func (f namedFacet) aggregation(size int, zone *time.Location) clause {
	switch f.facet.Kind {
	case FacetHistogram:
		histogram := clause{
			"field": f.facet.Index, "interval": f.facet.Interval, "min_doc_count": 1,
			"hard_bounds": clause{"min": 0, "max": f.facet.Max},
		}
		if early := bucketShift(f.facet); early > 0 {
			histogram["offset"] = -early
			histogram["format"] = "0.##" // rounds their keys
		}
		return clause{"histogram": histogram}
	case FacetCalendar:
		return clause{"date_histogram": clause{
			"field": f.facet.Index, "calendar_interval": f.unit, "min_doc_count": 1, "time_zone": zoneName(zone),
			"format": map[string]string{"year": "yyyy", "month": "yyyy-MM", "day": "yyyy-MM-dd"}[f.unit],
			"order":  clause{"_key": "desc"},
		}}
	case FacetShapes:
		return clause{"range": clause{"field": f.facet.Index, "ranges": []clause{
			{"key": "portrait", "to": squareMin}, {"key": "square", "from": squareMin, "to": squareMax}, {"key": "landscape", "from": squareMax},
		}}}
	}
	count := clause{"field": f.facet.Index, "size": size}
	if f.field.Key != "" {
		count["include"] = beginning(f.field, "")
	}
	return clause{"terms": count}
}

// zoneName names a zone as the index knows it.
func zoneName(zone *time.Location) string {
	if zone == nil || zone == time.UTC || zone.String() == "Local" {
		return "UTC"
	}
	return zone.String()
}

type selection struct {
	index string
	c     clause
}

type selections []selection

// except lists the selections on other index fields than the given one.
func (s selections) except(index string) []clause {
	var out []clause
	for _, x := range s {
		if x.index != index {
			out = append(out, x.c)
		}
	}
	return out
}

func compileSelections(req Request) (selections, error) {
	names := make([]string, 0, len(req.Selections))
	for name := range req.Selections {
		names = append(names, name)
	}
	sort.Strings(names)
	var out selections
	for _, name := range names {
		values := req.Selections[name]
		f, ok := lookupFacet(name)
		if !ok {
			return nil, library.Invalid(UnknownFacet("selections"))
		}
		if len(values) > maxFilterValues {
			return nil, library.Invalid(library.FieldError{Field: "selections." + name, Code: "length", Message: "At most 100 values are allowed."})
		}
		var any []clause
		for _, v := range values {
			c, ok := f.selected(v, req.Zone)
			if !ok {
				return nil, library.Invalid(library.FieldError{Field: "selections." + name, Code: "format", Message: "Send a value as the facet returned it."})
			}
			any = append(any, c)
		}
		if len(any) > 0 {
			out = append(out, selection{f.counts(), shouldMatch(any...)})
		}
	}
	return out, nil
}

// selected compiles one chosen value of a facet; the empty value means "has none".
func (f namedFacet) selected(v string, zone *time.Location) (clause, bool) {
	index := f.facet.Index
	if f.field.Key != "" {
		if v == "" {
			return mustNot(term(metadataKeys, f.field.Name)), true
		}
		return term(metadataPairs, f.field.Key+"="+v), true
	}
	if v == "" {
		return mustNot(exists(index)), true
	}
	switch f.facet.Kind {
	case FacetHistogram:
		from, err := strconv.ParseFloat(v, 64)
		if err != nil || !(from >= 0 && from <= f.facet.Max) {
			return nil, false
		}
		from -= bucketShift(f.facet)
		return clause{"range": clause{index: clause{"gte": from, "lt": from + f.facet.Interval}}}, true
	case FacetCalendar:
		start, end, ok := dateUnit(v, zone)
		return between(index, instant(start), instant(end)), ok
	case FacetShapes:
		state, ok := LookupField("is").terms[v]
		return state, ok && (v == "portrait" || v == "square" || v == "landscape")
	}
	if index == "ai" || index == "chain" {
		return term(index, v == "true"), v == "true" || v == "false"
	}
	if index == f.field.Index && (f.field.Type == TypeName || f.field.Type == TypePart) {
		return f.field.named(v), true
	}
	return term(index, v), true
}

// named compiles a whole name, in any of the forms that stand for it: as a facet returns it
// or as a file has it, such as the file name of a model.
func (f *Field) named(v string) clause {
	return (&compiler{preds: map[*Pred]clause{}}).node(nameNode(f, token{text: v, kind: tokPhrase}), filtering)
}
