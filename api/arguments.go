package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"vitrine/library"
	"vitrine/op"
)

var placeholders = regexp.MustCompile(`\{([^}]+)\}`)

// arguments merges the body, the query and the path of a request into the one
// map that an operation takes. An argument may come in several of them, but only
// with the same value: a silent winner would be a guess.
func arguments(o op.Operation, w http.ResponseWriter, r *http.Request) (map[string]any, error) {
	args := map[string]any{}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		body, err := readBody(w, r)
		if err != nil {
			return nil, err
		}
		if args, err = op.ParseArguments(body); err != nil {
			return nil, err
		}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, library.NewError(library.KindInvalid, library.CodeValidationFailed, "The query string is not well-formed; check its percent encoding.")
	}
	var errs []library.FieldError
	for name, values := range parseDeepObjects(o, query, args) {
		name = o.Field(name)
		v, ok := parseQueryValues(o.Input.Properties[name], values)
		if !ok || !setArgument(o, args, name, v) {
			errs = append(errs, conflictError(name))
		}
	}
	for _, m := range placeholders.FindAllStringSubmatch(o.Path, -1) {
		value, err := url.PathUnescape(chi.URLParam(r, m[1]))
		if err != nil {
			value = chi.URLParam(r, m[1])
		}
		name := o.Field(m[1])
		v, _ := parseQueryValues(o.Input.Properties[name], []string{value})
		if !setArgument(o, args, name, v) {
			errs = append(errs, conflictError(name))
		}
	}
	if len(errs) > 0 {
		return nil, library.Invalid(errs...)
	}
	return args, nil
}

var member = regexp.MustCompile(`^(\w+)\[(\w+)\]$`)

// parseDeepObjects collects the members of object arguments, filters[status]=Draft, into
// args (the deepObject style of OpenAPI) and gives the rest of the query.
func parseDeepObjects(o op.Operation, query url.Values, args map[string]any) url.Values {
	rest := url.Values{}
	for name, values := range query {
		m := member.FindStringSubmatch(name)
		if m == nil {
			rest[name] = values
			continue
		}
		field := o.Field(m[1])
		s := o.Input.Properties[field]
		object, isObject := args[field].(map[string]any)
		if s == nil || s.Type != huma.TypeObject || args[field] != nil && !isObject {
			rest[name] = values // no such object: the schema refuses it by name
			continue
		}
		if object == nil {
			object = map[string]any{}
			args[field] = object
		}
		if v, ok := parseQueryValues(s.Properties[m[2]], values); ok && object[m[2]] == nil {
			object[m[2]] = v
		} else {
			rest[name] = values // twice: the caller refuses it by name
		}
	}
	return rest
}

func conflictError(name string) library.FieldError {
	return library.FieldError{Field: name[:min(len(name), 100)], Code: "conflict",
		Message: "The request has this argument more than once, with different values.", Hint: "Send it once: in the path, the query or the body."}
}

// setArgument adds an argument and reports false when another value is there already,
// in whichever spelling.
func setArgument(o op.Operation, args map[string]any, name string, v any) bool {
	for have, x := range args {
		if have == name || o.Field(have) == name {
			return reflect.DeepEqual(x, v)
		}
	}
	args[name] = v
	return true
}

// parseQueryValues reads query values in the type that the schema asks for. What does not
// have that type stays text, for the schema's own check to refuse. It reports
// false for several values of an argument that takes one.
func parseQueryValues(s *huma.Schema, values []string) (any, bool) {
	if s != nil && s.Type == huma.TypeArray {
		if list, ok := encodedList(values); ok {
			return list, true
		}
		if len(values) == 1 {
			values = splitList(values[0])
		}
		list := make([]any, len(values))
		for i, v := range values {
			list[i] = parseScalar(s.Items, v)
		}
		return list, true
	}
	for _, v := range values[1:] {
		if v != values[0] {
			return nil, false
		}
	}
	return parseScalar(s, values[0]), true
}

// encodedList reads a list that was sent as one JSON text, for values with commas.
func encodedList(values []string) ([]any, bool) {
	if len(values) != 1 || !strings.HasPrefix(values[0], "[") {
		return nil, false
	}
	m, err := op.ParseArguments([]byte(`{"list":` + values[0] + `}`))
	if err != nil {
		return nil, false
	}
	list, ok := m["list"].([]any)
	return list, ok
}

func splitList(v string) []string {
	if v == "" {
		return nil
	}
	return strings.Split(v, ",")
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func parseScalar(s *huma.Schema, v string) any {
	if s == nil {
		return v
	}
	switch s.Type {
	case huma.TypeInteger, huma.TypeNumber:
		if jsonNumber.MatchString(v) {
			return json.Number(v)
		}
	case huma.TypeBoolean:
		switch v {
		case "true":
			return true
		case "false":
			return false
		}
	case huma.TypeObject:
		if m, err := op.ParseArguments([]byte(v)); err == nil {
			return m
		}
	}
	return v
}
