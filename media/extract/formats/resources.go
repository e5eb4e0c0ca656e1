package formats

import (
	"strings"

	"vitrine/library"
)

// addCivitaiResources reads the site's list of what was used. It identifies
// versions where the settings name files.
func addCivitaiResources(l *library.Lineage, list string) {
	o := object{"list": list}
	for _, r := range o.objects("list") {
		kind := modelKind(r.name("type"))
		m := library.ModelUse{Type: kind, Name: r.name("modelName", "name"), VersionID: r.name("modelVersionId", "air"),
			Hash: r.name("hash"), Strength: r.float("weight")}
		if m.Name == "" {
			m.Name = m.VersionID
		}
		if have := onlyOfKind(l, kind); have != nil && kind == "checkpoint" {
			enrich(have, m)
			continue
		}
		addModel(l, m)
		if p := params(l); kind == "checkpoint" && p.ModelName == nil {
			p.ModelName = nonEmpty(r.name("modelName"))
		}
	}
}

// onlyOfKind returns the one model of a kind, nil when there are none or several.
func onlyOfKind(l *library.Lineage, kind string) *library.ModelUse {
	var one *library.ModelUse
	for i := range l.Models {
		if l.Models[i].Type != kind {
			continue
		}
		if one != nil {
			return nil
		}
		one = &l.Models[i]
	}
	return one
}

// modelKind folds the sites' words for model types into ours.
func modelKind(word string) string {
	switch strings.ToLower(strings.NewReplacer(" ", "", "_", "", "-", "").Replace(word)) {
	case "checkpoint", "model", "basemodel", "main", "checkpointmerge", "checkpointtrained":
		return "checkpoint"
	case "lora", "locon", "lycoris", "dora", "lyco":
		return "lora"
	case "embed", "embedding", "textualinversion", "ti":
		return "embedding"
	case "hypernet", "hypernetwork":
		return "hypernetwork"
	case "vae", "sdvae":
		return "vae"
	case "controlnet", "control":
		return "controlnet"
	case "upscaler":
		return "upscaler"
	}
	return "other"
}
