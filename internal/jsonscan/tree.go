package jsonscan

import (
	"encoding/json"
	"strconv"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of values. The zero Value is null.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is one decoded JSON value. Numbers keep their text, because seeds use the
// whole unsigned 64-bit range; objects keep the order of their members.
type Value struct {
	Kind    Kind
	Text    string // of strings, numbers and booleans
	List    []Value
	Members []Member
}

// Member is one member of an object.
type Member struct {
	Name string
	Val  Value
}

// Get returns the first member of this name, null when there is none.
func (v Value) Get(name string) Value {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return v.Members[i].Val
		}
	}
	return Value{}
}

// Str returns a string's text, "" for any other value.
func (v Value) Str() string {
	if v.Kind == String {
		return v.Text
	}
	return ""
}

// Scalar returns strings, numbers and booleans as text; false for other values.
func (v Value) Scalar() (string, bool) {
	switch v.Kind {
	case String, Number, Bool:
		return v.Text, true
	}
	return "", false
}

// ID returns the text of an identifier, which may be a number; "" for other values.
func (v Value) ID() string {
	if v.Kind == Number || v.Kind == String {
		return v.Text
	}
	return ""
}

// Integer returns a number, or one written as a string, without its fraction;
// false for other values and beyond 32 bits.
func (v Value) Integer() (int, bool) {
	if v.Kind != Number && v.Kind != String {
		return 0, false
	}
	if n, err := strconv.Atoi(v.Text); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || f != f || f > 1<<31 || f < -1<<31 {
		return 0, false
	}
	return int(f), true
}

// Any returns the value as encoding/json decodes it into an interface, numbers as
// json.Number. Of members of one name the last counts.
func (v Value) Any() any {
	switch v.Kind {
	case Bool:
		return v.Text == "true"
	case Number:
		return json.Number(v.Text)
	case String:
		return v.Text
	case Array:
		list := make([]any, len(v.List))
		for i := range v.List {
			list[i] = v.List[i].Any()
		}
		return list
	case Object:
		m := make(map[string]any, len(v.Members))
		for i := range v.Members {
			m[v.Members[i].Name] = v.Members[i].Val.Any()
		}
		return m
	}
	return nil
}

// Encode appends the value as valid JSON to b, with null where a document had a
// token that JSON does not know.
func (v Value) Encode(b []byte) []byte {
	switch v.Kind {
	case Bool:
		return append(b, v.Text...)
	case Number:
		if json.Valid([]byte(v.Text)) {
			return append(b, v.Text...)
		}
		f, _ := strconv.ParseFloat(v.Text, 64)
		return strconv.AppendFloat(b, f, 'g', -1, 64)
	case String:
		return AppendString(b, v.Text)
	case Array:
		b = append(b, '[')
		for i := range v.List {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.List[i].Encode(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(AppendString(b, v.Members[i].Name), ':')
			b = v.Members[i].Val.Encode(b)
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}
