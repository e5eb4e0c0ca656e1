package expr

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Type is what kind of value a field or an expression has. It is known before anything runs;
// of metadata it is Any.
type Type string

// The types.
const (
	Any    Type = "any"
	Text   Type = "text"
	Number Type = "number"
	Bool   Type = "boolean"
	Date   Type = "date"
	List   Type = "list" // of texts
)

// Value is a value of one of the types but Any, or missing. The zero value is missing.
type Value struct {
	kind   Type // empty: missing
	text   string
	number float64
	whole  uint64 // the number exactly, where exact is set: seeds have 64 bits
	exact  bool
	bool   bool
	date   int64 // Unix milliseconds
	list   []string
}

// Missing is the value that is not there.
var Missing = Value{}

// OfText returns a text.
func OfText(s string) Value { return Value{kind: Text, text: s} }

// OfNumber returns a number; one that is not finite is missing.
func OfNumber(n float64) Value {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return Missing
	}
	return Value{kind: Number, number: n, whole: uint64(max(n, 0)), exact: n >= 0 && n < 1<<53 && n == math.Trunc(n)}
}

// OfWhole returns a whole number, exactly.
func OfWhole(n uint64) Value {
	return Value{kind: Number, number: float64(n), whole: n, exact: true}
}

// OfBool returns a truth value.
func OfBool(b bool) Value { return Value{kind: Bool, bool: b} }

// OfDate returns a moment, to the millisecond; the zero time is missing.
func OfDate(t time.Time) Value {
	if t.IsZero() {
		return Missing
	}
	return Value{kind: Date, date: t.UnixMilli()}
}

// OfList returns a list of texts; an empty one is missing.
func OfList(l []string) Value {
	if len(l) == 0 {
		return Missing
	}
	return Value{kind: List, list: l}
}

// OfJSON returns what a decoded JSON value is: objects and null are missing, lists are lists
// of the texts of their values.
func OfJSON(v any) Value {
	switch v := v.(type) {
	case string:
		return OfText(v)
	case bool:
		return OfBool(v)
	case float64:
		return OfNumber(v)
	case int:
		return OfNumber(float64(v))
	case int64:
		return OfNumber(float64(v))
	case uint64:
		return OfWhole(v)
	case json.Number:
		return parseNumber(string(v))
	case []any:
		list := make([]string, 0, len(v))
		for _, x := range v {
			if s := OfJSON(x); !s.IsMissing() {
				list = append(list, s.String())
			}
		}
		return OfList(list)
	case []string:
		return OfList(v)
	}
	return Missing
}

// parseNumber reads a number; what is none is missing.
func parseNumber(s string) Value {
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return OfWhole(n)
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		return OfNumber(n)
	}
	return Missing
}

// IsMissing reports whether there is no value.
func (v Value) IsMissing() bool { return v.kind == "" }

// Type returns the type of a value; empty for a missing one.
func (v Value) Type() Type { return v.kind }

// IsTrue reports whether the value is the boolean true.
func (v Value) IsTrue() bool { return v.kind == Bool && v.bool }

// Float returns a number, and whether it is one.
func (v Value) Float() (float64, bool) { return v.number, v.kind == Number }

// Texts returns the texts of a list, or the one text that another value is; none for a
// missing one.
func (v Value) Texts() []string {
	switch v.kind {
	case "":
		return nil
	case List:
		return v.list
	}
	return []string{v.String()}
}

// String returns a value as people write it; a missing one as nothing.
func (v Value) String() string {
	switch v.kind {
	case Text:
		return v.text
	case Number:
		if v.exact {
			return strconv.FormatUint(v.whole, 10)
		}
		return strconv.FormatFloat(v.number, 'f', -1, 64)
	case Bool:
		return strconv.FormatBool(v.bool)
	case Date:
		return time.UnixMilli(v.date).UTC().Format("2006-01-02T15:04:05.000Z")
	case List:
		return strings.Join(v.list, ", ")
	}
	return ""
}

