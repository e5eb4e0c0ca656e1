package expr

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Test returns the comparison that an operator stands for: = != < <= > >= contains
// starts_with ends_with, or in words eq ne lt lte gt gte. What is missing equals nothing,
// contains nothing and is neither smaller nor larger than anything.
func Test(op string) (func(a, b Value) bool, error) {
	ordered := func(good func(int) bool) func(a, b Value) bool {
		return func(a, b Value) bool {
			a, b = agree(a, b)
			order, ok := Compare(a, b)
			return ok && good(order)
		}
	}
	switch op {
	case "=", "eq":
		return Equal, nil
	case "!=", "<>", "ne":
		return func(a, b Value) bool { return !Equal(a, b) }, nil
	case "<", "lt":
		return ordered(func(o int) bool { return o < 0 }), nil
	case "<=", "lte":
		return ordered(func(o int) bool { return o <= 0 }), nil
	case ">", "gt":
		return ordered(func(o int) bool { return o > 0 }), nil
	case ">=", "gte":
		return ordered(func(o int) bool { return o >= 0 }), nil
	case "contains":
		return contains, nil
	case "starts_with":
		return withTexts(strings.HasPrefix), nil
	case "ends_with":
		return withTexts(strings.HasSuffix), nil
	case "matches":
		return nil, nil
	}
	return nil, fmt.Errorf("there is no operator %s", op)
}

// contains reports whether a text has another one in it, or a list has a member.
func contains(a, b Value) bool {
	if a.kind == List {
		return b.kind != List && Equal(a, b)
	}
	return withTexts(strings.Contains)(a, b)
}

func withTexts(test func(s, part string) bool) func(a, b Value) bool {
	return func(a, b Value) bool {
		return !b.IsMissing() && slices.ContainsFunc(a.Texts(), func(s string) bool { return test(fold(s), fold(b.String())) })
	}
}

func calculate(op string, a, b float64) Value {
	switch op {
	case "+":
		return OfNumber(a + b)
	case "-":
		return OfNumber(a - b)
	case "*":
		return OfNumber(a * b)
	case "/":
		if b == 0 {
			return Missing
		}
		return OfNumber(a / b)
	}
	if b == 0 {
		return Missing
	}
	return OfNumber(math.Mod(a, b))
}

// joined joins two texts; what is missing is nothing. A result that is too long is missing.
func joined(parts ...Value) Value {
	var b strings.Builder
	for _, p := range parts {
		if b.WriteString(p.String()); b.Len() > maxResult {
			return Missing
		}
	}
	return OfText(b.String())
}

// function is a function of the language: the types that it takes, a last one with … taking
// any number, and what it returns.
type function struct {
	doc  string
	in   []Type
	more bool // the last parameter may come again
	out  Type // empty: the type of the last argument
	call func(args []Value) Value
}

func ofText(f func(string) string) func([]Value) Value {
	return func(a []Value) Value {
		if a[0].IsMissing() {
			return Missing
		}
		return OfText(f(a[0].String()))
	}
}

func ofNumber(f func(float64) float64) func([]Value) Value {
	return func(a []Value) Value {
		n, ok := a[0].As(Number).Float()
		if !ok {
			return Missing
		}
		return OfNumber(f(n))
	}
}

func ofDate(f func(time.Time) int) func([]Value) Value {
	return func(a []Value) Value {
		d := a[0].As(Date)
		if d.IsMissing() {
			return Missing
		}
		return OfNumber(float64(f(time.UnixMilli(d.date).UTC())))
	}
}

func extreme(better func(a, b float64) bool) func([]Value) Value {
	return func(args []Value) Value {
		best := Missing
		for _, a := range args {
			n, ok := a.As(Number).Float()
			if ok && (best.IsMissing() || better(n, best.number)) {
				best = a.As(Number)
			}
		}
		return best
	}
}

