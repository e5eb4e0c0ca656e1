package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/op"
	"vitrine/query"
	"vitrine/query/run"
)

type suggestInput struct {
	op.TenantInput
	Query string `json:"query,omitempty" id:"query" doc:"The query as typed so far; its end is completed."`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"50" default:"10" doc:"Maximum number of suggestions."`
}

type suggestOutput struct {
	Query       string       `json:"query"`
	Suggestions []suggestion `json:"suggestions" doc:"Values with the most assets first, then fields."`
}

type suggestion struct {
	Query string `json:"query" doc:"The whole query with the suggestion applied."`
	Kind  string `json:"kind" enum:"value,field" doc:"value: a field with a value; field: a field name to continue from."`
	Field string `json:"field"`
	Value string `json:"value,omitempty"`
	Count *int64 `json:"count,omitempty" doc:"Assets that match the completed condition; absent if it is not counted."`
	Doc   string `json:"doc,omitempty" doc:"What the field means."`
}

func (s *Service) suggestQuery() op.Operation {
	return op.Define(op.Meta{
		Name: "SuggestQuery", Title: "Complete a query", Domain: op.Search,
		Doc: "Completes the end of a query while it is typed: values of tags, models, tools and every other field with a list of values, " +
			"with the number of assets, and field names. Counts may be 30 seconds old.",
		Method: "GET", Path: "/api/v1/query/suggest", Permission: library.PermSearch, ReadOnly: true, Idempotent: true, RESTOnly: true,
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
	counted, err = s.refineCounts(ctx, actor, c, counted[:min(len(counted), in.Limit)])
	if err != nil {
		return out, err
	}
	for _, v := range counted {
		s := suggestion{Query: before + c.Apply(v.field, v.Value), Kind: "value", Field: v.field.Name, Value: v.Value, Count: &v.Count}
		if c.NamesKey(v.field) {
			s.Kind, s.Field, s.Value, s.Count = "field", v.Value, "", nil // the name alone is no condition
		} else if c.Field != nil {
			s.Field = c.Field.Name
		}
		out.Suggestions = append(out.Suggestions, s)
	}
	for _, v := range c.EnumValues() {
		if !slices.ContainsFunc(counted, func(have fieldValue) bool { return have.Value == v }) {
			out.Suggestions = append(out.Suggestions, suggestion{Query: before + c.Apply(c.Field, v), Kind: "value", Field: c.Field.Name, Value: v})
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

// refineCounts sets the counts of values to those of what a condition on them finds: a part of a
// model's name may be in other names too, and red_hair is the tag "red hair".
// Values that such a condition does not tell apart are named once.
func (s *Service) refineCounts(ctx context.Context, actor library.Actor, c query.Completion, counted []fieldValue) ([]fieldValue, error) {
	known, who := s.cache.caches().values, viewerKey(actor)+"= "
	var open []string
	for _, v := range counted {
		if term := query.ConditionText(v.field, v.Value); v.field.Type == query.TypePart || v.field.Type == query.TypeTag {
			if _, ok := known.get(who + term); !ok {
				open = append(open, term)
			}
		}
	}
	if len(open) > 0 {
		all, err := s.matchAll(ctx, actor)
		if err != nil {
			return nil, err
		}
		counts, err := s.Searcher.CountConditions(ctx, actor.Tenant, all, open)
		if err != nil {
			return nil, err
		}
		for term, n := range counts {
			known.add(who+term, []fieldValue{{FacetCount: run.FacetCount{Count: n}}})
		}
	}
	var out []fieldValue
	named := map[string]bool{}
	for _, v := range counted {
		if name := v.field.Name + " " + mappings.NormTag(v.Value); v.field.Type == query.TypeTag {
			if named[name] {
				continue
			}
			named[name] = true
		}
		if exact, ok := known.get(who + query.ConditionText(v.field, v.Value)); ok && len(exact) == 1 {
			v.Count = exact[0].Count
		}
		out = append(out, v)
	}
	slices.SortStableFunc(out, func(a, b fieldValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), -cmp.Compare(prefixRank(c, a), prefixRank(c, b)))
	})
	return out, nil
}

// prefixRank is 1 for a value that begins with what is typed, else 0.
func prefixRank(c query.Completion, v fieldValue) int {
	if c.Matches(v.Value) {
		return 1
	}
	return 0
}

// maxValues is how many values are counted per field: as many as an answer can have.
const maxValues = 50

// countValues counts the values that could be meant among what the caller may
// see, the most frequent first.
func (s *Service) countValues(ctx context.Context, actor library.Actor, c query.Completion) ([]fieldValue, error) {
	if len(c.CountedFields()) == 0 {
		return nil, nil
	}
	known, key := s.cache.caches().values, viewerKey(actor)+fmt.Sprintf("%d %s %s", len(c.CountedFields()), c.CountedFields()[0].Name, c.Prefix)
	if values, ok := known.get(key); ok {
		return values, nil
	}
	all, err := s.matchAll(ctx, actor)
	if err != nil {
		return nil, err
	}
	page, err := s.Searcher.Search(ctx, actor.Tenant, all.CountValues(c, maxValues))
	if err != nil {
		return nil, err
	}
	var out []fieldValue
	for _, f := range c.CountedFields() {
		counts, err := page.Facet(f.Name)
		if err != nil {
			return nil, err
		}
		for _, v := range counts.Values {
			if c.Promises(v.Value) && (f.Type != query.TypeEnum || c.Matches(v.Value)) {
				out = append(out, fieldValue{v, f})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b fieldValue) int { return cmp.Compare(b.Count, a.Count) })
	known.add(key, out)
	return out, nil
}