// JSON returns the value to encode as JSON; nil for a missing one.
func (v Value) JSON() any {
	switch v.kind {
	case Text, Date:
		return v.String()
	case Number:
		if v.exact {
			return v.whole
		}
		return v.number
	case Bool:
		return v.bool
	case List:
		return v.list
	}
	return nil
}

// Compare compares two values of one type that has an order: -1, 0 or 1. Texts compare
// without regard to case. ok is false where one is missing, they differ in type, or are lists.
func Compare(a, b Value) (order int, ok bool) {
	if a.kind != b.kind {
		return 0, false
	}
	switch a.kind {
	case Text:
		return cmp.Or(strings.Compare(fold(a.text), fold(b.text))), true
	case Number:
		if a.exact && b.exact {
			return cmp.Compare(a.whole, b.whole), true
		}
		return cmp.Compare(a.number, b.number), true
	case Date:
		return cmp.Compare(a.date, b.date), true
	case Bool:
		return cmp.Compare(truth(a.bool), truth(b.bool)), true
	}
	return 0, false
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func fold(s string) string { return strings.ToLower(s) }

// Whole returns a number as a whole one, and whether it is exactly that.
func (v Value) Whole() (uint64, bool) { return v.whole, v.kind == Number && v.exact }

// Equal reports whether two values are equal: texts without regard to case; a list equals a
// text that is one of its members. What is missing equals nothing.
func Equal(a, b Value) bool {
	switch {
	case a.IsMissing() || b.IsMissing():
		return false
	case a.kind == List && b.kind == List:
		return slices.EqualFunc(a.list, b.list, func(x, y string) bool { return fold(x) == fold(y) })
	case a.kind == List:
		return slices.ContainsFunc(a.list, func(x string) bool { return fold(x) == fold(b.String()) })
	case b.kind == List:
		return Equal(b, a)
	}
	a, b = agree(a, b)
	order, ok := Compare(a, b)
	return ok && order == 0
}

// agree makes two values comparable where one is a text that the other's type can be read
// from: values of metadata have no type that is known before.
func agree(a, b Value) (Value, Value) {
	if a.kind == Text && b.kind != Text {
		return a.As(b.kind), b
	}
	if b.kind == Text && a.kind != Text {
		return a, b.As(a.kind)
	}
	return a, b
}

// As returns a value as another type; missing where it is none.
func (v Value) As(t Type) Value {
	if v.kind == t || t == Any || v.IsMissing() {
		return v
	}
	switch t {
	case Text:
		return OfText(v.String())
	case List:
		return OfList([]string{v.String()})
	}
	if v.kind != Text {
		return Missing
	}
	s := strings.TrimSpace(v.text)
	switch t {
	case Number:
		return parseNumber(s)
	case Bool:
		if b, err := strconv.ParseBool(strings.ToLower(s)); err == nil {
			return OfBool(b)
		}
	case Date:
		if at, ok := ParseDate(s, time.Time{}); ok {
			return OfDate(at)
		}
	}
	return Missing
}

// ParseDate reads a moment: RFC 3339, a day (2026-03-01), a month or a year, which begin in
// UTC; or now, and a time before it: now-30d, in minutes (m), hours (h), days (d) or weeks (w).
func ParseDate(s string, now time.Time) (time.Time, bool) {
	if rest, relative := strings.CutPrefix(s, "now"); relative && !now.IsZero() {
		if rest == "" {
			return now, true
		}
		units := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
		unit := units[rest[len(rest)-1]]
		n, err := strconv.Atoi(rest[:len(rest)-1])
		if err != nil || unit == 0 || n >= 0 || n < -100_000 {
			return time.Time{}, false
		}
		return now.Add(time.Duration(n) * unit), true
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// Number returns a number, and its whole value where it is whole, not negative and exact;
// else 0.
func (v Value) Number() (n float64, whole uint64) {
	if v.exact {
		return v.number, v.whole
	}
	return v.number, 0
}

// Millis returns the Unix milliseconds of a date.
func (v Value) Millis() int64 { return v.date }
