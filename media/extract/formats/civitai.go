package formats

import (
	"strings"

	"vitrine/library"
)

// readCivitai reads what Civitai's generator adds to the graph it ran: a member
// "extraMetadata", a JSON string of what the person asked for. The graph itself
// is read as a graph. The site's text form is read as infotext.
func readCivitai(src *Source) (Record, bool) {
	r, meta := civitaiEntry(src)
	if r == nil {
		return Record{}, false
	}
	l := library.Lineage{Tool: "civitai", Positive: meta.str("prompt"), Negative: meta.str("negativePrompt")}
	p := params(&l)
	p.Seed = meta.seed("seed")
	p.Steps = meta.int("steps")
	p.CFGScale = meta.float("cfgScale", "cfg")
	p.Sampler = meta.named("sampler")
	p.Scheduler = meta.named("scheduler")
	p.ClipSkip = meta.clipSkip("clipSkip")
	p.Denoise = meta.float("denoise")
	if !src.hasGraph() {
		p.Width, p.Height = meta.positive("width"), meta.positive("height")
	}
	for _, res := range meta.objects("resources") {
		id := res.name("modelVersionId", "air")
		addWeighted(&l, library.ModelUse{Type: "other", Name: firstOf(res.name("modelName", "name"), id), VersionID: id, Strength: res.float("strength")})
	}
	civitaiHires(&l, meta, r.asObject())
	meta.extras(&l, map[string]bool{"prompt": true, "negativePrompt": true, "seed": true, "steps": true, "cfgScale": true, "sampler": true,
		"resources": true, "clipSkip": true, "width": true, "height": true})
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

// civitaiEntry finds the graph that has the member, or the member on its own.
// The record stays unused: its graph is still to be read.
func civitaiEntry(src *Source) (*Entry, object) {
	for _, r := range src.Entries {
		if r.used || !strings.Contains(r.Text, "extraMetadata") {
			continue
		}
		if r.Key == "extraMetadata" {
			return r, r.asObject()
		}
		if meta := r.asObject().object("extraMetadata"); meta != nil {
			return r, meta
		}
	}
	return nil, nil
}

// civitaiHires reads the upscaling workflow, which runs on an earlier picture and
// so looks like an ordinary image-to-image graph.
func civitaiHires(l *library.Lineage, meta, graph object) {
	if !strings.Contains(meta.name("workflowId", "workflow"), "hires") {
		return
	}
	h := &library.Hires{}
	for _, id := range graph.keys() {
		node := graph.object(id)
		in := node.object("inputs")
		switch node.name("class_type") {
		case "UpscaleModelLoader":
			h.Upscaler = in.named("model_name")
		case "KSampler":
			h.Steps, h.Denoise = in.int("steps"), in.float("denoise")
		}
	}
	l.Hires = h
}
