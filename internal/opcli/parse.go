// Package opcli renders the operations as a command line: vitrine call TOOL
// --argument value.
//
// In come the catalog and the words of a command line; out come the arguments of
// a call, the help of a tool, completions for a shell, and a response as text. All
// of it is made from the definitions, so a new operation needs nothing here. The
// package calls nothing: package main sends what was parsed.
package opcli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/library"
	"vitrine/op"
)

// Call is a parsed command line.
type Call struct {
	Operation op.Operation
	Arguments map[string]any    // as JSON has them, numbers as json.Number
	Options   map[string]string // options of the command that stood behind the tool's name, by name
	Help      bool              // the tool's help is wanted
}

// Options are the options of the command that may also stand behind the tool's name,
// unless the tool has an argument of that name. The value says whether one takes a
// value.
var Options = map[string]bool{"json": true, "output": true, "idempotency-key": true, "server": true, "key": true, "tenant": true}

// Find returns the operation that a name means: SearchAssets, searchassets or
// search-assets. The error names the nearest one.
func Find(c op.Catalog, name string) (op.Operation, error) {
	wanted := squeeze(name)
	best, distance := "", 1+len(wanted)/2
	for _, o := range c.Operations {
		d := library.EditDistance(wanted, squeeze(o.Name))
		if d == 0 {
			return o, nil
		}
		if d < distance {
			best, distance = o.Name, d
		}
	}
	e := library.NewError(library.KindInvalid, library.CodeValidationFailed, "There is no tool %q. vitrine call --help lists them all.", clip(name))
	e.Fields = []library.FieldError{{Field: "TOOL", Code: "unknown", Message: "There is no such tool."}}
	if best != "" {
		e.Fields[0].Hint = "Did you mean " + best + "?"
	}
	return op.Operation{}, e
}

// squeeze drops what spellings of a name differ in.
func squeeze(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
}

// clip shortens what the user typed to what fits a sentence.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// parser reads the words behind a tool's name.
type parser struct {
	call  Call
	words []string
	stdin io.Reader
	given map[string][]string // argument → texts in the order in which they came
	order []string
	errs  []library.FieldError
}

// Parse reads the words behind a tool's name: --name value, --name=value, --flag,
// --no-flag. A value that begins with @ names a file, and - is the standard input.
// Every error is a *library.Error that names each word that is wrong.
func Parse(o op.Operation, words []string, stdin io.Reader) (Call, error) {
	p := &parser{call: Call{Operation: o, Arguments: map[string]any{}, Options: map[string]string{}}, words: words, stdin: stdin, given: map[string][]string{}}
	for len(p.words) > 0 && len(p.errs) < maxErrors {
		p.word()
	}
	for _, path := range p.order {
		p.put(path)
	}
	if len(p.errs) > 0 {
		return p.call, library.Invalid(p.errs...)
	}
	return p.call, nil
}

// maxErrors bounds what is said at once.
const maxErrors = 20

func (p *parser) fail(field, code, message, hint string) {
	p.errs = append(p.errs, library.FieldError{Field: clip(field), Code: code, Message: message, Hint: hint})
}

// word reads the next word, and its value when that is a word of its own.
func (p *parser) word() {
	word := p.words[0]
	p.words = p.words[1:]
	name, value, inline := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	switch {
	case word == "-h":
		p.call.Help = true
		return
	case !strings.HasPrefix(word, "--") || name == "":
		p.fail(word, "unknown", "Arguments are named: --name value.", firstHint(p.call.Operation))
		return
	}
	path, schema, negated := p.resolve(name)
	takes, isOption := Options[name]
	switch {
	case schema != nil && schema.Type == huma.TypeBoolean && !inline:
		value = p.flagValue(negated)
	case schema != nil && !inline || schema == nil && isOption && takes && !inline:
		if len(p.words) == 0 {
			p.fail(name, "required", "It needs a value.", "")
			return
		}
		value, p.words = p.words[0], p.words[1:]
	}
	switch {
	case schema != nil:
		if p.given[path] == nil {
			p.order = append(p.order, path)
		}
		p.given[path] = append(p.given[path], value)
	case isOption:
		p.call.Options[name] = value
	case name == "help":
		p.call.Help = true
	default:
		p.fail(name, "unknown", p.call.Operation.Name+" has no such argument.", nearest(p.call.Operation, name))
		if !inline && len(p.words) > 0 && !strings.HasPrefix(p.words[0], "--") {
			p.words = p.words[1:] // its value, most likely
		}
	}
}

