package op

import "vitrine/library"

// FormatInput is embedded by the inputs of reads whose answers can be long.
type FormatInput struct {
	ResponseFormat string `json:"response_format,omitempty" enum:"concise,detailed" default:"concise" doc:"The format. concise leaves out thumbnail URLs and what only a closer look needs; detailed has everything."`
}

// Detailed reports whether the caller wants everything.
func (f FormatInput) Detailed() bool { return f.ResponseFormat == "detailed" }

// Texter is implemented by outputs that read better as lines than as JSON. Text is what
// a model gets to read over MCP; "" stands for the JSON of the output.
type Texter interface{ Text() string }

// Text returns the lines that stand for an output over MCP, or "" for its JSON.
func Text(value any) string {
	if t, ok := value.(Texter); ok {
		return library.VisibleText(t.Text())
	}
	return ""
}
