package search

import (
	"context"

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
	for _, c := range conditions {
		if counts[c.Text] > 0 {
			continue
		}
		values, err := s.valuesOf(ctx, actor, c.Field.Name)
		if err != nil {
			return list
		}
		list = append(list, q.WarnNoSuchValue(c, values))
	}
	return list
}

// valuesOf lists the most frequent values of a field among what an actor sees.
func (s *Service) valuesOf(ctx context.Context, actor library.Actor, field string) ([]string, error) {
	_, counted, err := s.compile(ctx, actor, "", query.Request{Facets: []string{field}, FacetSize: listedValues})
	if err != nil {
		return nil, err
	}
	page, err := s.Searcher.Search(ctx, actor.Tenant, counted)
	if err != nil {
		return nil, err
	}
	facet, err := page.Facet(field)
	values := make([]string, len(facet.Values))
	for i, v := range facet.Values {
		values[i] = v.Value
	}
	return values, err
}
