package formats

import (
	"strings"

	"vitrine/library"
)

// readMFLUX reads the JSON record that MFLUX leaves in EXIF's user comment. Its
// guidance is the distilled guidance of the model, and its pictures are the paths
// of the files that a picture was made from.
func readMFLUX(src *Source) (Record, bool) {
	r := src.find("mflux_version", func(o object) bool { return o.has("mflux_version") })
	if r == nil {
		return Record{}, false
	}
	src.markUsed(r)
	o := r.asObject()
	l := library.Lineage{Tool: "mflux", ToolVersion: o.name("mflux_version")}
	l.Positive, l.Negative = o.str("prompt"), o.str("negative_prompt")
	p := params(&l)
	p.Seed, p.Steps, p.Guidance = o.seed("seed"), o.int("steps"), o.float("guidance")
	p.Width, p.Height = o.positive("width"), o.positive("height")
	p.Scheduler = o.named("scheduler")
	if o.name("image_path") != "" || len(o.list("image_paths")) > 0 {
		p.Denoise = nil // image_strength counts the other way round, from the picture
	}
	mfluxModel(&l, o)
	addMFLUXLoras(&l, o)
	addMFLUXParents(&l, o)
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

// mfluxModel names the weights of a run: where they were a path or a repository of
// somebody else, "model" is only the model of MFLUX's own list that they are a form of.
func mfluxModel(l *library.Lineage, o object) {
	m := library.ModelUse{Type: "checkpoint", Name: o.name("model")}
	if base := o.name("base_model"); !noModel(base) {
		m.BaseModel = base
	}
	if own := o.name("model_path"); own != "" {
		m.BaseModel, m.Name = firstOf(m.BaseModel, m.Name), own
		if strings.HasPrefix(own, "/") || strings.HasPrefix(own, "~") || strings.Contains(own, `\`) {
			m.Name = fileOf(own)
		}
	}
	if m.Name == "" {
		return
	}
	l.Parameters.ModelName = &m.Name
	addModel(l, m)
}

func addMFLUXLoras(l *library.Lineage, o object) {
	scales := o.list("lora_scales")
	for i, path := range o.texts("lora_paths") {
		m := library.ModelUse{Type: "lora", Name: fileOf(path)}
		if i < len(scales) {
			m.Strength = toFloat(scales[i])
		}
		addModel(l, m)
	}
}

// addMFLUXParents lists the pictures by what they were for.
func addMFLUXParents(l *library.Lineage, o object) {
	for _, of := range []struct{ member, kind string }{
		{"image_path", "init_image"}, {"image_paths", "input_image"}, {"redux_image_paths", "input_image"},
		{"masked_image_path", "mask"}, {"controlnet_image_path", "controlnet_image"}, {"depth_image_path", "controlnet_image"},
	} {
		paths := o.texts(of.member)
		if path, one := o[of.member].(string); one {
			paths = []string{path}
		}
		for _, path := range paths[:min(len(paths), 64)] {
			if name := fileOf(path); name != "" && !strings.EqualFold(name, "None") {
				l.Parents = append(l.Parents, library.Parent{Kind: of.kind, Name: name})
			}
		}
	}
}

// fileOf returns the file's name of a path in either form.
func fileOf(path string) string {
	path = strings.ReplaceAll(strings.TrimSpace(path), `\`, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}
