package opcli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/op"
)

// List returns every tool with its sentence, by domain.
func List(c op.Catalog) string {
	var b strings.Builder
	width := 0
	for _, o := range c.Operations {
		width = max(width, len(o.Name))
	}
	for _, d := range op.Domains {
		first := true
		for _, o := range c.Operations {
			if o.Domain != d {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n%s\n", strings.ToUpper(string(d[:1]))+string(d[1:]))
				first = false
			}
			fmt.Fprintf(&b, "  %-*s  %s\n", width, o.Name, clipTo(sentence(o.Doc), lineWidth-width-4))
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// sentence returns the first sentence of a text.
func sentence(doc string) string {
	if i := strings.Index(doc, ". "); i >= 0 {
		return doc[:i+1]
	}
	return doc
}

func clipTo(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:width-1]) + "…"
}

// lineWidth is how wide help is written.
const lineWidth = 100

// Help returns the help of a tool: what it does, its arguments with types, values and
// defaults, and an example.
func Help(o op.Operation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "vitrine call %s [--argument value …]\n\n%s\n", o.Name, wrap("", o.FullDoc()))
	fmt.Fprintf(&b, "\nPermission: %s. REST: %s %s.\n\nArguments:\n", o.Permission, o.Method, o.Path)
	for _, f := range op.Fields(o.Input) {
		if strings.Contains(f.Path, "[]") { // members of list items are described with their list
			continue
		}
		argumentHelp(&b, f)
	}
	b.WriteString(`
Values: a list is the argument repeated, values with commas, or JSON; an object is JSON, or its members
by name (--filters.status Draft). @file is the content of a file, in base64 where bytes are wanted;
- is the standard input; @@ stands for one @. --json gives all arguments, or what is left, as one object.

Options: --json OBJECT, --output text|json, --idempotency-key KEY, --server URL, --key KEY, --tenant ID.
`)
	if o.Example != nil {
		fmt.Fprintf(&b, "\nExample:\n  %s\n", strings.Join(Example(o), " "))
	}
	return b.String()
}

func argumentHelp(b *strings.Builder, f op.Field) {
	fmt.Fprintf(b, "  --%s  %s", f.Path, f.Type())
	if f.Required {
		b.WriteString(" (required)")
	}
	if d := f.Default(); d != "" {
		fmt.Fprintf(b, " (default %s)", d)
	}
	b.WriteString("\n")
	doc := f.Schema.Description
	if items := f.Schema.Items; items != nil && len(items.Properties) > 0 {
		doc += " Members of each: " + strings.Join(slices.Sorted(maps.Keys(items.Properties)), ", ") + "."
	}
	if doc != "" {
		b.WriteString(wrap("        ", strings.TrimSpace(doc)) + "\n")
	}
}

// wrap breaks a text into lines behind an indent.
func wrap(indent, text string) string {
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
			b.WriteString(indent)
			used = len(indent)
		case used+1+n > lineWidth:
			b.WriteString("\n" + indent)
			used = len(indent)
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// Example returns the operation's example as the words of a command line.
func Example(o op.Operation) []string {
	words := []string{"vitrine", "call", o.Name}
	var args map[string]any
	raw, err := json.Marshal(o.Example)
	if err == nil {
		args, err = op.ParseArguments(raw)
	}
	if err != nil {
		panic("opcli: the example of " + o.Name + " is no object: " + err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		words = append(words, exampleWords(name, o.Input.Properties[name], args[name])...)
	}
	return words
}

// exampleWords renders one argument as people type it.
func exampleWords(name string, s *huma.Schema, v any) (words []string) {
	switch v := v.(type) {
	case bool:
		if v {
			return []string{"--" + name}
		}
		return []string{"--no-" + name}
	case map[string]any:
		if !plainMembers(v) {
			return []string{"--" + name, quote(literal(v))}
		}
		for _, member := range slices.Sorted(maps.Keys(v)) {
			words = append(words, exampleWords(name+"."+member, nil, v[member])...)
		}
		return words
	case []any:
		for _, item := range v {
			words = append(words, "--"+name, quote(literal(item)))
		}
		return words
	}
	return []string{"--" + name, quote(literal(v))}
}

// plainMembers reports whether every member of an object is a text or a number, which can be
// typed as an argument of its own: --vars.subject fox.
func plainMembers(v map[string]any) bool {
	for _, member := range v {
		switch member.(type) {
		case string, json.Number:
		default:
			return false
		}
	}
	return true
}

// literal returns a value as a text that Parse reads as that value.
func literal(v any) string {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "@") {
			return "@" + v
		}
		return v
	case json.Number:
		return v.String()
	}
	raw, err := op.EncodeOutput(v)
	if err != nil {
		panic("opcli: a decoded value cannot be encoded: " + err.Error())
	}
	return string(raw)
}

// quote writes a word as a shell reads it.
func quote(word string) string {
	plain := word != ""
	for _, r := range word {
		plain = plain && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,@%+=", r))
	}
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
