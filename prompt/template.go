// Package prompt is the language of prompt templates: texts with {{variables}}. It parses
// and renders them, and recognizes texts that were rendered from one.
//
//	a {{mood|calm}} portrait of {{subject}}, {{light:enum(soft, hard)}} light
//
// A variable is written {{name}}, with a type {{name:integer}}, with a default
// {{name|default}}, or with both. Three braces are not a variable, because some tools
// stress words by braces; \{{ stands for two braces. The package does no I/O.
package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"vitrine/library"
)

// Limits of a template.
const (
	MaxText      = 20_000 // characters
	MaxVariables = 100
)

// Type is what values a variable takes.
type Type string

// The types of variables.
const (
	TypeText    Type = "text"
	TypeInteger Type = "integer"
	TypeNumber  Type = "number"
	TypeEnum    Type = "enum" // one of the variable's options
)

// Variable is a variable of a template.
type Variable struct {
	Name    string
	Type    Type
	Options []string // of TypeEnum, in their order
	Default *string  // nil: a value is required; empty: it may be left out altogether
}

// optional reports whether the variable may stand for nothing.
func (v Variable) optional() bool { return v.Default != nil && *v.Default == "" }

// part is a piece of a template: text, or a variable's place.
type part struct {
	text     string
	variable int // its place among the variables; -1 for text
}

// Template is a parsed template.
type Template struct {
	text  string
	parts []part
	vars  []Variable
	// Warnings are braces that look like a variable and are kept as text, for people.
	Warnings []string
}

// Text returns the text that the template was parsed from.
func (t *Template) Text() string { return t.text }

// Variables returns the variables in the order of their first places.
func (t *Template) Variables() []Variable { return slices.Clone(t.vars) }

// Clean returns a text as prompts keep it: without spaces around it, and with \n for every
// end of a line.
func Clean(text string) string {
	return strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
}

// declaration is what stands between the braces of a variable: its name, its type with
// options, and its default.
var declaration = regexp.MustCompile(`^[ \t]*([\p{L}_][\p{L}\p{M}\p{N}_.-]{0,63})[ \t]*(?:(:)[ \t]*([^|()]*?)[ \t]*(?:\(([^()]*)\)[ \t]*)?)?(?:(\|)(.*))?$`)

// Parse parses a template. Its errors are about the field prompt_text.
func Parse(text string) (*Template, []library.FieldError) {
	t := &Template{text: text}
	if n := utf8.RuneCountInString(text); n > MaxText {
		return nil, []library.FieldError{textError("length", fmt.Sprintf("A prompt has at most %d characters; this one has %d.", MaxText, n), "")}
	}
	var errs []library.FieldError
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			t.parts = append(t.parts, part{text: plain.String(), variable: -1})
			plain.Reset()
		}
	}
	for rest := text; rest != ""; {
		literal, inner, after := nextBraces(rest)
		plain.WriteString(literal)
		rest = after
		if inner == nil {
			continue
		}
		m := declaration.FindStringSubmatch(*inner)
		if m == nil {
			plain.WriteString("{{" + *inner + "}}")
			t.warn(*inner)
			continue
		}
		v, problem := declare(m)
		if problem != nil {
			errs = append(errs, *problem)
			continue
		}
		place, problem := t.merge(v)
		if problem != nil {
			errs = append(errs, *problem)
			continue
		}
		flush()
		t.parts = append(t.parts, part{variable: place})
	}
	flush()
	for i := range t.vars {
		if t.vars[i].Type == "" {
			t.vars[i].Type = TypeText
		}
	}
	if len(t.vars) > MaxVariables {
		errs = append(errs, textError("range", fmt.Sprintf("A prompt has at most %d variables; this one has %d.", MaxVariables, len(t.vars)), ""))
	}
	return t, errs
}

