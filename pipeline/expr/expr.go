package expr

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Fields returns the type of a field; ok is false where there is none of this name.
type Fields func(name string) (t Type, ok bool)

// Env is what an expression is evaluated against: the fields of one asset.
type Env interface {
	Field(name string) Value
}

// Expr is a checked expression.
type Expr struct {
	Type   Type
	Text   string
	Fields []string // that it names
	// Condition is the same as comparisons of fields with fixed values; nil where it is more than that.
	Condition *Condition
	eval      func(Env) Value
}

// Condition is a comparison of a field with a value, or a group of them: what an index can test.
// A field without a value fulfils no comparison but those under Not.
type Condition struct {
	All, Any []*Condition
	Not      *Condition
	Field    string // empty in groups
	Op       string // = > >= < <=
	Value    Value
}

// Eval returns the value of the expression for one asset.
func (e *Expr) Eval(env Env) Value { return e.eval(env) }

// Parse reads and checks an expression. Times such as "now-30d" are from now. An error is a
// *SyntaxError.
func Parse(text string, fields Fields, now time.Time) (*Expr, error) {
	tree, err := parse(text)
	if err != nil {
		return nil, err
	}
	c := &checker{fields: fields, now: now}
	n := c.or(tree)
	if c.err != nil {
		return nil, c.err
	}
	return &Expr{Type: n.t, Text: text, Fields: c.used, Condition: n.cond, eval: n.eval}, nil
}

// ParseCondition is Parse for an expression that is true or false.
func ParseCondition(text string, fields Fields, now time.Time) (*Expr, error) {
	e, err := Parse(text, fields, now)
	if err == nil && e.Type != Bool && e.Type != Any {
		return nil, &SyntaxError{0, fmt.Sprintf("A condition is true or false, and this is a %s.", e.Type), "Compare it: steps > 30, or exists(seed)."}
	}
	return e, err
}

// node is a part of an expression: its type and how it is evaluated.
type node struct {
	t     Type
	eval  func(Env) Value
	fixed *Value // a literal
	field string // that it is
	cond  *Condition
	at    int
}

type checker struct {
	fields Fields
	now    time.Time
	used   []string
	err    *SyntaxError
}

func (c *checker) fail(at int, hint, format string, args ...any) node {
	if c.err == nil {
		c.err = &SyntaxError{at, fmt.Sprintf(format, args...), hint}
	}
	return node{t: Any, eval: func(Env) Value { return Missing }, at: at}
}

func (c *checker) or(g *gOr) node {
	n := c.and(g.Parts[0])
	if len(g.Parts) == 1 {
		return n
	}
	parts := []node{c.truth(n)}
	for _, p := range g.Parts[1:] {
		parts = append(parts, c.truth(c.and(p)))
	}
	either := node{t: Bool, at: n.at, eval: func(e Env) Value {
		return OfBool(slices.ContainsFunc(parts, func(p node) bool { return p.eval(e).IsTrue() }))
	}}
	if list := conditionsOf(parts); list != nil {
		either.cond = &Condition{Any: list}
	}
	return either
}

func (c *checker) and(g *gAnd) node {
	n := c.not(g.Parts[0])
	if len(g.Parts) == 1 {
		return n
	}
	parts := []node{c.truth(n)}
	for _, p := range g.Parts[1:] {
		parts = append(parts, c.truth(c.not(p)))
	}
	both := node{t: Bool, at: n.at, eval: func(e Env) Value {
		return OfBool(!slices.ContainsFunc(parts, func(p node) bool { return !p.eval(e).IsTrue() }))
	}}
	if list := conditionsOf(parts); list != nil {
		both.cond = &Condition{All: list}
	}
	return both
}

func (c *checker) not(g *gNot) node {
	n := c.compare(g.Test)
	if !g.Not {
		return n
	}
	n = c.truth(n)
	return node{t: Bool, at: n.at, cond: negated(n.cond), eval: func(e Env) Value { return OfBool(!n.eval(e).IsTrue()) }}
}

func negated(c *Condition) *Condition {
	if c == nil {
		return nil
	}
	return &Condition{Not: c}
}

