package api

import (
	"github.com/danielgtaylor/huma/v2"

	"vitrine/op"
)

// base64Pattern is what bytes look like, in either alphabet, padded or not.
const base64Pattern = `^([A-Za-z0-9+/_-]{4})*([A-Za-z0-9+/_-]{4}|[A-Za-z0-9+/_-]{3}=?|[A-Za-z0-9+/_-]{2}(==)?)$`

// strict returns a schema with what texts may hold, as patterns for the document: the
// operations check it themselves, with errors that name the character (op.TextPattern).
func strict(name string, s *huma.Schema) *huma.Schema {
	out := *s
	switch {
	case s.Type == huma.TypeString && s.Pattern == "" && s.Format == "" && len(s.Enum) == 0 && s.Extensions == nil:
		out.Pattern = op.TextPattern(name)
	case s.Extensions["contentEncoding"] == "base64" && s.MinLength != nil:
		out.Pattern = base64Pattern
	case s.Items != nil:
		out.Items = strict(name, s.Items)
	case s.Properties != nil:
		out.Properties = make(map[string]*huma.Schema, len(s.Properties))
		for member, p := range s.Properties {
			out.Properties[member] = strict(member, p)
		}
	}
	return &out
}

// rules adds what an operation requires across its arguments to the schema of its body.
func rules(o op.Operation, body *huma.Schema) {
	required := func(names []string) (list []*huma.Schema) {
		for _, name := range names {
			list = append(list, &huma.Schema{Required: []string{name}})
		}
		return list
	}
	body.AnyOf, body.OneOf = required(o.AnyOf), required(o.OneOf)
}
