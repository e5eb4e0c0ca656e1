package query

import (
	"math"
	"strings"
	"testing"

	"vitrine/library"
)

func parsed(t *testing.T, text string) *Query {
	t.Helper()
	q, err := Parse(text, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestRequest_BadRequestsAreFaultsThatNameTheField(t *testing.T) {
	t.Parallel()
	many := make([]string, 101)
	for name, c := range map[string]struct {
		req   Request
		field string
	}{
		"no tenant":            {Request{}, "tenant_id"},
		"tenant in capitals":   {Request{Tenant: "AAAAAAAA-1111-1111-1111-111111111111"}, "tenant_id"},
		"status":               {Request{Filters: Filters{Status: []string{"Nope"}}}, "filters.status"},
		"date":                 {Request{Filters: Filters{CreatedAfter: "yesterday"}}, "filters.created_after"},
		"too many tags":        {Request{Filters: Filters{Tags: many}}, "filters.tags"},
		"facet":                {Request{Facets: []string{"tag", "nope"}}, "facets[1]"},
		"facet without counts": {Request{Facets: []string{"prompt"}}, "facets[0]"},
		"unit on no date":      {Request{Facets: []string{"tag:month"}}, "facets[0]"},
		"unit":                 {Request{Facets: []string{"created:week"}}, "facets[0]"},
		"too many facets":      {Request{Facets: make([]string, 13)}, "facets"},
		"facet size":           {Request{Facets: []string{"tag"}, FacetSize: 201}, "facet_size"},
		"selection":            {Request{Selections: map[string][]string{"nope": {"x"}}}, "selections"},
		"selected value":       {Request{Selections: map[string][]string{"steps": {"x"}}}, "selections.steps"},
		"not a number":         {Request{Selections: map[string][]string{"cfg": {"NaN"}}}, "selections.cfg"},
		"selected month":       {Request{Selections: map[string][]string{"created:month": {"May"}}}, "selections.created:month"},
		"sort":                 {Request{Sort: []Sort{{By: "_script"}}}, "order_by[0]"},
		"position of nothing":  {Request{Sort: []Sort{{By: ByPosition}}}, "order_by"},
		"too many sorts":       {Request{Sort: make([]Sort, 5)}, "order_by"},
		"offset":               {Request{Offset: -1}, "offset"},
		"limit":                {Request{Limit: 1001}, "limit"},
		"window":               {Request{Offset: 10001, Limit: 100}, "offset"},
		"mode":                 {Request{Mode: "psychic"}, "search_mode"},
	} {
		if !strings.Contains(name, "tenant") {
			c.req.Tenant = tenantA
		}
		_, err := Compile(parsed(t, "cat"), c.req)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		f := queryError(t, err)
		if f.Kind != library.KindInvalid || len(f.Fields) == 0 || f.Fields[0].Field != c.field || f.Fields[0].Message == "" {
			t.Errorf("%s: %v, want the field %s", name, f, c.field)
		}
	}
}

func TestRequest_VectorsTheIndexWouldRefuse(t *testing.T) {
	t.Parallel()
	s, err := Compile(parsed(t, "cat"), Request{Tenant: tenantA})
	if err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	for name, c := range map[string]struct {
		vector []float32
		k      int
	}{
		"empty": {nil, 1}, "all zero": {[]float32{0, 0}, 1}, "not a number": {[]float32{1, nan}, 1}, "infinite": {[]float32{float32(math.Inf(1))}, 1},
		"no neighbour": {[]float32{1}, 0}, "too many neighbours": {[]float32{1}, 10001},
	} {
		if _, err := s.KNN("x", c.vector, c.k); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := s.KNN("x", []float32{0, 1}, 10000); err != nil {
		t.Errorf("a good vector is refused: %v", err)
	}
}

func TestRequest_WhatASearchSaysAboutItself(t *testing.T) {
	t.Parallel()
	const h = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"
	for _, c := range []struct {
		text    string
		scored  bool
		nothing bool
		meaning string
		similar library.AssetHash
	}{
		{text: ""},
		{text: "tag:cat"},
		{text: "-cat"},
		{text: "red tag:x \"blue sky\" -dog", scored: true, meaning: "red blue sky"},
		{text: "ca* dog", scored: true, meaning: "dog"},
		{text: "NOT (NOT cat)", scored: true, meaning: "cat"},
		{text: "<lora:x:1> (cat:1.2)", scored: true, meaning: "x cat"},
		{text: "status:Nope", nothing: true},
		{text: "similar:" + h + " cat", scored: true, meaning: "cat", similar: h},
		{text: "similar:" + h, similar: h},
	} {
		s, err := Compile(parsed(t, c.text), Request{Tenant: tenantA})
		if err != nil {
			t.Fatal(err)
		}
		if s.Scored != c.scored || s.MatchesNothing != c.nothing || s.TextForEmbedding != c.meaning || s.SimilarTo != c.similar {
			t.Errorf("%q: scored %v, nothing %v, meaning %q, similar %q", c.text, s.Scored, s.MatchesNothing, s.TextForEmbedding, s.SimilarTo)
		}
	}
}

func TestRequest_VeryManyWordsAreLookedForInEveryField(t *testing.T) {
	t.Parallel()
	var words []string
	for i := range 255 {
		words = append(words, strings.Repeat(string(rune('a'+i%26)), 1+i/26))
	}
	s, err := Compile(parsed(t, strings.Join(words, " ")), Request{Tenant: tenantA})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) != 0 || len(s.Terms()) != 255 {
		t.Errorf("%d terms, warnings %v", len(s.Terms()), s.Warnings)
	}
}

// TestSort_PositionNeedsExactlyOneCollection compiles queries that name one collection,
// and others that do not.
func TestSort_PositionNeedsExactlyOneCollection(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"collection:=a.b":                   true,
		`neon collection:="A/B" -wip`:       true,
		"(collection:=a (tag:x OR tag:y))":  true,
		"collection:=a collection:b":        true,
		"collection:a":                      false,
		"collection:=a collection:=b":       false,
		"collection:=a OR collection:=b":    false,
		"-collection:=a":                    false,
		"collection:=a*":                    false,
		"cat":                               false,
		"collection:=a OR tag:x":            false,
		"tag:x (collection:=a OR tag:y)":    false,
		"rating:5 NOT (collection:=a cats)": false,
	} {
		s, err := Compile(parsed(t, text), Request{Tenant: tenantA, Sort: []Sort{{By: ByPosition, Desc: true}}})
		if good != (err == nil) {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil && len(s.Sort) != 2 {
			t.Errorf("%s sorts by %v", text, s.Sort)
		}
	}
}
