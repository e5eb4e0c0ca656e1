package op

import (
	"context"

	"vitrine/library"
)

// Resource is one MCP resource or resource template, defined beside the verbs.
type Resource struct {
	URI        string // vitrine://storage/usage, or with {name} for a template: vitrine://assets/{asset_h}
	Name       string
	Title      string
	Doc        string
	MIMEType   string // application/json, text/markdown
	Permission library.Permission
	Example    string // a URI that is tried by tests; for a template, with {name} filled by them
	// Read returns the content: a value to be encoded as JSON, or a string to be
	// sent as it is. vars are a template's values.
	Read func(ctx context.Context, actor library.Actor, vars map[string]string) (any, error)
}

// Prompt is one MCP prompt: a numbered plan that names tools.
type Prompt struct {
	Name, Title, Doc string
	Arguments        []PromptArgument
	Render           func(args map[string]string) string
}

// PromptArgument is one argument of a prompt.
type PromptArgument struct {
	Name, Doc string
	Required  bool
}

// Catalog is everything the transports render.
type Catalog struct {
	Operations []Operation
	Resources  []Resource
	Prompts    []Prompt
	Events     []EventType
}

// Find returns the operation with this name.
func (c Catalog) Find(name string) (Operation, bool) {
	for _, o := range c.Operations {
		if o.Name == name {
			return o, true
		}
	}
	return Operation{}, false
}
