package run

import (
	"encoding/json"
	"fmt"
	"strconv"

	"vitrine/query"
)

// FacetCount is one value of a facet and how many assets have it.
type FacetCount struct {
	Value string
	Count int64
}

// FacetResult is one counted facet.
type FacetResult struct {
	Values  []FacetCount
	Other   int64 // how often further values occur; an asset may have several
	Missing int64 // assets without a value
}

// Facet reads the counts of one facet out of a page; name is as it was asked for.
func (p Page) Facet(name string) (FacetResult, error) {
	raw, ok := p.Aggs[name]
	if !ok {
		return FacetResult{Values: []FacetCount{}}, nil
	}
	type values struct {
		Buckets []struct {
			Key         any    `json:"key"`
			KeyAsString string `json:"key_as_string"`
			Count       int64  `json:"doc_count"`
		} `json:"buckets"`
		Other int64 `json:"sum_other_doc_count"`
	}
	type missing struct {
		Count int64 `json:"doc_count"`
	}
	var a struct {
		values          // of a facet that stands alone
		Values  *values `json:"values"`
		Missing missing `json:"missing"`
	}
	err := json.Unmarshal(raw, &a)
	if beside, ok := p.Aggs[query.MissingFacet(name)]; ok && err == nil {
		err = json.Unmarshal(beside, &a.Missing)
	}
	if err != nil {
		return FacetResult{}, fmt.Errorf("reading the counts of facet %s: %w", name, err)
	}
	if a.Values == nil {
		a.Values = &a.values
	}
	out := FacetResult{Values: make([]FacetCount, 0, len(a.Values.Buckets)), Other: a.Values.Other, Missing: a.Missing.Count}
	for _, b := range a.Values.Buckets {
		value := b.KeyAsString
		switch k := b.Key.(type) {
		case string:
			value = k
		case float64:
			if value == "" {
				value = strconv.FormatFloat(k, 'f', -1, 64)
			}
		}
		if value == "-0" {
			value = "0" // a bucket that begins a trifle before its name
		}
		out.Values = append(out.Values, FacetCount{Value: query.FacetValue(name, value), Count: b.Count})
	}
	return out, nil
}
