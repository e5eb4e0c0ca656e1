package query

import (
	"strings"

	"vitrine/library"
)

// The index holds canonical names of samplers, schedules, programs and families of models; a value is looked
// for by its canonical name in whatever way it is written.

// nameNode reads a whole name: by its canonical form where the field has one, else as names
// of the field are folded.
func nameNode(f *Field, t token) Node {
	name := oneLine(t.text)
	switch f.Index {
	case "tool":
		return equal(f, fold(library.CanonicalTool(name)), t)
	case "scheduler":
		return equal(f, fold(library.CanonicalScheduler(name)), t)
	case "base_models":
		return equal(f, fold(library.CanonicalBaseModel(name)), t)
	case "sampler":
		return samplerNode(f, name, t)
	}
	return equal(f, f.foldName(t.text), t)
}

// samplerNode reads the name of a sampler, with its schedule if it has one, or the beginning
// of names.
func samplerNode(f *Field, name string, t token) Node {
	sampler, schedule := library.CanonicalSampler(name)
	exact := equal(f, fold(sampler), t)
	switch {
	case schedule != "":
		return &And{Children: []Node{exact, equal(LookupField("scheduler"), schedule, t)}, at: t.at}
	case !strings.EqualFold(sampler, name) || t.kind == tokPhrase:
		return exact
	}
	if beginning := library.SamplerPrefix(name); beginning != "" && beginning != sampler && len(beginning) >= MinGlobText {
		return &Or{Children: []Node{exact, &Pred{Field: f, Op: Like, Pattern: []string{beginning, ""}, at: t.at}}, at: t.at}
	}
	return exact
}
