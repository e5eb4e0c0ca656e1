package formats

import (
	"strings"

	"vitrine/library"
	"vitrine/media/extract/comfy"
)

// readComfyUI hands the graphs of a file to the graph reader: the executed one
// ("prompt") and the editor's ("workflow"), wherever in the file they stand.
func readComfyUI(src *Source) (Record, bool) {
	prompt, workflow := src.graphs()
	in := comfy.Input{FileWidth: src.File.Width, FileHeight: src.File.Height, Filename: src.Filename, MIME: src.File.MIME}
	place := ""
	if workflow != nil {
		in.Workflow, place = []byte(workflow.Text), workflow.Place
	}
	if prompt != nil {
		in.Prompt, place = []byte(prompt.Text), prompt.Place
	}
	if place == "" {
		return Record{}, false
	}
	l, ok := comfy.Read(in)
	if !ok {
		return Record{}, false
	}
	src.markUsed(prompt, workflow)
	placeEvidence(l.Evidence, prompt, workflow)
	tidy(&l)
	nameURNs(l.Models)
	nameAddresses(l.Parents)
	return Record{Lineage: l, Place: place, Graph: true}, true
}

// placeEvidence turns the graph reader's "prompt" and "workflow" into the places
// of the chunks in which the two stood.
func placeEvidence(list []library.Evidence, prompt, workflow *Entry) {
	for i := range list {
		switch e := &list[i]; {
		case e.Place == "workflow" && workflow != nil:
			e.Place = workflow.Place
		case e.Place == "prompt" && prompt != nil:
			e.Place = prompt.Place
		}
	}
}

// graphs finds the first executed graph and the editor's graph that goes with
// it: the file's own, or both from the same sidecar.
func (s *Source) graphs() (prompt, workflow *Entry) {
	for _, r := range s.Entries {
		switch {
		case r.used || !looksLikeObject(r.Text):
		case strings.Contains(r.Text, `"class_type"`) && !strings.EqualFold(r.Key, "workflow"):
			if prompt == nil {
				prompt = r
			}
		case r.graph:
			if workflow == nil {
				workflow = r
			}
		}
	}
	if prompt != nil && workflow != nil && isSidecar(prompt) != isSidecar(workflow) {
		if isSidecar(prompt) {
			return nil, workflow
		}
		return prompt, nil
	}
	return prompt, workflow
}

func isSidecar(r *Entry) bool { return strings.HasPrefix(r.Place, "sidecar") }

// nameURNs marks models that are named by a model site's identifier.
func nameURNs(models []library.ModelUse) {
	for i := range models {
		if m := &models[i]; strings.HasPrefix(m.Name, "urn:air:") {
			fill(&m.VersionID, m.Name)
		}
	}
}

// nameAddresses keeps the file's name of a parent that was fetched from the web:
// the rest of such an address is a signature that expires.
func nameAddresses(parents []library.Parent) {
	for i := range parents {
		if p := &parents[i]; strings.ContainsAny(p.Name, "?#") {
			p.Name = p.Name[:strings.IndexAny(p.Name, "?#")]
			p.Name = p.Name[strings.LastIndexByte(p.Name, '/')+1:]
		}
	}
}
