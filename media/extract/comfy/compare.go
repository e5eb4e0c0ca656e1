package comfy

import "strings"

// comparison computes the yes or no of nodes that compare two values, or turn a
// yes into a no. known is false for every other node, ok where the values compared
// are not in the file.
func (r *values) comparison(n *node) (result string, ok, known bool) {
	if n.like("negates") && n.has("value") {
		s, ok := r.scalar(n.in("value"), "value")
		return yesNo(!holds(s)), ok, true
	}
	op := n.in("cmp", "comparison")
	if op == nil || !n.has("a") || !n.has("b") {
		return "", false, false
	}
	how, ok := r.scalar(op, op.name)
	if !ok {
		return "", false, true
	}
	switch how {
	case "tt", "ff":
		return yesNo(how == "tt"), true, true
	}
	a, aok := r.scalar(n.in("a"), "")
	b, bok := r.scalar(n.in("b"), "")
	if !aok || !bok {
		return "", false, true
	}
	yes, ok := compared(a, strings.Trim(how, "ab "), b)
	return yesNo(yes), ok, true
}

// compared orders numbers; of texts it tells only whether they are the same.
func compared(a, op, b string) (yes, ok bool) {
	x, y := parseFloat(a), parseFloat(b)
	numbers := x != nil && y != nil
	same := a == b
	if numbers {
		same = *x == *y
	}
	switch op {
	case "=", "==":
		return same, true
	case "<>", "!=":
		return !same, true
	}
	if !numbers {
		return false, false
	}
	switch op {
	case ">":
		return *x > *y, true
	case "<":
		return *x < *y, true
	case ">=":
		return *x >= *y, true
	case "<=":
		return *x <= *y, true
	}
	return false, false
}

func yesNo(yes bool) string {
	if yes {
		return "true"
	}
	return "false"
}

// holds reports whether a value counts as a yes where any value may decide: it does
// unless it is empty, zero or a no.
func holds(s string) bool {
	if f := parseFloat(s); f != nil {
		return *f != 0
	}
	return s != "" && !strings.EqualFold(s, "false")
}
