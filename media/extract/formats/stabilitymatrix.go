package formats

import (
	"strings"

	"vitrine/library"
)

// readStabilityMatrix reads Stability Matrix: "parameters-json" holds the values,
// "smproj" the project with the sampler's real name, "parameters" a text for
// other readers, in which sampler and scheduler are one display name.
func readStabilityMatrix(src *Source) (Record, bool) {
	r, project := src.Get("parameters-json"), src.Get("smproj")
	if r == nil && project == nil {
		return Record{}, false
	}
	var o, state object
	place := ""
	if project != nil {
		state, place = project.asObject().object("State"), project.Place
	}
	if r != nil {
		o, place = r.asObject(), r.Place
	}
	if o == nil && state == nil {
		return Record{}, false
	}
	src.markUsed(r, project, src.Get("parameters"))
	l := library.Lineage{Tool: "stability-matrix"}
	prompt := state.object("Prompt")
	l.Positive = firstText(o.str("PositivePrompt"), prompt.str("Prompt"))
	l.Negative = firstText(o.str("NegativePrompt"), prompt.str("NegativePrompt"))
	matrixSettings(&l, o, state, src)
	matrixModels(&l, o, state)
	if !src.hasGraph() {
		matrixHires(&l, state)
	}
	tidy(&l)
	return Record{Lineage: l, Place: place}, true
}

func firstText(values ...*string) *string {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

func matrixSettings(l *library.Lineage, o, state object, src *Source) {
	p, s, m := params(l), state.object("Sampler"), state.object("Model")
	p.Seed = o.seed("Seed")
	if p.Seed == nil {
		p.Seed = state.object("Seed").seed("Seed")
	}
	p.Steps = firstInt(o.int("Steps"), s.int("Steps"))
	p.CFGScale = firstFloat(o.float("CfgScale"), s.float("CfgScale"))
	p.Width = firstInt(o.positive("Width"), s.positive("Width"))
	p.Height = firstInt(o.positive("Height"), s.positive("Height"))
	p.ModelName = firstText(o.named("ModelName"), m.named("SelectedModelName"))
	p.Sampler = s.object("SelectedSampler").named("Name")
	p.Scheduler = s.object("SelectedScheduler").named("Name")
	if p.Sampler == nil && !src.hasGraph() {
		p.Sampler = o.named("Sampler")
		if p.Sampler != nil {
			p.Scheduler = schedulerOf(*p.Sampler)
		}
	}
	if m.bool("IsClipSkipEnabled") {
		p.ClipSkip = m.clipSkip("ClipSkip")
	}
	if s.bool("IsDenoiseStrengthEnabled") {
		p.Denoise = s.float("DenoiseStrength")
	}
	p.Frames = o.positive("FrameCount")
	if p.Frames != nil {
		p.FPS = o.float("Fps")
	}
}

// matrixHires reads the project's upscaling module, where it is switched on.
func matrixHires(l *library.Lineage, state object) {
	for _, module := range state.object("Modules").objects("$values") {
		if module.name("$type") != "HiresFixModule" || !module.bool("IsEnabled") {
			continue
		}
		h := &library.Hires{}
		for _, part := range module.objects("$values") {
			switch part.name("$type") {
			case "Upscaler":
				h.Scale, h.Upscaler = part.float("Scale"), part.object("SelectedUpscaler").named("Name")
			case "Sampler":
				h.Steps, h.Denoise = part.int("Steps"), part.float("DenoiseStrength")
			}
		}
		l.Hires = h
	}
}

func firstInt(values ...*int) *int {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

func matrixModels(l *library.Lineage, o, state object) {
	m := state.object("Model")
	addCheckpoint(l, firstOf(o.name("ModelName"), m.name("SelectedModelName")), o.name("ModelHash"))
	if onlyOfKind(l, "checkpoint") != nil {
		l.Models[0].VersionID = o.name("ModelVersionId")
	}
	if m.bool("IsVaeSelectionEnabled") {
		addModel(l, library.ModelUse{Type: "vae", Name: m.name("SelectedVaeName")})
	}
	if m.bool("IsRefinerSelectionEnabled") {
		addModel(l, library.ModelUse{Type: "checkpoint", Name: m.name("SelectedRefinerName")})
	}
	prompt := firstOf(o.name("PositivePrompt"), state.object("Prompt").name("Prompt"))
	for _, tag := range networkTag.FindAllStringSubmatch(strings.ReplaceAll(prompt, "\r", ""), maxSettings) {
		model, clip := matrixStrengths(tag[3])
		addWeighted(l, library.ModelUse{Type: "lora", Name: tag[2], Strength: model, ClipStrength: clip})
	}
}

// matrixStrengths reads ":model:clip", the opposite order of the web UI's.
func matrixStrengths(args string) (model, clip *float64) {
	if model, clip = tagStrengths(args); clip != nil {
		return clip, model
	}
	return model, nil
}
