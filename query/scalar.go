package query

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"vitrine/mappings"
)

// Scalar is one number, date, size or shape in a query.
type Scalar struct {
	Text       string    // canonical, for example 0.5, 2024-02, 1024x768, 16:9
	Number     float64   // of numbers and aspects
	Integer    uint64    // of whole numbers ≥ 0: exact, also beyond 2^53
	Start, End time.Time // of dates: first and last millisecond of the unit, UTC
	W, H       int       // of dimensions; 0 = any
}

func (s *Scalar) text() string {
	if s == nil {
		return "*"
	}
	return s.Text
}

// scalarValue reads a scalar, a comparison or a range of scalars.
func (r *reader) scalarValue(f *Field, t token) Node {
	v := strings.TrimFunc(t.text, isBlank)
	if v == ".." || isComparison(v) {
		return r.emptyValue(f, t)
	}
	for _, c := range [...]struct {
		sign string
		op   Op
	}{{">=", GreaterEq}, {"<=", LessEq}, {">", Greater}, {"<", Less}} {
		if rest, ok := strings.CutPrefix(v, c.sign); ok {
			return r.comparison(f, t, c.op, rest)
		}
	}
	if lo, hi, ok := strings.Cut(v, ".."); ok {
		return r.rangeValue(f, t, lo, hi)
	}
	s, why := r.scalar(f, v)
	if s == nil {
		return r.badValue(f, t, why)
	}
	if _, _, since := age(s.Text); since && f.Type == TypeDate {
		return &Pred{Field: f, Op: Between, Lo: s, at: t.at} // 7d alone is all of the last seven days
	}
	if f.Type == TypeDate {
		return &Pred{Field: f, Op: Between, Lo: s, Hi: s, at: t.at}
	}
	return &Pred{Field: f, Op: Equal, Value: s.Text, Lo: s, at: t.at}
}

func (r *reader) comparison(f *Field, t token, op Op, v string) Node {
	s, why := r.scalar(f, v)
	if s != nil && f.Type == TypeDimensions && (s.W == 0 || s.H == 0) {
		s, why = nil, "a comparison needs both width and height"
	}
	switch {
	case s == nil:
		return r.badValue(f, t, why)
	case op == Less || op == LessEq:
		return &Pred{Field: f, Op: op, Hi: s, at: t.at}
	}
	return &Pred{Field: f, Op: op, Lo: s, at: t.at}
}

func (r *reader) rangeValue(f *Field, t token, from, to string) Node {
	lo, why1 := r.bound(f, from)
	hi, why2 := r.bound(f, to)
	switch {
	case why1 != "":
		return r.badValue(f, t, why1)
	case why2 != "":
		return r.badValue(f, t, why2)
	case lo == nil && hi == nil:
		return r.badValue(f, t, "a range needs at least one end")
	}
	if lo != nil && hi != nil && after(f, lo, hi) {
		lo, hi = hi, lo
		w := r.warn(ReversedRange, t.at, "the range of %s: ends before it starts; its ends were swapped", f.Name)
		w.Field = f.Name
		w.Suggestion = f.Name + ":" + lo.Text + ".." + hi.Text
	}
	return &Pred{Field: f, Op: Between, Lo: lo, Hi: hi, at: t.at}
}

// bound reads one end of a range; nil without a reason is an open end.
func (r *reader) bound(f *Field, v string) (*Scalar, string) {
	v = strings.TrimFunc(v, isBlank)
	if v == "" || v == "*" {
		return nil, ""
	}
	s, why := r.scalar(f, v)
	if s != nil && f.Type == TypeDimensions && (s.W == 0 || s.H == 0) {
		return nil, "an end of a range needs both width and height"
	}
	return s, why
}

func after(f *Field, lo, hi *Scalar) bool {
	switch f.Type {
	case TypeDate:
		return lo.Start.After(hi.End)
	case TypeMetadata:
		if !lo.Start.IsZero() {
			return lo.Start.After(hi.End)
		}
	case TypeDimensions:
		return lo.W*lo.H > hi.W*hi.H
	case TypeInt:
		if lo.Number >= 0 && hi.Number >= 0 {
			return lo.Integer > hi.Integer
		}
	}
	return lo.Number > hi.Number
}

