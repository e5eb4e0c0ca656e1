package pipeline

import (
	"strings"
	"time"

	"vitrine/library"
	"vitrine/pipeline/expr"
	"vitrine/query"
)

// pushed returns the test of the index that means the same as a condition over rows; nil where
// there is none. Only values that the index compares as rows do are pushed down: whole numbers,
// dates to the millisecond, truth values and enumerations.
func pushed(c *expr.Condition) *query.Test {
	switch {
	case c == nil:
		return nil
	case c.Not != nil:
		if inner := pushed(c.Not); inner != nil {
			return &query.Test{Not: inner}
		}
		return nil
	case c.Field != "":
		return pushedField(c.Field, c.Op, c.Value)
	case len(c.Any) > 0:
		if list := pushedList(c.Any); list != nil {
			return &query.Test{Any: list}
		}
		return nil
	}
	if list := pushedList(c.All); list != nil {
		return &query.Test{All: list}
	}
	return nil
}

func pushedList(list []*expr.Condition) []query.Test {
	out := make([]query.Test, 0, len(list))
	for _, c := range list {
		t := pushed(c)
		if t == nil {
			return nil
		}
		out = append(out, *t)
	}
	return out
}

// indexOperators are comparisons as the index has them.
var indexOperators = map[string]query.Op{"=": query.Equal, ">": query.Greater, ">=": query.GreaterEq, "<": query.Less, "<=": query.LessEq, "exists": query.Exists}

func pushedField(name, operator string, v expr.Value) *query.Test {
	f := lookupField(name)
	op, ok := indexOperators[operator]
	if f == nil || f.index == "" || !ok {
		return nil
	}
	t := &query.Test{Field: f.index, Op: op}
	if op == query.Exists {
		return t
	}
	if v.Type() != f.Type {
		return nil
	}
	switch f.Type {
	case expr.Number:
		whole, exact := v.Whole()
		if !exact {
			return nil
		}
		t.Value = whole
	case expr.Date:
		t.Value = time.UnixMilli(v.Millis())
	case expr.Bool:
		if op != query.Equal {
			return nil
		}
		t.Value = v.IsTrue()
	case expr.Text:
		if op != query.Equal {
			return nil
		}
		t.Value = enumerated(f.Name, v.String())
	default:
		return nil
	}
	return t
}

// enumerated returns a value of an enumeration as the index writes it: rows compare without regard
// to case.
func enumerated(field, v string) string {
	if field == "status" {
		for _, s := range library.Statuses {
			if strings.EqualFold(string(s), v) {
				return string(s)
			}
		}
	}
	if field == "color" {
		return strings.ToLower(v)
	}
	return v
}

// condition returns a comparison of a where stage as expressions have them; nil for others. The
// condition was checked.
func (b *conditions) condition(c condition) *expr.Condition {
	if c.field != "" {
		return b.comparison(c)
	}
	out := &expr.Condition{}
	add := func(objects []map[string]any) (list []*expr.Condition, ok bool) {
		for _, m := range objects {
			inner := b.condition(conditionOf(m))
			if inner == nil {
				return nil, false
			}
			list = append(list, inner)
		}
		return list, true
	}
	var ok bool
	if out.All, ok = add(c.all); !ok {
		return nil
	}
	if len(c.any) > 0 {
		list, ok := add(c.any)
		if !ok {
			return nil
		}
		out.All = append(out.All, &expr.Condition{Any: list})
	}
	if c.not != nil {
		inner := b.condition(conditionOf(c.not))
		if inner == nil {
			return nil
		}
		out.All = append(out.All, &expr.Condition{Not: inner})
	}
	return out
}

// comparison returns the comparison of one field.
func (b *conditions) comparison(c condition) *expr.Condition {
	operator := strings.ToLower(c.operator)
	if name, ok := symbols[operator]; ok {
		operator = name
	}
	one := func(op string, raw any) *expr.Condition {
		v, ok := b.value("", c.field, "eq", raw)
		if !ok {
			return nil
		}
		return &expr.Condition{Field: c.field, Op: op, Value: v}
	}
	list, _ := c.value.([]any)
	switch operator {
	case "exists":
		return &expr.Condition{Field: c.field, Op: "exists"}
	case "missing":
		return &expr.Condition{Not: &expr.Condition{Field: c.field, Op: "exists"}}
	case "eq", "gt", "gte", "lt", "lte":
		return one(map[string]string{"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}[operator], c.value)
	case "ne":
		return not(one("=", c.value))
	case "in", "not_in":
		any := &expr.Condition{}
		for _, raw := range list {
			x := one("=", raw)
			if x == nil {
				return nil
			}
			any.Any = append(any.Any, x)
		}
		if operator == "not_in" {
			return not(any)
		}
		return any
	case "between":
		from, to := one(">=", list[0]), one("<=", list[1])
		if from == nil || to == nil {
			return nil
		}
		return &expr.Condition{All: []*expr.Condition{from, to}}
	}
	return nil
}

func not(c *expr.Condition) *expr.Condition {
	if c == nil {
		return nil
	}
	return &expr.Condition{Not: c}
}
