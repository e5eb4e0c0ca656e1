package op

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// toolSchema is a schema as models read it. Every client pays for the list of tools in
// each conversation, so it leaves out what a model does not need to write a call: limits
// of lengths and numbers, patterns, formats and defaults, which the server checks, explains when they
// are broken and fills in, and all of a description but its first sentence. OpenAPI and the reference
// publish the full schema.
type toolSchema struct {
	Type        string                 `json:"type,omitempty"`
	Description string                 `json:"description,omitempty"`
	Enum        []any                  `json:"enum,omitempty"`
	Maximum     *float64               `json:"maximum,omitempty"`
	Items       *toolSchema            `json:"items,omitempty"`
	Properties  map[string]*toolSchema `json:"properties,omitempty"`
	Required    []string               `json:"required,omitempty"`
}

// ToolInput returns the input schema of the operation's tool as JSON Schema. The tool
// accepts everything that the full schema does, tenant_id among it.
func (o Operation) ToolInput() json.RawMessage {
	s := inputForModels(o.Input)
	delete(s.Properties, "tenant_id")
	for name, how := range o.listed {
		switch p := s.Properties[name]; how {
		case "open":
			p.Properties, p.Enum = nil, nil
		case "plain":
			p.Description = ""
		default:
			delete(s.Properties, name)
		}
	}
	return encodeSchema(s)
}

// ToolOutput returns the output schema of the operation's tool: the members of its
// result with their types, without what they hold in turn. It is nil for a tool whose
// result is read rather than passed on; see Meta.Chained.
func (o Operation) ToolOutput() json.RawMessage {
	if !o.Chained {
		return nil
	}
	s := &toolSchema{Type: huma.TypeObject, Properties: map[string]*toolSchema{}}
	for name, p := range o.Output.Properties {
		if p.Type == "" || p.Nullable { // some clients take no choice of types
			continue
		}
		m := &toolSchema{Type: p.Type}
		if p.Items != nil {
			m.Items = &toolSchema{Type: p.Items.Type}
		}
		s.Properties[name] = m
	}
	return encodeSchema(s)
}

// pageSizes are the arguments whose upper bound a model runs into when it is not told.
var pageSizes = map[string]bool{"limit": true, "size": true}

func inputForModels(full *huma.Schema) *toolSchema {
	s := &toolSchema{Type: full.Type, Description: brief(full.Description), Enum: full.Enum, Required: full.Required}
	if full.Items != nil {
		s.Items = inputForModels(full.Items)
	}
	if len(full.Properties) > 0 {
		s.Properties = map[string]*toolSchema{}
	}
	for name, p := range full.Properties {
		m := inputForModels(p)
		if pageSizes[name] {
			m.Maximum = p.Maximum
		}
		s.Properties[name] = m
	}
	return s
}

// brief returns the first sentence of a description, without its full stop.
func brief(description string) string {
	first, _, _ := strings.Cut(description, ". ")
	first = strings.TrimSuffix(first, ".")
	if len(strings.Fields(first)) <= 3 && strings.HasPrefix(first, "The ") {
		return "" // "The page size": the name says it
	}
	return first
}

// listedFields returns how a tool lists the arguments that have a tag for it: tool:"-" for
// one that is accepted and not listed, since programs use it and models do not,
// tool:"open" for one whose members or values its description or another tool lists, and
// tool:"plain" for one whose name says what its description does.
func listedFields(t reflect.Type) map[string]string {
	tags := map[string]string{}
	for _, f := range reflect.VisibleFields(t) {
		if how := f.Tag.Get("tool"); how != "" {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			tags[name] = how
		}
	}
	return tags
}

// encodeSchema encodes what is made once, at start; one that cannot be is a defect of the program.
func encodeSchema(s *toolSchema) json.RawMessage {
	b, err := EncodeOutput(s)
	if err != nil {
		panic("op: the schema of a tool cannot be encoded: " + err.Error())
	}
	return b
}
