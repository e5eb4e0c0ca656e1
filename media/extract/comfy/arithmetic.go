package comfy

import (
	"math"
	"strconv"
	"strings"

	"vitrine/internal/jsonscan"
)

// arithmetic computes the small number nodes that sit between a picked size or
// seed and its use. Anything it does not know stays unresolved.
func (r *values) arithmetic(p port) (string, bool) {
	n := p.node
	if in := n.in("expression"); in != nil && in.val.Kind == jsonscan.String {
		return r.expression(n, in.val.Text, p)
	}
	if in := n.in("value"); in != nil && n.like("expression_value") && in.val.Kind == jsonscan.String {
		return r.expression(n, in.val.Text, p)
	}
	if in := n.in("integer", "number"); in != nil && n.has("multiple") {
		return r.binary(in, n.in("multiple"), "multiply", true)
	}
	a, b := n.in("a", "number_a", "int_a", "value_a", "A", "num1", "number1"), n.in("b", "number_b", "int_b", "value_b", "B", "num2", "number2")
	if a == nil || b == nil {
		return "", false
	}
	op, ok := r.scalar(n.in("op", "operation", "operator", "mode"), "operation")
	if !ok {
		op = n.key
	}
	return r.binary(a, b, op, strings.Contains(n.key, "int") && !strings.Contains(n.key, "point"))
}

func (r *values) binary(a, b *input, op string, whole bool) (string, bool) {
	as, aok := r.scalar(a, "")
	bs, bok := r.scalar(b, "")
	x, y := parseFloat(as), parseFloat(bs)
	if !aok || !bok || x == nil || y == nil {
		return "", false
	}
	z, ok := apply(strings.ToLower(op), *x, *y)
	if !ok {
		return "", false
	}
	if whole {
		z = math.Trunc(z + 1e-9)
	}
	return formatNumber(z), true
}

func apply(op string, x, y float64) (float64, bool) {
	switch {
	case strings.Contains(op, "mul"), op == "*", op == "x":
		return x * y, true
	case strings.Contains(op, "floor"), op == "//":
		return math.Floor(x / y), y != 0
	case strings.Contains(op, "div"), op == "/":
		return x / y, y != 0
	case strings.Contains(op, "sub"), op == "-":
		return x - y, true
	case strings.Contains(op, "mod"), op == "%":
		return math.Mod(x, y), y != 0
	case strings.Contains(op, "max"):
		return max(x, y), true
	case strings.Contains(op, "min"):
		return min(x, y), true
	case strings.Contains(op, "pow"), op == "**":
		return math.Pow(x, y), true
	case strings.Contains(op, "add"), strings.Contains(op, "sum"), op == "+":
		return x + y, true
	}
	return 0, false
}

func formatNumber(f float64) string {
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// expression evaluates "a * 8 + b". Slot 0 of the known expression nodes is the
// whole number, slot 1 the fraction.
func (r *values) expression(n *node, text string, p port) (string, bool) {
	if len(text) > 512 {
		return "", false
	}
	e := expr{s: text, name: func(name string) (float64, bool) {
		s, ok := r.scalar(n.in(name, "values."+name), "")
		if f := parseFloat(s); ok && f != nil {
			return *f, true
		}
		return 0, false
	}}
	z, ok := e.sum(0)
	if e.space(); !ok || e.at != len(e.s) || math.IsNaN(z) || math.IsInf(z, 0) {
		return "", false
	}
	if t := p.outType(); t == "INT" || t == "" && p.slot == 0 && strings.HasPrefix(n.key, "mathexpression") {
		z = math.Trunc(z)
	}
	return formatNumber(z), true
}

// expr is a calculator for the four operations, powers, parentheses and the
// functions the expression nodes share.
type expr struct {
	s    string
	at   int
	name func(string) (float64, bool)
}

func (e *expr) space() {
	for e.at < len(e.s) && strings.IndexByte(" \t\r\n", e.s[e.at]) >= 0 {
		e.at++
	}
}

func (e *expr) take(op string) bool {
	e.space()
	if strings.HasPrefix(e.s[e.at:], op) {
		e.at += len(op)
		return true
	}
	return false
}

func (e *expr) sum(depth int) (float64, bool) {
	x, ok := e.product(depth)
	for ok {
		var y float64
		switch {
		case e.take("+"):
			y, ok = e.product(depth)
			x += y
		case e.take("-"):
			y, ok = e.product(depth)
			x -= y
		default:
			return x, true
		}
	}
	return 0, false
}

func (e *expr) product(depth int) (float64, bool) {
	x, ok := e.factor(depth)
	for ok {
		var y float64
		op := ""
		for _, o := range []string{"**", "*", "//", "/", "%"} {
			if e.take(o) {
				op = o
				break
			}
		}
		if op == "" {
			return x, true
		}
		if y, ok = e.factor(depth); ok {
			x, ok = apply(op, x, y)
		}
	}
	return 0, false
}

func (e *expr) factor(depth int) (float64, bool) {
	if depth > 32 {
		return 0, false
	}
	switch {
	case e.take("-"):
		x, ok := e.factor(depth + 1)
		return -x, ok
	case e.take("("):
		x, ok := e.sum(depth + 1)
		return x, ok && e.take(")")
	}
	start := e.at
	for e.at < len(e.s) && (isWordByte(e.s[e.at]) || e.s[e.at] == '.') {
		e.at++
	}
	word := e.s[start:e.at]
	if word == "" {
		return 0, false
	}
	if word[0] >= '0' && word[0] <= '9' || word[0] == '.' {
		f := parseFloat(word)
		if f == nil {
			return 0, false
		}
		return *f, true
	}
	if e.take("(") {
		return e.call(word, depth)
	}
	return e.name(word)
}

func (e *expr) call(name string, depth int) (float64, bool) {
	var args []float64
	for len(args) < 8 {
		x, ok := e.sum(depth + 1)
		if !ok {
			return 0, false
		}
		args = append(args, x)
		if e.take(")") {
			return callFunc(name, args)
		}
		if !e.take(",") {
			return 0, false
		}
	}
	return 0, false
}

func callFunc(name string, args []float64) (float64, bool) {
	if len(args) == 1 {
		switch name {
		case "int", "trunc":
			return math.Trunc(args[0]), true
		case "floor":
			return math.Floor(args[0]), true
		case "ceil":
			return math.Ceil(args[0]), true
		case "round":
			return math.RoundToEven(args[0]), true
		case "sqrt":
			return math.Sqrt(args[0]), args[0] >= 0
		case "abs":
			return math.Abs(args[0]), true
		}
	}
	x := args[0]
	for _, y := range args[1:] {
		switch name {
		case "min":
			x = min(x, y)
		case "max":
			x = max(x, y)
		default:
			return 0, false
		}
	}
	return x, name == "min" || name == "max"
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
