package formats

import (
	"encoding/json"
	"strings"

	"vitrine/internal/jsonscan"
	"vitrine/library"
)

// object is a JSON object with the lookups that records of loose typing need:
// numbers may be strings, strings may be numbers, keys vary in case.
type object map[string]any

// parseObject reads a JSON object, or returns nil. Bare NaN and Infinity, which
// Python writes and JSON forbids, are read as null.
func parseObject(text string) object {
	text = strings.Trim(text, " \t\r\n\x00\ufeff")
	if !looksLikeObject(text) || len(text) > maxJSON {
		return nil
	}
	v, ok := parseJSON(text)
	if !ok {
		return nil
	}
	o, _ := v.Any().(map[string]any)
	return o
}

// parseJSON reads the JSON value that a text starts with.
func parseJSON(text string) (jsonscan.Value, bool) {
	budget := jsonscan.MaxValues
	v, _, ok := jsonscan.Parse(text, &budget)
	return v, ok
}

// looksLikeObject reports whether a text is a JSON object rather than a prompt that starts with a brace, as
// the wildcards of dynamic prompts do: {red|blue} cat.
func looksLikeObject(text string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n\ufeff"), "{")
	rest = strings.TrimLeft(rest, " \t\r\n")
	return ok && rest != "" && (rest[0] == '"' || rest[0] == '}')
}

// unquoteJSON unwraps a JSON string that holds JSON, as often as it was wrapped.
func unquoteJSON(text string) (string, bool) {
	changed := false
	for range maxNesting {
		t := strings.TrimSpace(text)
		if len(t) < 2 || len(t) > maxJSON || t[0] != '"' || t[len(t)-1] != '"' {
			break
		}
		v, ok := parseJSON(t)
		if !ok || v.Kind != jsonscan.String {
			break
		}
		inner := v.Text
		if u := strings.TrimSpace(inner); !strings.HasPrefix(u, "{") && !strings.HasPrefix(u, `"`) {
			break // a quoted sentence is a sentence
		}
		text, changed = inner, true
	}
	return text, changed
}

// stringEnd returns the index after the JSON string that starts at i.
func stringEnd(b []byte, i int) int {
	for j := i + 1; j < len(b); j++ {
		switch b[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return len(b)
}

// rawMembers returns the members of a JSON object as they are written, nil for
// what is no object.
func rawMembers(text string) map[string]string {
	if len(text) > maxJSON {
		return nil
	}
	out := map[string]string{}
	r := jsonscan.NewText(text)
	err := r.Object(func(key string) error {
		raw, err := r.Raw()
		out[key] = raw
		return err
	})
	if err != nil {
		return nil
	}
	return out
}

func (o object) keys() []string { return sortedKeys(o) }

func (o object) has(keys ...string) bool {
	for _, k := range keys {
		if v, ok := o[k]; !ok || v == nil {
			return false
		}
	}
	return true
}

// get returns the first of these members that is there and not null, exact names first.
func (o object) get(keys ...string) any {
	for _, k := range keys {
		if v := o[k]; v != nil {
			return v
		}
	}
	return nil
}

// raw returns a member as text: a string as it is, anything else as JSON.
func (o object) raw(key string) string {
	switch v := o[key].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(b)
	}
}

// str returns the first of these members that is a string, an empty one included.
func (o object) str(keys ...string) *string {
	for _, k := range keys {
		switch v := o[k].(type) {
		case string:
			return &v
		case json.Number:
			s := v.String()
			return &s
		}
	}
	return nil
}

// name returns the first of these members that is a non-empty string.
func (o object) name(keys ...string) string {
	for _, k := range keys {
		if s := o.str(k); s != nil && strings.TrimSpace(*s) != "" {
			return strings.TrimSpace(*s)
		}
	}
	return ""
}

// named is name as a pointer, nil when there is none.
func (o object) named(keys ...string) *string {
	return nonEmpty(o.name(keys...))
}

func (o object) float(keys ...string) *float64 {
	for _, k := range keys {
		if f := toFloat(o[k]); f != nil {
			return f
		}
	}
	return nil
}

func (o object) int(keys ...string) *int {
	for _, k := range keys {
		if n := toInt(o[k]); n != nil {
			return n
		}
	}
	return nil
}

// positive is int for counts and sizes, where zero means "not set".
func (o object) positive(keys ...string) *int {
	for _, k := range keys {
		if n := toInt(o[k]); n != nil && *n > 0 {
			return n
		}
	}
	return nil
}

// clipSkip returns the number of skipped layers; some writers count from the end,
// as -2.
func (o object) clipSkip(keys ...string) *int {
	n := o.int(keys...)
	switch {
	case n == nil || *n == 0:
		return nil
	case *n < 0:
		*n = -*n
	}
	return n
}

// seed returns a seed. -1 asks for a random one and so says nothing.
func (o object) seed(keys ...string) *uint64 {
	for _, k := range keys {
		switch v := o[k].(type) {
		case json.Number:
			if s := parseSeed(v.String()); s != nil {
				return s
			}
		case string:
			if s := parseSeed(v); s != nil {
				return s
			}
		}
	}
	return nil
}

func (o object) bool(key string) bool {
	switch v := o[key].(type) {
	case bool:
		return v
	case string:
		return strings.EqualFold(v, "true")
	}
	return false
}

// object returns a member that is an object, or one kept as a JSON string.
func (o object) object(keys ...string) object {
	for _, k := range keys {
		switch v := o[k].(type) {
		case map[string]any:
			return v
		case string:
			if inner := parseObject(v); inner != nil {
				return inner
			}
		}
	}
	return nil
}

// list returns a member that is an array, or one kept as a JSON string.
func (o object) list(keys ...string) []any {
	for _, k := range keys {
		switch v := o[k].(type) {
		case []any:
			return v
		case string:
			if !strings.HasPrefix(v, "[") || len(v) > maxJSON {
				continue
			}
			if l, ok := parseJSON(v); ok {
				list, _ := l.Any().([]any)
				return list
			}
		}
	}
	return nil
}

// objects returns the objects of a member that is an array.
func (o object) objects(keys ...string) []object {
	var out []object
	for _, v := range o.list(keys...) {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// texts returns a member's strings and numbers as texts: an array's, or those of a
// comma-separated string.
func (o object) texts(key string) []string {
	if s, ok := o[key].(string); ok && !strings.HasPrefix(s, "[") {
		var out []string
		for _, part := range strings.Split(s, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
		return out
	}
	var out []string
	for _, v := range o.list(key) {
		if s := (object{"v": v}).name("v"); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// extras keeps the members that have no field of their own.
func (o object) extras(l *library.Lineage, known map[string]bool) {
	for _, key := range o.keys() {
		if !known[key] && o[key] != nil {
			addExtra(l, key, o.raw(key))
		}
	}
}