// scalar reads one value of a field; nil comes with what is allowed.
func (r *reader) scalar(f *Field, v string) (*Scalar, string) {
	v = strings.TrimFunc(v, isBlank)
	switch f.Type {
	case TypeDate:
		return r.date(v)
	case TypeDimensions:
		return dimensions(v)
	case TypeAspect:
		return aspect(v)
	case TypeMetadata:
		return r.metadataScalar(v)
	case TypeInt:
		return integer(f, v)
	}
	return decimal(f, v)
}

func integer(f *Field, v string) (*Scalar, string) {
	why := func() string {
		return fmt.Sprintf("write a whole number from %.0f to %.0f, a range a..b or a comparison such as >=a", f.Min, f.Max)
	}
	digits := strings.TrimPrefix(v, "-")
	if digits == "" || len(digits) > 20 || strings.Trim(digits, "0123456789") != "" {
		return nil, why()
	}
	u, err := strconv.ParseUint(digits, 10, 64)
	n := float64(u)
	if len(digits) < len(v) {
		n = -n
	}
	if err != nil || n < f.Min || n > f.Max {
		return nil, why()
	}
	text := strconv.FormatUint(u, 10)
	if n < 0 {
		text = "-" + text
	}
	return &Scalar{Text: text, Number: n, Integer: u}, ""
}

func decimal(f *Field, v string) (*Scalar, string) {
	why := func() string {
		return fmt.Sprintf("write a number from %v to %v, a range a..b or a comparison such as >=a", f.Min, f.Max)
	}
	digits := strings.TrimPrefix(v, "-")
	whole, frac, _ := strings.Cut(digits, ".")
	if whole+frac == "" || len(digits) > 20 || strings.Trim(whole+frac, "0123456789") != "" {
		return nil, why()
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || n < f.Min || n > f.Max {
		return nil, why()
	}
	if n == 0 {
		n = 0 // -0 is 0
	}
	return &Scalar{Text: strconv.FormatFloat(math.Abs(n)*sign(n), 'f', -1, 64), Number: n}, ""
}

func sign(n float64) float64 {
	if n < 0 {
		return -1
	}
	return 1
}

const maxPixels = 1 << 20

func dimensions(v string) (*Scalar, string) {
	const why = "write width x height such as 1024x768, or 1024x*"
	w, h, ok := strings.Cut(strings.ReplaceAll(strings.ToLower(v), "×", "x"), "x")
	if !ok || (w == "*" && h == "*") {
		return nil, why
	}
	s := &Scalar{}
	for _, side := range [...]struct {
		text string
		to   *int
	}{{w, &s.W}, {h, &s.H}} {
		if side.text == "*" {
			continue
		}
		n, err := strconv.Atoi(side.text)
		if err != nil || n < 1 || n > maxPixels || side.text[0] == '+' {
			return nil, why
		}
		*side.to = n
	}
	s.Text = side(s.W) + "x" + side(s.H)
	return s, ""
}

func side(n int) string {
	if n == 0 {
		return "*"
	}
	return strconv.Itoa(n)
}

func aspect(v string) (*Scalar, string) {
	const why = "write a ratio such as 16:9, a number such as 1.78 or a range such as 1..2"
	limits := &Field{QueryField: mappings.QueryField{Min: 0.001, Max: 1000}}
	if w, h, ok := strings.Cut(v, ":"); ok {
		a, _ := decimal(limits, w)
		b, _ := decimal(limits, h)
		if a == nil || b == nil {
			return nil, why
		}
		return &Scalar{Text: a.Text + ":" + b.Text, Number: a.Number / b.Number}, ""
	}
	s, _ := decimal(limits, v)
	if s == nil {
		return nil, why
	}
	return s, ""
}
