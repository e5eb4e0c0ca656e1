package pipeline

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"vitrine/library"
	"vitrine/op"
	"vitrine/pipeline/expr"
	"vitrine/query"
)

// where keeps assets that fulfil conditions.
type where struct {
	Field      string           `json:"field,omitempty" maxLength:"210" doc:"A field, with operator and value."`
	Operator   string           `json:"operator,omitempty" maxLength:"20" doc:"eq, ne, gt, gte, lt, lte, in, not_in, contains, starts_with, ends_with, matches (RE2), exists, missing or between. Default: eq."`
	Value      any              `json:"value,omitempty" doc:"To compare with: a list for in and not_in, [from, to] for between. Dates may be relative: now-30d."`
	All        []map[string]any `json:"all,omitempty" maxItems:"50" doc:"Conditions {field, operator, value}, or groups of them, that must all hold."`
	Any        []map[string]any `json:"any,omitempty" maxItems:"50" doc:"Conditions of which one must hold."`
	Not        map[string]any   `json:"not,omitempty" doc:"A condition that must not hold."`
	Query      string           `json:"query,omitempty" maxLength:"8192" doc:"A query as in SearchAssets. It looks into the index, so it stands before the stages that change assets."`
	Expression string           `json:"expression,omitempty" maxLength:"2000" doc:"Such as steps > 30 and tool = \"comfyui\"."`

	test   func(*Row) bool
	fields []string
	pushed *query.Test // the same for the index; nil: only rows can be tested
}

var kindWhere = newKind[where](Kind{Type: "where", Category: Filter, Doc: "Keeps the assets that fulfil conditions.",
	Example: map[string]any{"field": "steps", "operator": "gt", "value": 30}})

func (s *where) check(c *checking) []library.FieldError {
	given := 0
	for _, yes := range []bool{s.Field != "", len(s.All)+len(s.Any) > 0 || s.Not != nil, s.Query != "", s.Expression != ""} {
		if yes {
			given++
		}
	}
	if given != 1 {
		return []library.FieldError{{Field: c.at, Code: "required", Message: "Send one of: field with operator and value; all, any or not; query; expression.", Hint: `For example {"field": "steps", "operator": "gt", "value": 30}.`}}
	}
	switch {
	case s.Query != "" && c.changed:
		return []library.FieldError{{Field: c.at + ".query", Code: "conflict", Message: "A query looks into the index, which does not show yet what the stages before change.", Hint: "Put this stage before them, or use conditions on fields."}}
	case s.Query != "":
		return nil
	case s.Expression != "":
		e, wrong := parseExpression(c.at+".expression", s.Expression, c.now, expr.ParseCondition)
		if wrong != nil {
			return []library.FieldError{*wrong}
		}
		s.fields, s.pushed = e.Fields, pushed(e.Condition)
		s.test = func(r *Row) bool { return e.Eval(r).IsTrue() }
		return nil
	}
	b := conditions{now: c.now}
	s.test = b.group(c.at, condition{s.Field, s.Operator, s.Value, s.All, s.Any, s.Not}, 0)
	if s.fields = b.fields; len(b.errs) == 0 {
		s.pushed = pushed(b.condition(condition{s.Field, s.Operator, s.Value, s.All, s.Any, s.Not}))
	}
	return b.errs
}

func (s *where) compile(ctx context.Context, e *Engine, actor library.Actor, at string) error {
	if s.Query == "" || e.Compile == nil {
		return nil
	}
	_, err := e.Compile(ctx, actor, s.Query, query.Request{Mode: query.Smart, Limit: 1})
	return below(at+".query", err)
}

func (s *where) run(x *exec) error {
	if s.Query != "" {
		return s.runQuery(x)
	}
	return x.eachRow(fieldKinds(s.fields...), func(r *Row) error {
		if s.test(r) {
			return x.emit(r.Hash)
		}
		return nil
	})
}

// runQuery keeps, part by part, what the query finds among the assets.
func (s *where) runQuery(x *exec) error {
	compiled, err := x.engine.Compile(x.ctx, x.actor(), s.Query, query.Request{Mode: query.Smart, Limit: 1})
	if err != nil {
		return err
	}
	return x.parts(func(assets []library.AssetHash) error {
		found := make(map[library.AssetHash]bool, len(assets))
		if _, err := x.engine.Scan(x.ctx, x.actor().Tenant, compiled.Among(assets), int64(len(assets)), func(part []library.AssetHash) error {
			for _, h := range part {
				found[h] = true
			}
			return nil
		}); err != nil {
			return err
		}
		return x.emit(slices.DeleteFunc(assets, func(h library.AssetHash) bool { return !found[h] })...)
	})
}

