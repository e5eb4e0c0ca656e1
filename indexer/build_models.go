package indexer

import (
	"strings"

	"vitrine/library"
	"vitrine/mappings"
	"vitrine/store/indexstate"
)

// buildModels fills in the models: once all together, and once more by type and
// by graph, because a flat document cannot tell which name goes with which type.
func buildModels(d *mappings.Document, models []indexstate.DocumentModel, graph bool) {
	var names, hashes, types, bases, words, pairs, checkpoints, loras, gtNames, gtTypes, gtHashes set
	for i := range models {
		m := &models[i]
		stem := modelStem(m.Name)
		names.add(stem)
		names.add(otherName(m.DisplayName, stem))
		types.add(m.Type)
		bases.add(library.CanonicalBaseModel(m.BaseModel))
		for _, w := range m.TriggerWords {
			words.add(w)
		}
		for _, h := range modelHashes(m) {
			hashes.add(h)
		}
		switch m.Type {
		case "checkpoint", "unet", "diffusion_model":
			checkpoints.add(stem)
		case "lora", "lycoris", "locon":
			loras.add(stem)
		}
		if w := finite(m.Weight); w != nil {
			d.ModelWeights = append(d.ModelWeights, *w)
			pairs.add(mappings.WeightPair(m.Name, *w))
		}
		if graph && m.NodeID != "" {
			gtNames.add(stem)
			gtTypes.add(m.Type)
			for _, h := range modelHashes(m) {
				gtHashes.add(h)
			}
		}
	}
	d.ModelNames, d.ModelHashes, d.ModelTypes, d.BaseModels = names.list, hashes.list, types.list, bases.list
	d.TriggerWords, d.ModelWeightPairs = words.list, pairs.list
	d.CheckpointNames, d.LoraNames = checkpoints.list, loras.list
	d.GTModels, d.GTModelTypes, d.GTModelHashes = gtNames.list, gtTypes.list, gtHashes.list
	d.HasModels = len(models) > 0
}

// modelStem is a model's name without folder and weight-file extension, in the
// case the file gives it: the same model then counts once in a facet whatever
// folder each machine keeps it in.
func modelStem(name string) string {
	name = strings.TrimSpace(name[strings.LastIndexAny(name, `/\`)+1:])
	fold := library.FoldModelName(name)
	if len(fold) < len(name) && strings.EqualFold(name[:len(fold)], fold) {
		return name[:len(fold)]
	}
	return name
}

// otherName is the name people gave a model, where it says more than the file's.
func otherName(display, stem string) string {
	if library.FoldModelName(display) == library.FoldModelName(stem) {
		return ""
	}
	return display
}

// modelHashes returns every hash a model goes by: ours, those the file and the
// library know, each also without its scheme prefix.
func modelHashes(m *indexstate.DocumentModel) []string {
	out := []string{string(m.Hash)}
	for _, h := range append([]string{m.ContentHash}, m.ContentHashes...) {
		if h == "" {
			continue
		}
		out = append(out, h)
		if scheme, bare, ok := strings.Cut(h, ":"); ok && scheme != "urn" {
			out = append(out, bare)
		}
	}
	return out
}
