package formats

import (
	"fmt"
	"regexp"
	"strings"

	"vitrine/library"
)

// readNovelAI reads NovelAI's record: a JSON "Comment" with the settings, beside
// "Description" (the prompt), "Source" (the model) and "Software". In WebP and
// in the alpha bits the same fields are members of one object.
func readNovelAI(src *Source) (Record, bool) {
	named := strings.HasPrefix(src.text("Software"), "NovelAI")
	r := src.find(`"`, func(o object) bool { return isNovelAI(o, named) })
	if r == nil {
		return Record{}, false
	}
	src.markUsed(r, src.Get("Description"), src.Get("Title"), src.Get("Source"))
	o := r.asObject()
	l := library.Lineage{Tool: "novelai"}
	novelPrompts(&l, o, strings.Trim(src.text("Description"), "\x00"))
	novelSettings(&l, o)
	novelModel(&l, src.text("Source"), src.text("Software"))
	tidy(&l)
	return Record{Lineage: l, Place: r.Place}, true
}

// isNovelAI reports whether an object is the settings, by members no other writer has; where the
// file names NovelAI, the oldest form will do.
func isNovelAI(o object, named bool) bool {
	switch {
	case o.has("v4_prompt"), o.has("uncond_scale") && o.has("scale"), o.has("noise_schedule", "sampler"):
		return true
	}
	return o.has("uc", "sampler", "steps") && (named || o.has("scale") && !o.has("c"))
}

func novelPrompts(l *library.Lineage, o object, description string) {
	l.Positive, l.Negative = o.str("prompt"), o.str("uc")
	v4 := o.object("v4_prompt").object("caption")
	v4neg := o.object("v4_negative_prompt").object("caption")
	if l.Positive == nil {
		l.Positive = v4.str("base_caption")
	}
	if l.Positive == nil {
		l.Positive = nonEmpty(description)
	}
	if l.Negative == nil {
		l.Negative = v4neg.str("base_caption")
	}
	negatives := v4neg.objects("char_captions")
	placed := !o.object("v4_prompt").has("use_coords") || o.object("v4_prompt").bool("use_coords")
	for i, c := range v4.objects("char_captions") {
		region := library.PromptRegion{Kind: "character", Positive: c.str("char_caption")}
		if placed { // else the model chose, and the places are the form's defaults
			region.Name = characterPlace(c)
		}
		if i < len(negatives) {
			region.Negative = negatives[i].named("char_caption")
		}
		l.Regions = append(l.Regions, region)
	}
}

// characterPlace returns where a character stands, as fractions of the picture.
func characterPlace(c object) string {
	for _, center := range c.objects("centers") {
		if x, y := center.float("x"), center.float("y"); x != nil && y != nil {
			return fmt.Sprintf("at %g, %g", *x, *y)
		}
	}
	return ""
}

// novelExtras are the settings without a field of their own, among them the
// strengths of the pictures that a style or a character was taken from.
var novelExtras = []string{"request_type", "cfg_rescale", "uncond_scale", "sm", "sm_dyn", "dynamic_thresholding", "signed_hash",
	"reference_strength", "reference_strength_multiple", "reference_information_extracted", "reference_information_extracted_multiple",
	"director_reference_strengths", "director_reference_information_extracted", "director_reference_secondary_strengths",
	"director_reference_descriptions", "controlnet_model"}

func novelSettings(l *library.Lineage, o object) {
	p := params(l)
	p.Seed = o.seed("seed")
	p.Steps = o.int("steps")
	p.CFGScale = o.float("scale")
	p.Sampler = o.named("sampler")
	p.Scheduler = o.named("noise_schedule")
	p.Width, p.Height = o.positive("width"), o.positive("height")
	p.BatchSize = o.positive("n_samples")
	if request := o.name("request_type"); request != "" && !strings.HasPrefix(request, "PromptGenerate") {
		p.Denoise = o.float("strength")
		addExtra(l, "noise", o.raw("noise"))
	}
	for _, key := range novelExtras {
		if o.has(key) && o.raw(key) != "[]" {
			addExtra(l, key, o.raw(key))
		}
	}
}

var novelHash = regexp.MustCompile(`(?:^|\s)([0-9A-F]{8})$`)

// isNovelModel reports whether a name is of the service's models rather than what editors and
// agencies put into the same fields.
func isNovelModel(name string) bool {
	return strings.HasPrefix(name, "NovelAI ") || strings.HasPrefix(name, "Stable Diffusion")
}

// novelModel reads the model out of "Source"; in WebP it stands in "Software",
// whose EXIF tag the writer uses for it.
func novelModel(l *library.Lineage, source, software string) {
	name := strings.TrimSpace(source)
	if !isNovelModel(name) {
		name = strings.TrimSpace(software)
	}
	if !isNovelModel(name) {
		return
	}
	m := library.ModelUse{Type: "checkpoint", Name: name}
	if h := novelHash.FindStringSubmatch(name); h != nil {
		m.Hash = h[1]
	}
	addModel(l, m)
	params(l).ModelName = &name
}