// condition is a comparison or a group of conditions.
type condition struct {
	field, operator string
	value           any
	all, any        []map[string]any
	not             map[string]any
}

// conditions builds the test of a condition.
type conditions struct {
	now    time.Time
	fields []string
	errs   []library.FieldError
}

const maxConditionDepth = 8

func (b *conditions) wrong(at, code, message, hint string) func(*Row) bool {
	b.errs = append(b.errs, library.FieldError{Field: at, Code: code, Message: message, Hint: hint})
	return func(*Row) bool { return false }
}

func (b *conditions) group(at string, c condition, depth int) func(*Row) bool {
	if c.field != "" {
		return b.compare(at, c)
	}
	if depth > maxConditionDepth {
		return b.wrong(at, "length", fmt.Sprintf("Conditions are nested more than %d levels deep.", maxConditionDepth), "")
	}
	var tests []func(*Row) bool
	for i, m := range c.all {
		tests = append(tests, b.object(fmt.Sprintf("%s.all[%d]", at, i), m, depth+1))
	}
	if len(c.any) > 0 {
		var either []func(*Row) bool
		for i, m := range c.any {
			either = append(either, b.object(fmt.Sprintf("%s.any[%d]", at, i), m, depth+1))
		}
		tests = append(tests, func(r *Row) bool { return slices.ContainsFunc(either, func(t func(*Row) bool) bool { return t(r) }) })
	}
	if c.not != nil {
		inner := b.object(at+".not", c.not, depth+1)
		tests = append(tests, func(r *Row) bool { return !inner(r) })
	}
	return func(r *Row) bool { return !slices.ContainsFunc(tests, func(t func(*Row) bool) bool { return !t(r) }) }
}

// object reads a condition inside a group.
func (b *conditions) object(at string, m map[string]any, depth int) func(*Row) bool {
	c := conditionOf(m)
	for name := range m {
		if !slices.Contains([]string{"field", "operator", "value", "all", "any", "not"}, name) {
			return b.wrong(at, "unknown", "A condition has field, operator and value, or all, any or not.", "")
		}
	}
	if c.field == "" && len(c.all)+len(c.any) == 0 && c.not == nil {
		return b.wrong(at, "required", "A condition has field, operator and value, or all, any or not.", "")
	}
	if c.field != "" && (len(c.all)+len(c.any) > 0 || c.not != nil) {
		return b.wrong(at, "conflict", "A condition is either a comparison or a group.", "")
	}
	return b.group(at, c, depth)
}

// conditionOf returns the condition that an object is.
func conditionOf(m map[string]any) (c condition) {
	c.field, _ = m["field"].(string)
	c.operator, _ = m["operator"].(string)
	c.value = m["value"]
	list := func(name string) (out []map[string]any) {
		items, _ := m[name].([]any)
		for _, x := range items {
			o, _ := x.(map[string]any)
			out = append(out, o)
		}
		return out
	}
	c.all, c.any = list("all"), list("any")
	c.not, _ = m["not"].(map[string]any)
	return c
}

// operators are the operators of comparisons.
var operators = []string{"eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in", "contains", "starts_with", "ends_with", "matches", "exists", "missing", "between"}

// symbols are the operators as expressions write them.
var symbols = map[string]string{"": "eq", "=": "eq", "==": "eq", "!=": "ne", "<>": "ne", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}

func (b *conditions) compare(at string, c condition) func(*Row) bool {
	errs := checkField(at+".field", c.field, false)
	operator := strings.ToLower(c.operator)
	if name, ok := symbols[operator]; ok {
		operator = name
	}
	if !slices.Contains(operators, operator) {
		errs = append(errs, library.FieldError{Field: at + ".operator", Code: "enum", Message: "There is no such operator.", Hint: strings.TrimSpace(hintNear(c.operator, operators) + " Allowed are " + strings.Join(operators, ", ") + ".")})
	}
	if b.errs = append(b.errs, errs...); len(errs) > 0 {
		return func(*Row) bool { return false }
	}
	b.fields = append(b.fields, c.field)
	get := func(r *Row) expr.Value { return r.Field(c.field) }
	switch operator {
	case "exists":
		return func(r *Row) bool { return !get(r).IsMissing() }
	case "missing":
		return func(r *Row) bool { return get(r).IsMissing() }
	case "matches":
		return b.matches(at, c, get)
	case "in", "not_in":
		return b.in(at, c, get, operator == "not_in")
	case "between":
		return b.between(at, c, get)
	}
	v, ok := b.value(at+".value", c.field, operator, c.value)
	if !ok {
		return func(*Row) bool { return false }
	}
	test, _ := expr.Test(operator) // operators of this list have one
	return func(r *Row) bool { return test(get(r), v) }
}

