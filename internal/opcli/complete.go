package opcli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/op"
)

// Candidate is one way to complete a word.
type Candidate struct {
	Word string
	Doc  string // a few words, for shells that show them
}

// Complete returns the ways to complete the last of the words behind vitrine call:
// tools, arguments of the tool, and values of an enumeration. A nil list leaves the
// word to the shell, which completes files.
func Complete(c op.Catalog, words []string) []Candidate {
	if len(words) == 0 {
		return nil
	}
	last := words[len(words)-1]
	if len(words) == 1 {
		return tools(c, last)
	}
	o, err := Find(c, words[0])
	if err != nil {
		return nil
	}
	if name, value, inline := strings.Cut(last, "="); inline && strings.HasPrefix(name, "--") {
		return values(o, strings.TrimPrefix(name, "--"), value, name+"=")
	}
	if before := words[len(words)-2]; len(words) > 2 && strings.HasPrefix(before, "--") && !strings.Contains(before, "=") && !strings.HasPrefix(last, "--") {
		return values(o, strings.TrimPrefix(before, "--"), last, "")
	}
	return arguments(o, last)
}

func tools(c op.Catalog, begun string) (list []Candidate) {
	for _, o := range c.Operations {
		if strings.HasPrefix(strings.ToLower(o.Name), strings.ToLower(begun)) {
			list = append(list, Candidate{o.Name, o.Title})
		}
	}
	return list
}

// arguments completes the name of an argument or option.
func arguments(o op.Operation, begun string) (list []Candidate) {
	for _, f := range op.Fields(o.Input) {
		if word := "--" + f.Path; strings.HasPrefix(word, begun) && !strings.Contains(f.Path, "[]") {
			list = append(list, Candidate{word, sentence(f.Schema.Description)})
		}
	}
	for _, option := range append(slices.Sorted(maps.Keys(Options)), "help") {
		if word := "--" + option; strings.HasPrefix(word, begun) && o.Input.Properties[option] == nil {
			list = append(list, Candidate{word, "option of vitrine call"})
		}
	}
	return list
}

// values completes the value of an argument that has a list of them.
func values(o op.Operation, name, begun, prefix string) (list []Candidate) {
	_, s := lookup(o, name)
	var known []string
	switch {
	case s == nil && name == "output":
		known = []string{"text", "json"}
	case s == nil:
		return nil
	case s.Type == huma.TypeBoolean:
		known = []string{"true", "false"}
	case s.Items != nil:
		known = enum(s.Items)
	default:
		known = enum(s)
	}
	for _, v := range known {
		if strings.HasPrefix(v, begun) {
			list = append(list, Candidate{prefix + v, ""})
		}
	}
	return list
}

func enum(s *huma.Schema) (list []string) {
	for _, v := range s.Enum {
		list = append(list, fmt.Sprint(v))
	}
	return list
}
