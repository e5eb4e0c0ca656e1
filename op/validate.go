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
		f := fieldError(s, d)
		if f.Code == "unknown" { // the first one lists what is allowed, which would be long to repeat
			f.Hint = unknownHint(s, f.Field, !slices.ContainsFunc(errs, func(e library.FieldError) bool { return e.Code == "unknown" }))
		}
		errs = append(errs, f)
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
	case "required":
		// The validator locates the object that lacks it; the field is what people look for.
		if name := between(d.Message, "property ", " to be"); name != "" {
			f.Field = strings.TrimPrefix(f.Field+"."+name, ".")
			f.Message = "It is required."
		}
	case "enum":
		if p, written := property(s, f.Field), fmt.Sprint(d.Value); p != nil && len(written) <= maxFieldPath {
			f.Hint = didYouMean(written, enumNames(p))
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

// unknownHint names the argument that was probably meant, and with all the others that
// there are.
func unknownHint(s *huma.Schema, path string, all bool) string {
	parent, name := s, path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		parent, name = property(s, path[:i]), path[i+1:]
	}
	if parent == nil || len(parent.Properties) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(parent.Properties))
	var hint []string
	if best := didYouMean(name, names); best != "" {
		hint = append(hint, best)
	}
	if all {
		hint = append(hint, "Allowed are "+strings.Join(names, ", ")+".")
	}
	return strings.Join(hint, " ")
}

func didYouMean(written string, names []string) string {
	if best := Nearest(written, names); best != "" {
		return "Did you mean " + best + "?"
	}
	return ""
}

// enumNames returns the values of an enumeration as text.
func enumNames(s *huma.Schema) (names []string) {
	for _, v := range s.Enum {
		names = append(names, fmt.Sprint(v))
	}
	return names
}

// Nearest returns the name that was probably meant: the one that a written one differs
// from in the fewest letters, or else one that holds all its words. It is "" when none is near.
func Nearest(written string, names []string) string {
	best, bestDistance := "", min(4, 1+len(written)/2)
	for _, n := range names {
		if d := library.EditDistance(strings.ToLower(written), strings.ToLower(n)); d < bestDistance {
			best, bestDistance = n, d
		}
	}
	if best != "" || len(written) < 4 {
		return best
	}
	folded := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(written))
	for _, n := range names {
		other := strings.ReplaceAll(strings.ToLower(n), "_", "")
		if len(folded) >= 4 && (strings.Contains(other, folded) || strings.Contains(folded, other)) {
			return n
		}
	}
	return ""
}