func hintNear(word string, names []string) string {
	if near := op.Nearest(word, names); near != "" {
		return "Did you mean " + near + "?"
	}
	return ""
}

// value reads the value that a field is compared with, as the field's type.
func (b *conditions) value(at, field, operator string, raw any) (expr.Value, bool) {
	t, _ := fieldType(field)
	v := expr.OfJSON(raw)
	if v.IsMissing() {
		b.wrong(at, "required", "Expected a text, a number, true or false.", "exists and missing ask whether there is a value.")
		return v, false
	}
	switch {
	case operator == "contains" || operator == "starts_with" || operator == "ends_with":
		if t != expr.Text && t != expr.List && t != expr.Any {
			b.wrong(at, "type", "This operator looks into texts and lists, and "+field+" is a "+string(t)+".", "Use eq, gt, gte, lt, lte or between.")
			return v, false
		}
		return v.As(expr.Text), true
	case t == expr.List:
		if operator != "eq" && operator != "ne" {
			b.wrong(at, "type", field+" is a list, which has no order.", "Use contains, eq, ne, in or not_in.")
			return v, false
		}
		return v.As(expr.Text), true
	case t == expr.Date:
		if d, ok := expr.ParseDate(v.String(), b.now); ok && v.Type() == expr.Text {
			return expr.OfDate(d), true
		}
		b.wrong(at, "format", "Expected a date.", `Write "2026-03-01", "2026-03-01T12:00:00Z" or "now-30d".`)
		return v, false
	case t == expr.Any:
		return v, true
	}
	typed := v.As(t)
	if typed.IsMissing() || v.Type() == expr.List {
		b.wrong(at, "type", fmt.Sprintf("%s is a %s; this value is none.", field, t), "")
		return v, false
	}
	return typed, true
}

func (b *conditions) matches(at string, c condition, get func(*Row) expr.Value) func(*Row) bool {
	pattern, _ := c.value.(string)
	re, err := expr.Pattern(pattern, "")
	if err != nil || pattern == "" {
		reason := "Expected a pattern."
		if err != nil {
			reason = "The pattern cannot be read: " + err.Error() + "."
		}
		return b.wrong(at+".value", "format", reason, "The syntax is that of RE2, without back references and look-around.")
	}
	return matchesAny(re, get)
}

func matchesAny(re *regexp.Regexp, get func(*Row) expr.Value) func(*Row) bool {
	return func(r *Row) bool { return slices.ContainsFunc(get(r).Texts(), re.MatchString) }
}

// maxIn is how many values in and not_in take.
const maxIn = 1000

func (b *conditions) in(at string, c condition, get func(*Row) expr.Value, not bool) func(*Row) bool {
	list, ok := c.value.([]any)
	if !ok || len(list) == 0 || len(list) > maxIn {
		return b.wrong(at+".value", "type", fmt.Sprintf("Expected a list of 1 to %d values.", maxIn), `For example ["Draft", "Rejected"].`)
	}
	values := make([]expr.Value, len(list))
	for i, raw := range list {
		if values[i], ok = b.value(fmt.Sprintf("%s.value[%d]", at, i), c.field, "eq", raw); !ok {
			return func(*Row) bool { return false }
		}
	}
	return func(r *Row) bool {
		v := get(r)
		return slices.ContainsFunc(values, func(x expr.Value) bool { return expr.Equal(v, x) }) != not
	}
}

func (b *conditions) between(at string, c condition, get func(*Row) expr.Value) func(*Row) bool {
	list, ok := c.value.([]any)
	if !ok || len(list) != 2 {
		return b.wrong(at+".value", "type", "Expected a list of two values: from and to, both included.", "For example [20, 30].")
	}
	from, ok := b.value(at+".value[0]", c.field, "gte", list[0])
	to, also := b.value(at+".value[1]", c.field, "lte", list[1])
	if !ok || !also {
		return func(*Row) bool { return false }
	}
	low, _ := expr.Test("gte")
	high, _ := expr.Test("lte")
	return func(r *Row) bool {
		v := get(r)
		return low(v, from) && high(v, to)
	}
}
