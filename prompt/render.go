package prompt

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"vitrine/library"
)

// Limits of a render.
const (
	MaxValue  = 5_000 // characters of one value
	MaxRender = 100_000
)

var (
	integer = regexp.MustCompile(`^[+-]?[0-9]{1,40}$`)
	number  = regexp.MustCompile(`^[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?$`)
)

// refuse returns why a value is none of the variable, or "".
func (v Variable) refuse(value string) string {
	switch v.Type {
	case TypeInteger:
		if !integer.MatchString(value) {
			return "Expected an integer."
		}
	case TypeNumber:
		if !number.MatchString(value) {
			return "Expected a number."
		}
	case TypeEnum:
		if !slices.Contains(v.Options, value) {
			return "Expected one of " + strings.Join(v.Options, ", ") + "."
		}
	}
	return ""
}

// Render puts values in the places of the variables: texts, numbers or booleans. It returns
// the text and the value of every variable, defaults included. All that is wrong with the
// values is reported at once, each under variables.NAME: what is missing, what no
// variable is called, and what is of another type.
func (t *Template) Render(values map[string]any) (text string, used map[string]string, errs []library.FieldError) {
	used = make(map[string]string, len(t.vars))
	known := make(map[string]bool, len(t.vars))
	for _, v := range t.vars {
		known[v.Name] = true
		value, problem := v.value(values[v.Name])
		if problem != nil {
			errs = append(errs, *problem)
		}
		used[v.Name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !known[name] {
			errs = append(errs, t.unknown(name))
		}
	}
	if len(errs) > 0 {
		return "", nil, errs
	}
	text = t.fill(func(v Variable) string { return used[v.Name] })
	if n := utf8.RuneCountInString(text); n > MaxRender {
		return "", nil, []library.FieldError{{Field: "variables", Code: "length", Message: fmt.Sprintf("The text would have %d characters; it may have %d.", n, MaxRender)}}
	}
	return text, used, nil
}

// fill returns the text with something in the place of each variable.
func (t *Template) fill(value func(Variable) string) string {
	var b strings.Builder
	for _, p := range t.parts {
		if p.variable < 0 {
			b.WriteString(p.text)
		} else {
			b.WriteString(value(t.vars[p.variable]))
		}
	}
	return b.String()
}

// value returns what a sent value, nil for none, puts in the variable's place.
func (v Variable) value(sent any) (string, *library.FieldError) {
	field := "variables." + v.Name
	text, ok := textOf(sent)
	switch {
	case sent == nil && v.Default != nil:
		return *v.Default, nil
	case sent == nil:
		return "", &library.FieldError{Field: field, Code: "required", Message: "The variable has no default, so a value is required.", Hint: v.hint()}
	case !ok:
		return "", &library.FieldError{Field: field, Code: "type", Message: "Expected a text, a number or a boolean."}
	case strings.TrimSpace(text) == "" && v.optional():
		return "", nil
	case strings.TrimSpace(text) == "":
		return "", &library.FieldError{Field: field, Code: "required", Message: "The value is empty.",
			Hint: fmt.Sprintf("Only a variable with an empty default, {{%s|}}, may be empty.", v.Name)}
	case utf8.RuneCountInString(text) > MaxValue:
		return "", &library.FieldError{Field: field, Code: "length", Message: fmt.Sprintf("A value has at most %d characters.", MaxValue)}
	}
	if reason := v.refuse(text); reason != "" {
		return "", &library.FieldError{Field: field, Code: mismatchCode(v.Type), Message: reason}
	}
	return text, nil
}

// mismatchCode returns the code of the error about a value that is not of a type.
func mismatchCode(t Type) string {
	if t == TypeEnum {
		return "enum"
	}
	return "type"
}

func (v Variable) hint() string {
	if v.Type == TypeEnum {
		return "One of " + strings.Join(v.Options, ", ") + "."
	}
	return ""
}

// unknown is the error about a value for a variable that there is not.
func (t *Template) unknown(name string) library.FieldError {
	e := library.FieldError{Field: "variables." + cut(name, 64), Code: "unknown", Message: "The prompt has no variable of this name."}
	if len(t.vars) == 0 {
		e.Hint = "The prompt has no variables."
		return e
	}
	names := make([]string, len(t.vars))
	for i, v := range t.vars {
		names[i] = v.Name
	}
	e.Hint = "Its variables are " + cut(strings.Join(names, ", "), 500) + "."
	return e
}

// cut shortens a text to a number of characters.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

// textOf returns a JSON value as text.
func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case int:
		return strconv.Itoa(v), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// Defaults returns the text with every variable at its default; false where one has none.
func (t *Template) Defaults() (string, bool) {
	for _, v := range t.vars {
		if v.Default == nil {
			return "", false
		}
	}
	return t.fill(func(v Variable) string { return *v.Default }), true
}