// nextBraces splits a text at its first pair of braces: the text before it, what stands in
// it, and the text behind. inner is nil where literal ends without a pair.
func nextBraces(s string) (literal string, inner *string, rest string) {
	at := strings.Index(s, "{{")
	if at < 0 {
		return s, nil, ""
	}
	if at > 0 && s[at-1] == '\\' { // an escape
		end := at + 2
		return s[:at-1] + "{{", nil, s[end:]
	}
	run := at
	for run < len(s) && s[run] == '{' {
		run++
	}
	body, after, closed := strings.Cut(s[run:], "}}")
	if run-at != 2 || !closed || strings.ContainsAny(body, "{\n") || strings.HasPrefix(after, "}") {
		return s[:run], nil, s[run:]
	}
	return s[:at], &body, after
}

// warn tells of braces that are not a variable though they hold a few words.
func (t *Template) warn(inner string) {
	if words := len(strings.Fields(inner)); words == 0 || words > 4 || len(t.Warnings) == 10 {
		return
	}
	t.Warnings = append(t.Warnings, fmt.Sprintf("{{%s}} is kept as text: the name of a variable begins with a letter and has letters, digits, _, . and - only, at most 64.", inner))
}

// declare makes a variable of what stands between the braces.
func declare(m []string) (Variable, *library.FieldError) {
	v := Variable{Name: m[1]}
	if m[2] != "" {
		v.Type = Type(strings.ToLower(m[3]))
		if problem := v.setOptions(m[4]); problem != nil {
			return v, problem
		}
	}
	if m[5] != "" {
		value := strings.TrimSpace(m[6])
		v.Default = &value
	}
	return v, nil
}

func (v *Variable) setOptions(list string) *library.FieldError {
	hint := "Types are text, integer, number and enum(a, b, c), for example {{light:enum(soft, hard)|soft}}."
	switch v.Type {
	case TypeText, TypeInteger, TypeNumber:
		if list != "" {
			e := textError("format", fmt.Sprintf("The variable %s has options, which only the type enum has.", v.Name), hint)
			return &e
		}
		return nil
	case TypeEnum:
	default:
		e := textError("format", fmt.Sprintf("The variable %s has no known type.", v.Name), hint)
		return &e
	}
	for o := range strings.SplitSeq(list, ",") {
		if o = strings.TrimSpace(o); o != "" && !slices.Contains(v.Options, o) {
			v.Options = append(v.Options, o)
		}
	}
	if len(v.Options) == 0 {
		e := textError("format", fmt.Sprintf("The enum %s has no options.", v.Name), hint)
		return &e
	}
	return nil
}

// merge adds a variable, or what a further place says of one that is there, and returns
// its place.
func (t *Template) merge(v Variable) (int, *library.FieldError) {
	i := slices.IndexFunc(t.vars, func(have Variable) bool { return have.Name == v.Name })
	if i < 0 {
		t.vars, i = append(t.vars, Variable{Name: v.Name}), len(t.vars)
	}
	have := &t.vars[i]
	switch {
	case v.Type == "":
	case have.Type == "":
		have.Type, have.Options = v.Type, v.Options
	case have.Type != v.Type || !slices.Equal(have.Options, v.Options):
		e := textError("conflict", fmt.Sprintf("The variable %s has two different types.", v.Name), "State the type once; it holds for every place.")
		return i, &e
	}
	switch {
	case v.Default == nil:
	case have.Default == nil:
		have.Default = v.Default
	case *have.Default != *v.Default:
		e := textError("conflict", fmt.Sprintf("The variable %s has two different defaults.", v.Name), "State the default once; it holds for every place.")
		return i, &e
	}
	if have.Default != nil && *have.Default != "" {
		if reason := have.refuse(*have.Default); reason != "" {
			e := textError("conflict", fmt.Sprintf("The default of the variable %s is none of its values. %s", v.Name, reason), "")
			return i, &e
		}
	}
	return i, nil
}

func textError(code, message, hint string) library.FieldError {
	return library.FieldError{Field: "prompt_text", Code: code, Message: message, Hint: hint}
}