// flagValue is the value of a boolean that was named without one. A word that can
// only be its value is taken for that.
func (p *parser) flagValue(negated bool) string {
	if negated {
		return "false"
	}
	if len(p.words) > 0 && (p.words[0] == "true" || p.words[0] == "false") {
		value := p.words[0]
		p.words = p.words[1:]
		return value
	}
	return "true"
}

// resolve finds the argument that a name means: search-mode, searchMode and
// search_mode are one, filters.status is a member, no-highlight negates a boolean.
func (p *parser) resolve(name string) (path string, s *huma.Schema, negated bool) {
	if path, s = lookup(p.call.Operation, name); s != nil {
		return path, s, false
	}
	if positive, cut := strings.CutPrefix(name, "no-"); cut {
		if path, s = lookup(p.call.Operation, positive); s != nil && s.Type == huma.TypeBoolean {
			return path, s, true
		}
	}
	return "", nil, false
}

// lookup returns an argument's path in the schema's spelling, and its schema.
func lookup(o op.Operation, name string) (string, *huma.Schema) {
	var path []string
	s := o.Input
	for i, part := range strings.Split(name, ".") {
		part = strings.ReplaceAll(part, "-", "_")
		if i == 0 {
			part = o.Field(part)
		}
		member := s.Properties[part]
		if member == nil {
			for known := range s.Properties {
				if squeeze(known) == squeeze(part) {
					part, member = known, s.Properties[known]
				}
			}
		}
		if member == nil && len(s.Properties) == 0 && i > 0 && s.Type == huma.TypeObject {
			member = freeMember(s)
		}
		if member == nil || part == "" {
			return "", nil
		}
		path, s = append(path, part), member
	}
	return strings.Join(path, "."), s
}

// freeMember returns the schema of any member of an object without declared ones.
func freeMember(s *huma.Schema) *huma.Schema {
	switch more := s.AdditionalProperties.(type) {
	case *huma.Schema:
		return more
	case bool:
		if more {
			return &huma.Schema{}
		}
	}
	return nil
}

// nearest proposes an argument for a name that none has.
func nearest(o op.Operation, name string) string {
	best, distance := "", 1+len(name)/2
	for _, f := range op.Fields(o.Input) {
		if d := library.EditDistance(squeeze(name), squeeze(f.Path)); d < distance && !strings.Contains(f.Path, "[]") {
			best, distance = f.Path, d
		}
	}
	for _, option := range append(slices.Sorted(maps.Keys(Options)), "help") {
		if d := library.EditDistance(name, option); d < distance {
			best, distance = option, d
		}
	}
	if best == "" {
		return firstHint(o)
	}
	return "Did you mean --" + best + "?"
}

func firstHint(o op.Operation) string {
	return "vitrine call " + o.Name + " --help lists its arguments."
}

// Complete adds the arguments of --json, unless text and that option are empty, and
// checks them all. The error names every argument that is wrong.
func (c *Call) Complete(text string) error {
	p := &parser{call: *c, stdin: os.Stdin}
	if behind, ok := c.Options["json"]; ok {
		text = behind
	}
	if text != "" {
		p.merge(text)
	}
	if len(p.errs) == 0 && !c.Help {
		encoded, err := c.Encode()
		if err != nil {
			return err
		}
		p.errs = c.Operation.CheckInput(encoded)
	}
	if len(p.errs) > 0 {
		return library.Invalid(p.errs...)
	}
	return nil
}

// merge adds the arguments of a JSON object.
func (p *parser) merge(text string) {
	raw, err := p.content(text)
	if err != nil {
		p.fail("json", "format", err.Error(), "")
		return
	}
	args, err := op.ParseArguments(raw)
	if err != nil {
		p.fail("json", "format", library.AsError(err).Detail, `Expected an object, such as '{"limit": 5}', @file or - for the standard input.`)
		return
	}
	for name, v := range args {
		if _, twice := p.call.Arguments[p.call.Operation.Field(name)]; twice {
			p.fail(name, "conflict", "It is given both by --json and by --"+name+".", "Give it once.")
			continue
		}
		p.call.Arguments[name] = v
	}
}

// content returns what a value stands for: the file behind @, the standard input
// for -, or itself.
func (p *parser) content(value string) ([]byte, error) {
	path, isFile := strings.CutPrefix(value, "@")
	switch {
	case value == "-":
		if p.stdin == nil {
			return nil, fmt.Errorf("the standard input was read already")
		}
		in := p.stdin
		p.stdin = nil
		return io.ReadAll(in)
	case isFile && strings.HasPrefix(path, "@"):
		return []byte(path), nil
	case isFile:
		return os.ReadFile(path)
	}
	return []byte(value), nil
}

// Encode returns the arguments as JSON.
func (c Call) Encode() ([]byte, error) { return json.Marshal(c.Arguments) }
