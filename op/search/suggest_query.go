package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vitrine/library"
	"vitrine/op"
	"vitrine/query"
	"vitrine/query/run"
)

type suggestInput struct {
	op.InTenant
	Query string `json:"query,omitempty" doc:"The query as typed so far; what stands at its end is completed."`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"50" default:"10" doc:"Suggestions at most."`
}

type suggestOutput struct {
	Query       string       `json:"query"`
	Suggestions []suggestion `json:"suggestions" doc:"Values with the most assets first, then fields."`
}

type suggestion struct {
	Query string `json:"query" doc:"The whole query with the suggestion taken."`
	Kind  string `json:"kind" enum:"value,field" doc:"value: a condition on a value; field: the beginning of a condition."`
	Field string `json:"field"`
	Value string `json:"value,omitempty"`
	Count *int64 `json:"count,omitempty" doc:"Assets with this value; absent where it is not counted."`
	Doc   string `json:"doc,omitempty" doc:"What the field means."`
}

func (s *Service) suggestQuery() op.Operation {
	return op.Define(op.Meta{
		Name: "SuggestQuery", Title: "Complete a query", Domain: op.Search,
		Doc: "Completes what is being typed at the end of a query: values of tags, models, tools and every other field that has a list of values, " +
			"with how many assets have them, and names of fields. Counts may be 30 seconds old.",
		Method: "GET", Path: "/api/v1/query/suggest", Permission: library.PermSearch, ReadOnly: true, Idempotent: true, RESTOnly: true,
		Spec:    "open points §1, §8",
		Example: map[string]any{"query": "fox lora:det"},
	}, s.suggest)
}

func (s *Service) suggest(ctx context.Context, actor library.Actor, in suggestInput) (suggestOutput, error) {
	out := suggestOutput{Query: in.Query, Suggestions: []suggestion{}}
	c, err := query.Complete(in.Query)
	if err != nil {
		return out, err
	}
	before := in.Query[:c.From]
	counted, err := s.countValues(ctx, actor, c)
	if err != nil {
		return out, err
	}
	for _, v := range counted {
		out.Suggestions = append(out.Suggestions, suggestion{Query: before + query.Term(v.field, v.Value), Kind: "value", Field: v.field.Name, Value: v.Value, Count: &v.Count})
	}
	for _, v := range c.Fixed() {
		if !slices.ContainsFunc(counted, func(have fieldValue) bool { return have.Value == v }) {
			out.Suggestions = append(out.Suggestions, suggestion{Query: before + query.Term(c.Field, v), Kind: "value", Field: c.Field.Name, Value: v})
		}
	}
	for _, f := range c.Fields() {
		out.Suggestions = append(out.Suggestions, suggestion{Query: before + f.Name + ":", Kind: "field", Field: f.Name, Doc: f.Doc})
	}
	out.Suggestions = out.Suggestions[:min(len(out.Suggestions), in.Limit)]
	return out, nil
}

// fieldValue is a value of a field and how many assets have it.
type fieldValue struct {
	run.FacetCount
	field *query.Field
}

// valuesKept is how many counts of values are remembered, and valuesFresh how long.
const (
	valuesKept  = 500
	valuesFresh = 30 * time.Second
	valuesAsked = 50 // per field: as many as an answer can have
)

// valueCache keeps counts of values for a short while: people type letter by
// letter, and take letters back. The zero value is empty.
type valueCache struct {
	once sync.Once
	lru  *lru.Cache[string, valuesAt]
}

type valuesAt struct {
	values []fieldValue
	read   time.Time
}

func (c *valueCache) open() *lru.Cache[string, valuesAt] {
	c.once.Do(func() { c.lru, _ = lru.New[string, valuesAt](valuesKept) }) // fails for a size below 1 only
	return c.lru
}

// countValues counts the values that could be meant among what the caller may
// see, the most frequent first.
func (s *Service) countValues(ctx context.Context, actor library.Actor, c query.Completion) ([]fieldValue, error) {
	if len(c.Counted()) == 0 {
		return nil, nil
	}
	key := fmt.Sprintf("%s %s %t %d %s", actor.Tenant, actor.ID, actor.Can(library.PermAdmin), len(c.Counted()), c.Counted()[0].Name+" "+c.Prefix)
	cache := s.values.open()
	if known, ok := cache.Get(key); ok && time.Since(known.read) < valuesFresh {
		return known.values, nil
	}
	_, all, err := s.compile(actor, "", query.Request{})
	if err != nil {
		return nil, err
	}
	page, err := s.Searcher.Search(ctx, actor.Tenant, all.CountValues(c, valuesAsked))
	if err != nil {
		return nil, err
	}
	var out []fieldValue
	for _, f := range c.Counted() {
		counts, err := page.Facet(f.Name)
		if err != nil {
			return nil, err
		}
		for _, v := range counts.Values {
			if f.Type != query.TypeEnum || c.Matches(v.Value) {
				out = append(out, fieldValue{v, f})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b fieldValue) int { return cmp.Compare(b.Count, a.Count) })
	cache.Add(key, valuesAt{out, time.Now()})
	return out, nil
}
