package pipeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"vitrine/library"
	"vitrine/op"
)

// varPattern is a variable in a text.
var varPattern = regexp.MustCompile(`\{\{\s*vars\.([A-Za-z_][A-Za-z0-9_]*)\s*\}\}`)

// The limits of variables.
const (
	maxVars    = 50
	maxVarText = 4000 // bytes of a text
)

// UsedVars returns the names of the variables that stages use, in order.
func UsedVars(stages []library.PipelineStage) []string {
	used := map[string]bool{}
	for _, s := range stages {
		visitTexts(map[string]any{"config": s.Config, "name": s.Name}, func(text string) {
			for _, m := range varPattern.FindAllStringSubmatch(text, -1) {
				used[m[1]] = true
			}
		})
	}
	return slices.Sorted(maps.Keys(used))
}

func visitTexts(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case map[string]any:
		for _, x := range v {
			visitTexts(x, f)
		}
	case []any:
		for _, x := range v {
			visitTexts(x, f)
		}
	}
}

// CheckVars reports what is wrong with the declarations of variables, and variables that are
// used and not declared.
func CheckVars(at string, vars map[string]library.PipelineVar, stages []library.PipelineStage) (errs []library.FieldError) {
	if len(vars) > maxVars {
		return []library.FieldError{{Field: at, Code: "length", Message: fmt.Sprintf("Expected at most %d variables.", maxVars)}}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		v, field := vars[name], at+"."+name
		switch {
		case !varPattern.MatchString("{{vars." + name + "}}"):
			errs = append(errs, library.FieldError{Field: at, Code: "format", Message: "Names of variables are made of letters, digits and underscores."})
		case !slices.Contains([]string{"", "string", "number", "boolean", "list"}, v.Type):
			errs = append(errs, library.FieldError{Field: field + ".type", Code: "enum", Message: "Allowed are string, number, boolean and list."})
		case v.Default != nil && !fits(v.Default, v.Type):
			errs = append(errs, library.FieldError{Field: field + ".default", Code: "type", Message: "The default is no " + v.Type + "."})
		}
	}
	var names []string
	for name := range vars {
		names = append(names, name)
	}
	for _, name := range UsedVars(stages) {
		if _, ok := vars[name]; !ok {
			hint := `Declare it: "vars": {"` + name + `": {"type": "string", "default": "..."}}.`
			if near := op.Nearest(name, names); near != "" {
				hint = "Did you mean " + near + "? " + hint
			}
			errs = append(errs, library.FieldError{Field: at + "." + name, Code: "required", Message: "A stage uses this variable, and it is not declared.", Hint: hint})
		}
	}
	return errs
}

// fits reports whether a value is of the type of a variable.
func fits(v any, t string) bool {
	switch t {
	case "string":
		s, ok := v.(string)
		return ok && len(s) <= maxVarText
	case "number":
		switch v.(type) {
		case float64, json.Number, int, int64, uint64:
			return true
		}
		return false
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "list":
		_, ok := v.([]any)
		return ok
	}
	s, isText := v.(string)
	_, isObject := v.(map[string]any)
	return !isObject && (!isText || len(s) <= maxVarText)
}

// samples stand for variables without a default where a pipeline is checked before it has
// values.
var samples = map[string]any{"string": "x", "": "x", "number": json.Number("1"), "boolean": true, "list": []any{"x"}}

// Fill returns stages with the values of their variables: those that are given, else the
// defaults. What is missing or of another type is an error. Without values at all, for the
// check of a pipeline that is saved, samples stand for those without a default.
func Fill(at string, stages []library.PipelineStage, declared map[string]library.PipelineVar, given map[string]any, sampled bool) ([]library.PipelineStage, error) {
	values, errs := map[string]any{}, []library.FieldError(nil)
	for name, v := range declared {
		if v.Default != nil {
			values[name] = v.Default
		} else if sampled {
			values[name] = samples[v.Type]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		v, ok := declared[name]
		if !ok && declared != nil {
			hint := "This pipeline has no variables."
			if len(declared) > 0 {
				hint = "It has " + strings.Join(slices.Sorted(maps.Keys(declared)), ", ") + "."
			}
			errs = append(errs, library.FieldError{Field: at, Code: "unknown", Message: "A variable was sent that the pipeline does not declare.", Hint: hint})
			continue
		}
		if !fits(given[name], v.Type) {
			errs = append(errs, library.FieldError{Field: at + "." + name, Code: "type", Message: fmt.Sprintf("Expected a %s of at most %d bytes.", v.Type, maxVarText)})
		}
		values[name] = given[name]
	}
	for _, name := range UsedVars(stages) {
		if _, ok := values[name]; !ok {
			errs = append(errs, library.FieldError{Field: at + "." + name, Code: "required", Message: "This variable has no value and no default."})
		}
	}
	if len(errs) > 0 {
		return nil, library.Invalid(errs...)
	}
	out := slices.Clone(stages)
	for i := range out {
		out[i].Config, _ = fillValue(out[i].Config, values).(map[string]any)
		out[i].Name = varPattern.ReplaceAllStringFunc(out[i].Name, func(m string) string { return varText(m, values) })
	}
	return out, nil
}

// fillValue replaces variables in texts. A text that is nothing but a variable becomes its
// value, of whatever type that is; in a list, the elements of a variable that is a list.
func fillValue(v any, values map[string]any) any {
	switch v := v.(type) {
	case string:
		if m := varPattern.FindStringSubmatch(v); m != nil && m[0] == strings.TrimSpace(v) {
			return values[m[1]]
		}
		return varPattern.ReplaceAllStringFunc(v, func(m string) string { return varText(m, values) })
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = fillValue(x, values)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, x := range v {
			filled := fillValue(x, values)
			if list, ok := filled.([]any); ok && isText(x) {
				out = append(out, list...) // of a variable among other elements
			} else {
				out = append(out, filled)
			}
		}
		return out
	}
	return v
}

func isText(v any) bool { _, ok := v.(string); return ok }

func varText(m string, values map[string]any) string {
	v := values[varPattern.FindStringSubmatch(m)[1]]
	if s, ok := v.(string); ok {
		return s
	}
	if list, ok := v.([]any); ok {
		parts := make([]string, len(list))
		for i, x := range list {
			parts[i] = fmt.Sprint(x)
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}
