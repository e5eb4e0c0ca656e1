package op

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/library"
)

// maxDepth bounds the nesting of request JSON; no input of ours needs more.
const maxDepth = 64

// ParseArguments reads one JSON object with its numbers kept exact. An empty
// body is an empty object.
func ParseArguments(raw []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	if depth(raw) > maxDepth {
		return nil, malformed("The JSON is nested more than " + strconv.Itoa(maxDepth) + " levels deep.")
	}
	if !utf8.Valid(raw) {
		return nil, malformed("The body is not valid UTF-8.")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, malformed("The body is not valid JSON (" + position(d, err) + ").")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, malformed("The body holds more than one JSON value.")
	}
	if name, repeated := repeatedName(raw); repeated {
		return nil, library.Invalid(library.FieldError{Field: shorten(name), Code: "conflict", Message: "The name is there twice in one object.", Hint: "Send each name once."})
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, malformed("The body must be a JSON object.")
	}
	return m, nil
}

func malformed(detail string) error {
	return library.NewError(library.KindInvalid, library.CodeMalformedJSON, "%s", detail)
}

func position(d *json.Decoder, err error) string {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return "at byte " + strconv.FormatInt(s.Offset, 10)
	}
	return "it ends at byte " + strconv.FormatInt(d.InputOffset(), 10)
}

// depth returns the deepest nesting of a JSON text without building it.
func depth(raw []byte) int {
	deepest, now, inString, escaped := 0, 0, false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

// normalize brings arguments to the schema's own form, in place: camelCase and
// snake_case names to the schema's spelling, exact numbers to Go numbers, an
// explicit null for an optional argument to its absence, and defaults to where
// nothing was sent. A model or a form often sends null for "not given".
func normalize(s *huma.Schema, args map[string]any) {
	canonicalNames(s, args)
	for name, v := range args {
		p := s.Properties[name]
		if v == nil && p != nil && !isRequired(s, name) {
			delete(args, name)
			continue
		}
		args[name] = normalizeValue(p, v)
	}
	for name, p := range s.Properties {
		if _, sent := args[name]; !sent && p.Default != nil {
			args[name] = p.Default
		}
	}
}

// canonicalNames renames arguments that are spelled in another case than the schema's, or
// go by another of an asset's names. One that was sent in both spellings keeps the
// schema's; the other is then an unknown argument.
func canonicalNames(s *huma.Schema, args map[string]any) {
	var other []string
	for name := range args {
		if s.Properties[name] == nil {
			other = append(other, name)
		}
	}
	slices.Sort(other) // the same request always gives the same answer
	for _, name := range other {
		for p := range s.Properties {
			if (snakeCase(p) == snakeCase(name) || canonicalName(s, name) == p) && args[p] == nil {
				args[p] = args[name]
				delete(args, name)
				break
			}
		}
	}
}

func normalizeValue(s *huma.Schema, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if s == nil || s.Properties == nil {
			for k, x := range v {
				v[k] = normalizeValue(nil, x)
			}
			return v
		}
		normalize(s, v)
		return v
	case []any:
		var item *huma.Schema
		if s != nil {
			item = s.Items
		}
		for i, x := range v {
			v[i] = normalizeValue(item, x)
		}
		return v
	case json.Number:
		return number(v)
	case float64:
		if s != nil && s.Type == huma.TypeInteger && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
		return v
	case string:
		return canonicalValue(s, v)
	}
	return v
}

// canonicalValue returns the value of an enumeration that was meant by one that differs in
// case, blanks, hyphens or underscores: "pending approval" is PendingApproval.
func canonicalValue(s *huma.Schema, v string) any {
	if s == nil || len(s.Enum) == 0 || len(v) > maxFieldPath || slices.Contains(s.Enum, any(v)) {
		return v
	}
	for _, allowed := range s.Enum {
		if name, ok := allowed.(string); ok && foldValue(name) == foldValue(v) {
			return name
		}
	}
	return v
}

var valueFolder = strings.NewReplacer("_", "", "-", "", " ", "")

func foldValue(v string) string { return valueFolder.Replace(strings.ToLower(v)) }

// Field returns the name under which the operation knows an argument: camelCase is
// accepted for snake_case, the three names of an asset for each other, and content_type
// for mime_type. An unknown name stays as it is.
func (o Operation) Field(name string) string { return canonicalName(o.Input, name) }

// assetNames are what the interface calls an asset's hash; the three mean the same.
var assetNames = []string{"asset_h", "asset_id", "asset_hash"}

func canonicalName(s *huma.Schema, name string) string {
	snake := snakeCase(name)
	switch {
	case s.Properties[name] != nil:
		return name
	case s.Properties[snake] != nil:
		return snake
	case slices.Contains(assetNames, snake):
		for _, other := range assetNames {
			if s.Properties[other] != nil {
				return other
			}
		}
	case snake == "content_type" && s.Properties["mime_type"] != nil:
		return "mime_type"
	}
	return name
}

func isRequired(s *huma.Schema, name string) bool {
	for _, r := range s.Required {
		if r == name {
			return true
		}
	}
	return false
}

func snakeCase(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}