// conditionsOf returns the conditions that parts are; nil unless all are.
func conditionsOf(parts []node) []*Condition {
	list := make([]*Condition, len(parts))
	for i, p := range parts {
		if list[i] = p.cond; p.cond == nil {
			return nil
		}
	}
	return list
}

// condition returns the comparison of a field with a fixed value; nil for any other.
func condition(op string, left, right node) *Condition {
	turned := map[string]string{"=": "=", "!=": "!=", "<>": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
	if left.fixed != nil && right.field != "" {
		left, right, op = right, left, turned[op]
	}
	switch {
	case left.field == "" || right.fixed == nil || turned[op] == "" || left.t != right.t || left.t == List || left.t == Any:
		return nil
	case turned[op] == "!=":
		return &Condition{Not: &Condition{Field: left.field, Op: "=", Value: *right.fixed}}
	}
	return &Condition{Field: left.field, Op: op, Value: *right.fixed}
}

// truth refuses what is not true or false.
func (c *checker) truth(n node) node {
	if n.t != Bool && n.t != Any {
		return c.fail(n.at, "Compare it: steps > 30, or exists(seed).", "Expected something that is true or false; this is a %s.", n.t)
	}
	return n
}

func (c *checker) compare(g *gCompare) node {
	left := c.sum(g.Left)
	switch {
	case g.In != nil:
		return c.in(left, g)
	case g.Op == "":
		return left
	}
	right := c.sum(g.Right)
	op := strings.ToLower(g.Op)
	if op == "==" {
		op = "="
	}
	return c.test(op, left, right)
}

func (c *checker) in(left node, g *gCompare) node {
	tests := make([]node, len(g.In))
	for i, x := range g.In {
		tests[i] = c.test("=", left, c.sum(x))
	}
	not := g.Not
	n := node{t: Bool, at: left.at, eval: func(e Env) Value {
		return OfBool(slices.ContainsFunc(tests, func(t node) bool { return t.eval(e).IsTrue() }) != not)
	}}
	if list := conditionsOf(tests); list != nil {
		if n.cond = (&Condition{Any: list}); not {
			n.cond = negated(n.cond)
		}
	}
	return n
}

// test checks and makes a comparison.
func (c *checker) test(op string, left, right node) node {
	left, right = c.literalAs(left, right.t), c.literalAs(right, left.t)
	test, err := Test(op)
	switch {
	case err != nil:
		return c.fail(left.at, "", "There is no operator %s.", op)
	case op == "matches":
		return c.matches(left, right)
	case op == "contains" || op == "starts_with" || op == "ends_with":
		if left.t == Number || left.t == Bool || left.t == Date || right.t == Number || right.t == Bool || right.t == Date || right.t == List {
			return c.fail(left.at, "Numbers and dates compare with = != < <= > >=.", "%s looks for a text in a text or a list; this is a %s and a %s.", op, left.t, right.t)
		}
	case left.t == List && op != "=" && op != "!=":
		return c.fail(left.at, "Use contains, = or !=; length(tags) counts them.", "A list has no order.")
	case left.t != Any && right.t != Any && left.t != right.t && left.t != List && right.t != List:
		return c.fail(right.at, "", "A %s cannot be compared with a %s.", left.t, right.t)
	}
	return node{t: Bool, at: left.at, cond: condition(op, left, right), eval: func(e Env) Value { return OfBool(test(left.eval(e), right.eval(e))) }}
}

// literalAs reads a literal text as the date that it is compared with.
func (c *checker) literalAs(n node, t Type) node {
	if n.fixed == nil || n.t != Text || t != Date {
		return n
	}
	at, ok := ParseDate(n.fixed.text, c.now)
	if !ok {
		return c.fail(n.at, `Write "2026-03-01", "2026-03-01T12:00:00Z" or "now-30d".`, "This is no date.")
	}
	return literal(OfDate(at), n.at)
}

func (c *checker) matches(left, right node) node {
	if right.fixed == nil || right.t != Text {
		return c.fail(right.at, `Write a pattern such as title matches "^fox".`, "matches needs a pattern in quotes.")
	}
	if left.t != Text && left.t != List && left.t != Any {
		return c.fail(left.at, "", "matches looks at texts and lists; this is a %s.", left.t)
	}
	re, err := Pattern(right.fixed.text, "")
	if err != nil {
		return c.fail(right.at, "The syntax is that of RE2, without back references and look-around.", "The pattern cannot be read: %s.", err)
	}
	return node{t: Bool, at: left.at, eval: func(e Env) Value { return OfBool(slices.ContainsFunc(left.eval(e).Texts(), re.MatchString)) }}
}

// MaxPattern is how long a pattern may be.
const MaxPattern = 500

// Pattern compiles a regular expression (RE2), which takes linear time. flags are i, m and s.
func Pattern(pattern, flags string) (*regexp.Regexp, error) {
	if len(pattern) > MaxPattern {
		return nil, fmt.Errorf("it has more than %d characters", MaxPattern)
	}
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	return regexp.Compile(pattern)
}

func (c *checker) sum(g *gSum) node {
	n := c.product(g.Left)
	for _, r := range g.Rest {
		left, right := n, c.product(r.Term)
		if r.Op == "+" && (left.t == Text || right.t == Text) {
			n = node{t: Text, at: left.at, eval: func(e Env) Value { return joined(left.eval(e), right.eval(e)) }}
			continue
		}
		n = c.arithmetic(r.Op, left, right, r.Pos.Offset)
	}
	return n
}

func (c *checker) product(g *gProduct) node {
	n := c.unary(g.Left)
	for _, r := range g.Rest {
		n = c.arithmetic(r.Op, n, c.unary(r.Term), r.Pos.Offset)
	}
	return n
}

func (c *checker) unary(g *gUnary) node {
	n := c.operand(g.Value)
	if !g.Minus {
		return n
	}
	if n.fixed != nil && n.t == Number {
		return literal(OfNumber(-n.fixed.number), g.Pos.Offset)
	}
	return c.arithmetic("-", literal(OfNumber(0), g.Pos.Offset), n, g.Pos.Offset)
}

func (c *checker) arithmetic(op string, left, right node, at int) node {
	for _, n := range []node{left, right} {
		if n.t != Number && n.t != Any {
			return c.fail(n.at, "number(x) makes a number of a text.", "%s needs numbers; this is a %s.", op, n.t)
		}
	}
	return node{t: Number, at: left.at, eval: func(e Env) Value {
		a, ok := left.eval(e).As(Number).Float()
		b, also := right.eval(e).As(Number).Float()
		if !ok || !also {
			return Missing
		}
		return calculate(op, a, b)
	}}
}

func literal(v Value, at int) node {
	return node{t: v.kind, at: at, fixed: &v, eval: func(Env) Value { return v }}
}

func (c *checker) operand(g *gOperand) node {
	at := g.Pos.Offset
	switch {
	case g.Number != nil:
		v := parseNumber(*g.Number)
		if v.IsMissing() {
			return c.fail(at, "", "This number is too large.")
		}
		return literal(v, at)
	case g.Text != nil:
		return literal(OfText(unquote(*g.Text)), at)
	case g.Group != nil:
		return c.or(g.Group)
	case g.Call != nil:
		return c.call(g.Call)
	}
	name := strings.Trim(*g.Field, "`")
	switch strings.ToLower(name) {
	case "true", "false":
		return literal(OfBool(strings.EqualFold(name, "true")), at)
	}
	return c.field(name, at)
}

func (c *checker) field(name string, at int) node {
	t, ok := c.fields(name)
	if !ok {
		return c.fail(at, "Texts stand in quotes. "+nearestField(name, c.fields), "There is no field %s.", head(name))
	}
	if !slices.Contains(c.used, name) {
		c.used = append(c.used, name)
	}
	n := node{t: t, at: at, field: name, eval: func(e Env) Value { return e.Field(name) }}
	if t == Bool {
		n.cond = &Condition{Field: name, Op: "=", Value: OfBool(true)}
	}
	return n
}

// nearestField is a hint at what was probably meant.
func nearestField(name string, fields Fields) string {
	for _, other := range []string{strings.ToLower(name), strings.ReplaceAll(strings.ToLower(name), "-", "_"), strings.TrimSuffix(strings.ToLower(name), "s"), strings.ToLower(name) + "s"} {
		if _, ok := fields(other); ok {
			return "Did you mean " + other + "?"
		}
	}
	return "What was sent along with the file is metadata.NAME."
}
