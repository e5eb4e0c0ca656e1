package opcli

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/library"
	"vitrine/op"
)

// put converts the texts of one argument and puts it into the call.
func (p *parser) put(path string) {
	_, schema := lookup(p.call.Operation, path)
	value, ok := p.convert(path, schema, p.given[path])
	if !ok {
		return
	}
	into := p.call.Arguments
	parts := strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		member, isObject := into[part].(map[string]any)
		if !isObject {
			if into[part] != nil {
				p.fail(path, "conflict", "--"+part+" gives the whole object already.", "Give it once.")
				return
			}
			member = map[string]any{}
			into[part] = member
		}
		into = member
	}
	last := parts[len(parts)-1]
	if into[last] != nil {
		p.fail(path, "conflict", "Members of it are given already.", "Give it once.")
		return
	}
	into[last] = value
}

// convert reads texts as the type of an argument.
func (p *parser) convert(path string, s *huma.Schema, texts []string) (any, bool) {
	if s.Type == huma.TypeArray {
		return p.list(path, s, texts)
	}
	if len(texts) > 1 {
		p.fail(path, "conflict", "It takes one value, and was given "+strconv.Itoa(len(texts))+".", "")
		return nil, false
	}
	return p.scalar(path, s, texts[0])
}

// list reads the values of a list: the argument repeated, one value with commas, one
// JSON list, or the lines of a file.
func (p *parser) list(path string, s *huma.Schema, texts []string) (any, bool) {
	out := []any{}
	for _, text := range texts {
		raw, err := p.content(text)
		if err != nil {
			p.fail(path, "format", err.Error(), "")
			return nil, false
		}
		content := strings.TrimSpace(string(raw))
		fromFile := content != strings.TrimSpace(text)
		items := []string{content}
		switch {
		case strings.HasPrefix(content, "["):
			list, ok := decoded(content).([]any)
			if !ok {
				p.fail(path, "type", "Expected a JSON list.", "")
				return nil, false
			}
			out = append(out, list...)
			continue
		case fromFile:
			items = lines(content)
		case len(texts) == 1 && (s.Items == nil || s.Items.Type != huma.TypeObject):
			items = strings.Split(content, ",")
		}
		for _, item := range items {
			if item == "" {
				continue
			}
			v, ok := p.plain(path, s.Items, item)
			if !ok {
				return nil, false
			}
			out = append(out, v)
		}
	}
	return out, true
}

func lines(content string) (list []string) {
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// scalar reads one value, out of a file where it says so.
func (p *parser) scalar(path string, s *huma.Schema, text string) (any, bool) {
	raw, err := p.content(text)
	if err != nil {
		p.fail(path, "format", err.Error(), "A value that begins with @ names a file; @@ stands for one @.")
		return nil, false
	}
	fromFile := text == "-" || strings.HasPrefix(text, "@") && !strings.HasPrefix(text, "@@")
	switch {
	case fromFile && isBase64(path, s):
		return base64.StdEncoding.EncodeToString(raw), true
	case fromFile:
		return p.plain(path, s, strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r"))
	}
	return p.plain(path, s, string(raw))
}

// isBase64 reports whether an argument holds bytes.
func isBase64(path string, s *huma.Schema) bool {
	return s.ContentEncoding == "base64" || s.Type == huma.TypeString && strings.HasSuffix(path, "_base64")
}

// plain reads a text as a value of a type. Where any type will do, a text that is
// JSON is that, and any other itself.
func (p *parser) plain(path string, s *huma.Schema, text string) (any, bool) {
	if s == nil {
		s = &huma.Schema{}
	}
	wanted := ""
	switch s.Type {
	case huma.TypeString:
		return text, true
	case huma.TypeInteger, huma.TypeNumber:
		if n, ok := decoded(text).(json.Number); ok {
			return n, true
		}
		wanted = "Expected a number"
	case huma.TypeBoolean:
		if text == "true" || text == "false" {
			return text == "true", true
		}
		wanted = "Expected true or false"
	case huma.TypeObject:
		if m, err := op.ParseArguments([]byte(text)); err == nil && strings.TrimSpace(text) != "" {
			return m, true
		}
		wanted = `Expected a JSON object, such as '{"name": "value"}', or members by name: --` + path + ".name value"
	default:
		if v := decoded(text); v != nil || text == "null" {
			return v, true
		}
		return text, true
	}
	p.errs = append(p.errs, library.FieldError{Field: path, Code: "type", Message: wanted + "."})
	return nil, false
}

// decoded returns the value of a JSON text with its numbers exact, or nil.
func decoded(text string) any {
	m, err := op.ParseArguments([]byte(`{"v":` + text + `}`))
	if err != nil || len(m) != 1 {
		return nil
	}
	return m["v"]
}
