package op

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"vitrine/library"
)

// CheckInput returns every argument of an encoded input that is wrong, as a call
// would, without calling. Rules across fields are not among the checks.
func (o Operation) CheckInput(encoded []byte) []library.FieldError {
	args, err := ParseArguments(encoded)
	if err != nil {
		return []library.FieldError{{Code: "type", Message: library.AsError(err).Detail}}
	}
	normalize(o.Input, args)
	return validate(o.Input, args)
}

// validate checks arguments against the operation's schema and reports every
// invalid field at once, never with the value that was sent.
func validate(s *huma.Schema, args map[string]any) []library.FieldError {
	return check(s, args, huma.ModeWriteToServer)
}

func check(s *huma.Schema, args map[string]any, mode huma.ValidateMode) []library.FieldError {
	var res huma.ValidateResult
	huma.Validate(nil, s, huma.NewPathBuffer(nil, 0), mode, args, &res)
	details := make([]*huma.ErrorDetail, 0, len(res.Errors))
	for _, err := range res.Errors {
		var d *huma.ErrorDetail
		if errors.As(err, &d) {
			details = append(details, d)
		}
	}
	// The validator walks maps; the same request must get the same answer each time.
	slices.SortStableFunc(details, func(a, b *huma.ErrorDetail) int { return strings.Compare(a.Location, b.Location) })
	errs := make([]library.FieldError, 0, min(len(details), maxFieldErrors))
	for _, d := range details[:min(len(details), maxFieldErrors)] {
		errs = append(errs, fieldError(s, d))
	}
	return errs
}

const (
	// maxFieldErrors bounds a reply: a request with 100,000 unknown fields must not
	// come back as one with 100,000 sentences.
	maxFieldErrors = 20
	// maxFieldPath bounds the one part of an error that the caller chose.
	maxFieldPath = 120
)

// shorten cuts what the caller chose to a length that fits a sentence.
func shorten(path string) string {
	if len(path) <= maxFieldPath {
		return path
	}
	return strings.ToValidUTF8(path[:maxFieldPath], "") + "…"
}

// messages maps the validator's sentences to stable codes, by what they begin with.
var messages = []struct{ prefix, code string }{
	{head(validation.MsgUnexpectedProperty), "unknown"},
	{head(validation.MsgExpectedRequiredProperty), "required"},
	{head(validation.MsgExpectedOneOf), "enum"},
	{head(validation.MsgExpectedMinimumNumber), "range"},
	{head(validation.MsgExpectedExclusiveMinimumNumber), "range"},
	{head(validation.MsgExpectedMaximumNumber), "range"},
	{head(validation.MsgExpectedExclusiveMaximumNumber), "range"},
	{head(validation.MsgExpectedMinLength), "length"},
	{head(validation.MsgExpectedMaxLength), "length"},
	{head(validation.MsgExpectedMinItems), "length"},
	{head(validation.MsgExpectedMaxItems), "length"},
	{head(validation.MsgExpectedMatchPattern), "pattern"},
	{head(validation.MsgExpectedRFC4122UUID), "format"},
	{head(validation.MsgExpectedRFC3339DateTime), "format"},
	{head(validation.MsgExpectedRFC3339Date), "format"},
	{head(validation.MsgExpectedRFC3986URI), "format"},
	{head(validation.MsgExpectedBase64String), "format"},
	{head(validation.MsgExpectedBoolean), "type"},
	{head(validation.MsgExpectedInteger), "type"},
	{head(validation.MsgExpectedNumber), "type"},
	{head(validation.MsgExpectedString), "type"},
	{head(validation.MsgExpectedArray), "type"},
	{head(validation.MsgExpectedObject), "type"},
}

func head(msg string) string {
	if i := strings.IndexByte(msg, '%'); i >= 0 {
		return msg[:i]
	}
	return msg
}

func fieldError(s *huma.Schema, d *huma.ErrorDetail) library.FieldError {
	f := library.FieldError{Field: shorten(d.Location), Code: "invalid", Message: sentence(d.Message)}
	for _, m := range messages {
		if strings.HasPrefix(d.Message, m.prefix) {
			f.Code = m.code
			break
		}
	}
	switch f.Code {
	case "unknown":
		f.Message = "There is no such argument."
		f.Hint = nearestHint(s, f.Field)
	case "required":
		// The validator locates the object that lacks it; the field is what people look for.
		if name := between(d.Message, "property ", " to be"); name != "" {
			f.Field = strings.TrimPrefix(f.Field+"."+name, ".")
			f.Message = "It is required."
		}
	case "pattern":
		if p := property(s, f.Field); p != nil && p.PatternDescription != "" {
			f.Message = "Expected " + p.PatternDescription + "."
		}
	case "format":
		if strings.HasPrefix(d.Message, head(validation.MsgExpectedRFC4122UUID)) {
			f.Message = "Expected a UUID, for example 123e4567-e89b-42d3-a456-426614174000."
		}
	}
	return f
}

func sentence(msg string) string {
	if msg == "" {
		return msg
	}
	return strings.ToUpper(msg[:1]) + msg[1:] + "."
}

func between(s, a, b string) string {
	i := strings.Index(s, a)
	if i < 0 {
		return ""
	}
	s = s[i+len(a):]
	if j := strings.Index(s, b); j >= 0 {
		return s[:j]
	}
	return ""
}

// property finds the schema a path such as filters.tags[0] speaks of.
func property(s *huma.Schema, path string) *huma.Schema {
	for _, part := range strings.Split(path, ".") {
		name, _, indexed := strings.Cut(part, "[")
		if s == nil || s.Properties == nil {
			return nil
		}
		if s = s.Properties[name]; indexed && s != nil {
			s = s.Items
		}
	}
	return s
}

// nearestHint names the argument that was probably meant.
func nearestHint(s *huma.Schema, path string) string {
	parent, name := s, path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		parent, name = property(s, path[:i]), path[i+1:]
	}
	if parent == nil {
		return ""
	}
	best, bestDistance := "", 4
	for p := range parent.Properties {
		if d := library.EditDistance(strings.ToLower(name), p); d < bestDistance || d == bestDistance && p < best {
			best, bestDistance = p, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("Did you mean %s?", best)
}

// nulErrors finds strings that no database text can hold. The sent value is
// valid JSON, so without this check it would fail late and as our defect.
func nulErrors(path string, v any) (errs []library.FieldError) {
	switch v := v.(type) {
	case string:
		if strings.IndexByte(v, 0) >= 0 {
			errs = append(errs, library.FieldError{Field: shorten(path), Code: "format", Message: "The character U+0000 is not allowed."})
		}
	case []any:
		for i, x := range v {
			switch x.(type) { // a vector has thousands of numbers, none of which needs a path
			case string, []any, map[string]any:
				if len(errs) < maxFieldErrors {
					errs = append(errs, nulErrors(fmt.Sprintf("%s[%d]", path, i), x)...)
				}
			}
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if strings.IndexByte(k, 0) >= 0 {
				errs = append(errs, library.FieldError{Field: shorten(path), Code: "format", Message: "The character U+0000 is not allowed in a name."})
			} else if len(errs) < maxFieldErrors {
				errs = append(errs, nulErrors(strings.TrimPrefix(path+"."+k, "."), v[k])...)
			}
		}
	}
	return errs[:min(len(errs), maxFieldErrors)]
}
