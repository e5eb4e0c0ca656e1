package query

import (
	"time"
)

// Test is a condition that assets fulfil beside the words of a search: a comparison of one field of the
// index, or a group. A document without the field fulfils no comparison but those under Not.
type Test struct {
	All, Any []Test // groups; an empty All holds always
	Not      *Test

	Field string // of the index, whose values are compared; empty in groups
	Op    Op     // Equal, Greater, GreaterEq, Less, LessEq or Exists
	Value any    // a string, bool, uint64, or time.Time, which is compared by milliseconds
}

// Where narrows what a search finds to what fulfils conditions too. Its order stays.
func (s *Search) Where(conditions ...Test) *Search {
	filters := make([]clause, len(conditions))
	for i, c := range conditions {
		filters[i] = c.clause()
	}
	return s.filtered(filters)
}

// And narrows what a search finds to what another one finds too. Its order stays.
func (s *Search) And(other *Search) *Search {
	out := s.filtered([]clause{other.Matching()})
	out.MatchesNothing = s.MatchesNothing || other.MatchesNothing
	return out
}

func (s *Search) filtered(filters []clause) *Search {
	out := *s
	body := clause{"filter": append([]clause{}, filters...)}
	if s.Scored {
		body["must"] = []clause{s.Query}
	} else {
		body["filter"] = append([]clause{s.Matching()}, filters...)
	}
	out.Query, out.bounds = clause{"bool": body}, nil
	return &out
}

func (c Test) clause() clause {
	switch {
	case c.Not != nil:
		return mustNot(c.Not.clause())
	case c.Field != "":
		return c.compare()
	case len(c.Any) > 0:
		return shouldMatch(clausesOf(c.Any)...)
	case len(c.All) == 0:
		return matchAll()
	}
	return all(clausesOf(c.All)...)
}

func clausesOf(list []Test) []clause {
	out := make([]clause, len(list))
	for i, c := range list {
		out[i] = c.clause()
	}
	return out
}

func (c Test) compare() clause {
	field, operators := c.Field, map[Op]string{Greater: "gt", GreaterEq: "gte", Less: "lt", LessEq: "lte"}
	at, isTime := c.Value.(time.Time)
	switch {
	case c.Op == Exists:
		return exists(field)
	case c.Op == Equal && !isTime:
		return term(field, c.Value)
	case c.Op == Equal:
		ms := at.UnixMilli()
		return clause{"range": clause{field: clause{"gte": ms, "lte": ms, "format": "epoch_millis"}}}
	case isTime:
		return clause{"range": clause{field: clause{operators[c.Op]: at.UnixMilli(), "format": "epoch_millis"}}}
	}
	return bounds(field, operators[c.Op], c.Value)
}
