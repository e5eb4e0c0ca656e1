package query

import (
	"slices"
	"strings"
	"unicode/utf8"

	"vitrine/mappings"
)

// A value that no asset has finds nothing, as it should, but people who mistype it do not
// learn why. Where a search finds nothing, the values of its conditions are looked up.

// mostConditions is how many conditions of a query are looked up.
const mostConditions = 4

// Condition is a condition of a query on a value that can be looked up.
type Condition struct {
	Field *Field
	Value string
	Text  string // as it is counted by CountConditions
	at    span
}

// ValueConditions lists the first conditions of a query, none of them negated, on whole
// values or parts of values of fields whose values can be listed.
func (q *Query) ValueConditions() (list []Condition) {
	Visit(q.Tree, func(n Node, negated bool) bool {
		p, ok := n.(*Pred)
		if !ok || negated || p.Op != Equal && p.Op != Contains || len(list) == mostConditions {
			return !negated
		}
		switch p.Field.Type {
		case TypeName, TypePart, TypeTag, TypeNode:
			if p.Field.Facet != nil && p.Field.Facet.Kind == mappings.FacetTerms {
				list = append(list, Condition{p.Field, p.Value, ConditionText(p.Field, p.Value), p.at})
			}
		}
		return true
	})
	return list
}

// WarnNoSuchValue returns the warning that no asset has the value of a condition; the
// nearest of the values that there are is its suggestion.
func (q *Query) WarnNoSuchValue(c Condition, values []string) Warning {
	w := Warning{Code: NoSuchValue, Field: c.Field.Name, Offset: c.at.start, Length: c.at.end - c.at.start,
		Message: "no asset that you see has " + c.Field.Name + " " + excerpt(c.Value)}
	if w.Offset <= len(q.Text) {
		w.RuneOffset = utf8.RuneCountInString(q.Text[:w.Offset])
	}
	if near := nearestValues(c.Value, values); len(near) > 0 {
		w.Message += "; the nearest are " + strings.Join(near, ", ")
		w.Suggestion = ConditionText(c.Field, near[0])
	}
	return w
}

// mostNear is how many values a warning names.
const mostNear = 3

// nearestValues lists the values that hold a text or that it holds, or that are few slips
// off, the closest first. Case and what joins words do not count.
func nearestValues(text string, values []string) []string {
	form := squeeze(text)
	type candidate struct {
		value string
		slips int
	}
	var near []candidate
	for _, v := range values {
		known := squeeze(v)
		limit := 1 + len(form)/3
		switch d := distance(form, known, limit); {
		case form == "" || known == "":
		case d < limit:
			near = append(near, candidate{v, d})
		case len(form) >= 3 && strings.Contains(known, form), len(known) >= 3 && strings.Contains(form, known):
			near = append(near, candidate{v, limit})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.slips - b.slips })
	out := []string{}
	for _, c := range near[:min(len(near), mostNear)] {
		out = append(out, c.value)
	}
	return out
}
