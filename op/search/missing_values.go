package search

import (
	"context"
	"maps"
	"slices"

	"vitrine/library"
	"vitrine/query"
)

// listedValues is how many values of a field are compared with one that no asset has: the
// most frequent among what the caller sees.
const listedValues = 200

// missingValues warns of the values in a query that no asset has that the caller sees. It
// is a nicety for searches that find nothing: where it cannot be found out, there is none.
func (s *Service) missingValues(ctx context.Context, actor library.Actor, q *query.Query) (list []query.Warning) {
	conditions := q.ValueConditions()
	if len(conditions) == 0 {
		return nil
	}
	all, err := s.matchAll(ctx, actor)
	if err != nil {
		return nil
	}
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = c.Text
	}
	counts, err := s.Searcher.CountConditions(ctx, actor.Tenant, all, texts)
	if err != nil {
		return nil
	}
	conditions = slices.DeleteFunc(conditions, func(c query.Condition) bool { return counts[c.Text] > 0 })
	values, err := s.valuesOf(ctx, actor, conditions)
	if err != nil {
		return nil
	}
	for _, c := range conditions {
		list = append(list, q.WarnNoSuchValue(c, values[c.Field.Name]))
	}
	return list
}

// valuesOf lists the most frequent values of the fields of conditions among what an actor
// sees, by field.
func (s *Service) valuesOf(ctx context.Context, actor library.Actor, conditions []query.Condition) (map[string][]string, error) {
	values := map[string][]string{}
	for _, c := range conditions {
		values[c.Field.Name] = nil
	}
	if len(values) == 0 {
		return nil, nil
	}
	_, counted, err := s.compile(ctx, actor, "", query.Request{Facets: slices.Sorted(maps.Keys(values)), FacetSize: listedValues})
	if err != nil {
		return nil, err
	}
	page, err := s.Searcher.Search(ctx, actor.Tenant, counted)
	if err != nil {
		return nil, err
	}
	for field := range values {
		facet, err := page.Facet(field)
		if err != nil {
			return nil, err
		}
		for _, v := range facet.Values {
			values[field] = append(values[field], v.Value)
		}
	}
	return values, nil
}
