package mcp

import (
	"bytes"
	"crypto/rand"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// The marks that stand for a tool's answer in what mcp-go encodes, as text and as
// structured content. They are made anew at each start, so that nobody can send
// one and find an answer in its place.
var (
	textMark       = rand.Text()
	structuredMark = rand.Text()
)

// result returns one JSON object as structured content for programs, and as text for
// models and for clients that know no structured content: the lines that the output has
// for it, or else the same JSON.
func (r *responseWriter) result(encoded []byte, lines string) *mcp.CallToolResult {
	r.encoded, r.text = encoded, encoded
	if lines != "" {
		r.text = []byte(lines)
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{mcp.NewTextContent(textMark)},
		StructuredContent: json.RawMessage(`"` + structuredMark + `"`),
	}
}

// errorResult returns one JSON object as the text of an error.
func (r *responseWriter) errorResult(encoded []byte) *mcp.CallToolResult {
	r.encoded, r.text = encoded, encoded
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(textMark)}, IsError: true}
}

// fill puts the answer in the place of its marks. mcp-go writes a whole message at
// once.
func (r *responseWriter) fill(message []byte) []byte {
	if r.encoded == nil {
		return message
	}
	out := make([]byte, 0, len(message)+len(r.encoded)*9/4)
	text, structured := []byte(`"`+textMark+`"`), []byte(`"`+structuredMark+`"`)
	for len(message) > 0 {
		at := bytes.IndexByte(message, '"')
		if at < 0 {
			break
		}
		out, message = append(out, message[:at]...), message[at:]
		switch {
		case bytes.HasPrefix(message, text):
			out, message = appendString(out, r.text), message[len(text):]
		case bytes.HasPrefix(message, structured):
			out, message = append(out, r.encoded...), message[len(structured):]
		default:
			out, message = append(out, '"'), message[1:]
		}
	}
	return append(out, message...)
}

// appendString appends a text as a JSON string. JSON is valid UTF-8 without control
// characters, as the lines of an output are, so only these need an escape.
func appendString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for from := 0; ; {
		n := bytes.IndexAny(text[from:], "\"\\\n\r\t")
		if n < 0 {
			return append(append(dst, text[from:]...), '"')
		}
		dst = append(dst, text[from:from+n]...)
		c := text[from+n]
		switch c {
		case '\n':
			c = 'n'
		case '\r':
			c = 'r'
		case '\t':
			c = 't'
		}
		dst = append(dst, '\\', c)
		from += n + 1
	}
}