var functions = map[string]function{
	"lower":    {"a text in small letters", []Type{Text}, false, Text, ofText(strings.ToLower)},
	"upper":    {"a text in capital letters", []Type{Text}, false, Text, ofText(strings.ToUpper)},
	"trim":     {"a text without blanks around", []Type{Text}, false, Text, ofText(strings.TrimSpace)},
	"text":     {"any value as a text", []Type{Any}, false, Text, ofText(func(s string) string { return s })},
	"concat":   {"texts one after the other", []Type{Any}, true, Text, func(a []Value) Value { return joined(a...) }},
	"number":   {"a text as a number", []Type{Any}, false, Number, func(a []Value) Value { return a[0].As(Number) }},
	"abs":      {"a number without its sign", []Type{Number}, false, Number, ofNumber(math.Abs)},
	"floor":    {"the next smaller whole number", []Type{Number}, false, Number, ofNumber(math.Floor)},
	"ceil":     {"the next larger whole number", []Type{Number}, false, Number, ofNumber(math.Ceil)},
	"round":    {"a number rounded to so many digits", []Type{Number, Number}, false, Number, round},
	"min":      {"the smallest of numbers", []Type{Number}, true, Number, extreme(func(a, b float64) bool { return a < b })},
	"max":      {"the largest of numbers", []Type{Number}, true, Number, extreme(func(a, b float64) bool { return a > b })},
	"year":     {"the year of a date (UTC)", []Type{Date}, false, Number, ofDate(time.Time.Year)},
	"month":    {"the month of a date, from 1", []Type{Date}, false, Number, ofDate(func(t time.Time) int { return int(t.Month()) })},
	"day":      {"the day of the month", []Type{Date}, false, Number, ofDate(time.Time.Day)},
	"length":   {"characters of a text, or members of a list", []Type{Any}, false, Number, length},
	"exists":   {"whether there is a value", []Type{Any}, false, Bool, func(a []Value) Value { return OfBool(!a[0].IsMissing()) }},
	"missing":  {"whether there is none", []Type{Any}, false, Bool, func(a []Value) Value { return OfBool(a[0].IsMissing()) }},
	"coalesce": {"the first value that there is", []Type{Any}, true, "", coalesce},
	"if": {"if(condition, then, else)", []Type{Bool, Any, Any}, false, "", func(a []Value) Value {
		if a[0].IsTrue() {
			return a[1]
		}
		return a[2]
	}},
	"replace": {"replace(text, old, new)", []Type{Text, Text, Text}, false, Text, replace},
	"join": {"join(list, between)", []Type{List, Text}, false, Text, func(a []Value) Value {
		if a[0].IsMissing() {
			return Missing
		}
		return joined(OfText(strings.Join(a[0].Texts(), a[1].String())))
	}},
}

// Functions returns what each function returns, by its name, for documents and completion.
func Functions() map[string]string {
	docs := map[string]string{}
	for name, f := range functions {
		docs[name] = f.doc
	}
	return docs
}

func round(a []Value) Value {
	n, ok := a[0].As(Number).Float()
	digits, also := a[1].As(Number).Float()
	if !ok || !also {
		return Missing
	}
	unit := math.Pow(10, math.Trunc(min(max(digits, 0), 12)))
	return OfNumber(math.Round(n*unit) / unit)
}

func length(a []Value) Value {
	switch a[0].kind {
	case "":
		return OfNumber(0)
	case List:
		return OfNumber(float64(len(a[0].list)))
	}
	return OfNumber(float64(utf8.RuneCountInString(a[0].String())))
}

func coalesce(args []Value) Value {
	for _, a := range args {
		if !a.IsMissing() {
			return a
		}
	}
	return Missing
}

func replace(a []Value) Value {
	if a[0].IsMissing() || a[1].String() == "" {
		return a[0]
	}
	s, old, now := a[0].String(), a[1].String(), a[2].String()
	if grown := len(s) + strings.Count(s, old)*max(len(now)-len(old), 0); grown > maxResult {
		return Missing
	}
	return OfText(strings.ReplaceAll(s, old, now))
}

func (c *checker) call(g *gCall) node {
	at := g.Pos.Offset
	name := strings.ToLower(g.Name)
	f, ok := functions[name]
	if !ok {
		return c.fail(at, "There are "+strings.Join(slices.Sorted(maps.Keys(functions)), ", ")+".", "There is no such function.")
	}
	optional := 0
	if name == "round" {
		optional = 1
	}
	if len(g.Args) < len(f.in)-optional || len(g.Args) > len(f.in) && !f.more {
		return c.fail(at, "It returns "+f.doc+".", "%s takes %d arguments.", name, len(f.in))
	}
	args, out := make([]node, 0, len(g.Args)+optional), f.out
	for i, a := range g.Args {
		n := c.or(a)
		want := f.in[min(i, len(f.in)-1)]
		if want != Any && n.t != Any && n.t != want && !(want == Text && n.t != List) {
			return c.fail(n.at, "It returns "+f.doc+".", "%s takes a %s here; this is a %s.", name, want, n.t)
		}
		args = append(args, n)
	}
	if len(args) < len(f.in) {
		args = append(args, literal(OfNumber(0), at))
	}
	if out == "" {
		results := args
		if name == "if" {
			results = args[1:]
		}
		out = commonType(results)
	}
	return node{t: out, at: at, eval: func(e Env) Value {
		values := make([]Value, len(args))
		for i, a := range args {
			values[i] = a.eval(e)
		}
		return f.call(values)
	}}
}

// commonType is the type that nodes have in common.
func commonType(nodes []node) Type {
	t := nodes[0].t
	for _, n := range nodes[1:] {
		if n.t != t {
			return Any
		}
	}
	return t
}
